// SPDX-License-Identifier: MIT
// What a function of the host is called with: the arrays of a call, contiguous.
#pragma once

#include <calque/graph/ops/user.hpp>
#include <calque/kernels/cpu/movement.hpp>
#include <calque/runtime/iteration.hpp>
#include <calque/runtime/move.hpp>

#include <memory>

namespace calque {
inline namespace v0 {
namespace runtime {

/// Collects `Count` arrays, and copies those that are not contiguous.
template <int Count>
class host_arrays {
public:
    void add(moved_value const& x, std::size_t element_bytes) {
        extents_[count_] = x.extents;
        arrays_[count_] = {&extents_[count_], x.data};
        if (!is_contiguous(x.extents, x.steps)) {
            copies_[count_].reset(new std::byte[static_cast<std::size_t>(x.extents.size()) * element_bytes]);
            arrays_[count_].data = copies_[count_].get();
            kernels::copy_strided(x.extents, {arrays_[count_].data, contiguous_strides(x.extents)}, {x.data, x.steps},
                                  element_bytes);
        }
        ++count_;
    }

    void call(graph::user_operation const& operation) const { operation.call(arrays_); }

private:
    int count_ = 0;
    shape extents_[Count];
    graph::untyped_array arrays_[Count];
    std::unique_ptr<std::byte[]> copies_[Count];
};

} // namespace runtime
} // namespace v0
} // namespace calque
