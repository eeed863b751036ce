// SPDX-License-Identifier: MIT
// Quotients of the columns of several rows by what each row has once, by way of its reciprocal.
#pragma once

#include <calque/kernels/cpu/row_program.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// `Groups` groups of what rows have once: a lane each, or a group each.
template <class Group, int Groups>
class row_reciprocals {
    using registers = step_registers<Group, Groups>;

public:
    /// Whether a step divides by what a row has once, and its quotients may go by the reciprocal.
    static constexpr bool divides(int i) {
        return simd::has_quotients_by_steps<float> && divides_by_uniform(Group::steps(), i);
    }

    /// Computes those of a phase, unless they are not wanted or some divisor does not suit.
    template <int Phase>
    CALQUE_INLINE void compute([[maybe_unused]] registers& row, [[maybe_unused]] bool are_wanted) {
        if constexpr (divisions<Phase>.size > 0) {
            suit_ = are_wanted;
            for_each_division<Phase>([&](auto step) CALQUE_INLINE_LAMBDA {
                using V = simd::pack<step_element<Group, step>, Groups>;
                V reciprocal(0);
                if (suit_) {
                    V const divisor = column_input<step_v<Group, step>.inputs[1]>(row, row);
                    reciprocal = V(1) / divisor;
                    suit_ = simd::all_divide_by_steps(divisor);
                }
                of_steps_.template at<step>() = reciprocal;
            });
        }
    }

    /// Those of a phase that are `widen(lanes)` for each register of lanes of `others`.
    template <int Phase, int G, class Widen>
    CALQUE_INLINE void spread([[maybe_unused]] row_reciprocals<Group, G>& others, [[maybe_unused]] Widen&& widen) {
        if constexpr (divisions<Phase>.size > 0) {
            suit_ = others.suit_;
            for_each_division<Phase>([&](auto step) CALQUE_INLINE_LAMBDA {
                of_steps_.template at<step>() = widen(others.of_steps_.template at<step>());
            });
        }
    }

    /// The quotient of a step like step `Model`, which `divides`.
    template <int Model, int U>
    CALQUE_INLINE auto quotient(step_registers<Group, U>& column, registers& row, int step) {
        if (!suit_) {
            return apply_step<Model, lanes_are::rows>(column, row, step);
        }
        constexpr graph::step s = step_v<Group, Model>;
        int const x = Group::steps()[step].inputs[0], divisor = Group::steps()[step].inputs[1];
        return simd::quotients_by_steps(column_input<s.inputs[0]>(column, row, x),
                                        column_input<s.inputs[1]>(row, row, divisor),
                                        of_steps_.template at<Model>(step));
    }

private:
    template <class, int>
    friend class row_reciprocals;

    template <int Phase>
    static constexpr auto divisions =
        list_steps<Group::step_count>([](int i) { return row_program<Group>::works(i, Phase) && divides(i); });

    template <int Phase, class F>
    static CALQUE_INLINE void for_each_division(F&& f) {
        unroll_steps<0, divisions<Phase>.size>(
            [&](auto k) CALQUE_INLINE_LAMBDA { f(std::integral_constant<int, divisions<Phase>.at[k]>{}); });
    }

    registers of_steps_;
    bool suit_ = false;
};

} // namespace kernels
} // namespace v0
} // namespace calque
