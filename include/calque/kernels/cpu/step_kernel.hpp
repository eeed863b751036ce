// SPDX-License-Identifier: MIT
// The kernel of a loop's step that is elementwise work on a few numbers: all that it reads and makes is in registers.
#pragma once

#include <calque/kernels/cpu/registers_of_steps.hpp>
#include <calque/kernels/cpu/unroll_steps.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// `Group`: as for `row_program`, a group of elementwise work on scalars and on arrays of up to `Groups` groups of
/// elements, all of one shape. Leaves are set, then `run` computes all that follows from them.
template <class Group, int Groups>
class step_kernel {
    /// An array, or one number in all lanes.
    template <int Step>
    using pack_of_step = simd::pack<step_element<Group, Step>, step_v<Group, Step>.varies_along_columns ? Groups : 1>;

public:
    /// The step that has the result `r`.
    static constexpr int step_of_result(int r) {
        int step = 0;
        while (Group::steps()[step].result != r) {
            ++step;
        }
        return step;
    }

    /// The value of a step.
    template <int Step>
    CALQUE_INLINE pack_of_step<Step>& at() {
        if constexpr (step_v<Group, Step>.varies_along_columns) {
            return arrays_.template at<Step>();
        } else {
            return numbers_.template at<Step>();
        }
    }

    CALQUE_INLINE void run() {
        unroll_steps<0, Group::step_count>([&](auto i) CALQUE_INLINE_LAMBDA {
            constexpr graph::step s = step_v<Group, i>;
            if constexpr (s.leaf < 0 && !is_number<Group, i>) {
                if constexpr (s.varies_along_columns) {
                    at<i>() = apply_step<i>(arrays_, numbers_);
                } else {
                    at<i>() = apply_uniform_step<i>(numbers_);
                }
            }
        });
    }

private:
    step_registers<Group, Groups> arrays_;
    step_registers<Group, 1> numbers_;
};

} // namespace kernels
} // namespace v0
} // namespace calque
