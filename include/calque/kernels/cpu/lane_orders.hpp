// SPDX-License-Identifier: MIT
// An order of lanes that elements in turn are both put together and taken apart by.
#pragma once

#include <calque/core/config.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {
namespace detail {

/// In the place of every `Step`th lane, from `First` on, the same lane of another register.
template <int Step, int First, int Lanes>
struct every_of_another {
    static constexpr int lane(int to) { return to % Step == First ? Lanes + to : to; }
};

} // namespace detail
} // namespace kernels
} // namespace v0
} // namespace calque
