// SPDX-License-Identifier: MIT
// Outputs with gaps between their rows, parts of larger arrays: kernels over rows write them where they lie, by a plan
// that is made for how they do.
#pragma once

#include <calque/runtime/aliasing.hpp>
#include <calque/runtime/program.hpp>

#include <algorithm>

namespace calque {
inline namespace v0 {
namespace runtime {

/// Whether kernels of the program `P` may write some output with gaps. Not if a check of the function may throw, as
/// nothing has been written then, and not where outputs lie by columns, or are views in regions.
template <class P>
constexpr bool may_write_gaps() {
    using code = typename P::code;
    if constexpr (code::has_regions() || P::has_requirements || code::view().by_columns != 0) {
        return false;
    } else {
        bool may = false;
        for (int o = 0; o < code::output_count; ++o) {
            may |= graph::is_written_by_rows(code::schedule.view(), o);
        }
        return may;
    }
}

/// The plan of the last call of a thread whose outputs had gaps. It depends on the arguments' key and how the outputs
/// lie alone, so that it is as good for any other call of these.
template <class P>
class plan_for_gaps {
    static constexpr int output_count = P::output_count;

public:
    using execution = typename P::execution_of_gaps;

    /// `wanted`: how each output lies. Null if some cannot be written so.
    static typename execution::plan const* find(typename P::key const& key, strides const* wanted) {
        thread_local plan_for_gaps last;
        if (!last.is_made_ || !(last.key_ == key) || !last.suits(wanted)) {
            last.make(key, wanted);
        }
        return last.is_as_wanted_ ? &last.plan_ : nullptr;
    }

private:
    bool suits(strides const* wanted) const {
        bool do_suit = true;
        for (int o = 0; o < output_count; ++o) {
            do_suit &= are_equal_strides(plan_.outputs[o].extents, wanted_[o], wanted[o]);
        }
        return do_suit;
    }

    void make(typename P::key const& key, strides const* wanted) {
        is_made_ = false; // in case of exceptions
        plan_ = {};
        P::make_for_gaps(plan_, key.words, wanted);
        key_ = key;
        std::copy(wanted, wanted + output_count, wanted_);
        is_as_wanted_ = true;
        for (int o = 0; o < output_count; ++o) {
            value_plan const& v = plan_.outputs[o];
            is_as_wanted_ &= are_equal_strides(v.extents, v.steps, wanted[o]);
        }
        is_made_ = true;
    }

    bool is_made_ = false;
    bool is_as_wanted_ = false;
    typename P::key key_;
    strides wanted_[output_count];
    typename execution::plan plan_;
};

} // namespace runtime
} // namespace v0
} // namespace calque
