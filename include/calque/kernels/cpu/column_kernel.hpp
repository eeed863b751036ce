// SPDX-License-Identifier: MIT
// The kernel of a group that reduces over rows, by one reduction or several.
#pragma once

#include <calque/kernels/cpu/fused_column_totals.hpp>
#include <calque/kernels/cpu/fused_columns.hpp>

namespace calque {
inline namespace v0 {
namespace kernels {

/// The steps of `Group` that reduction `R` needs, and that last.
template <class Group, int R>
class one_reduction : public Group {
    struct needed_steps {
        graph::step of[R + 1]{};
        int count = 0;

        constexpr needed_steps() {
            bool is_needed[R + 1]{};
            is_needed[R] = true;
            for (int i = R; i >= 0; --i) {
                for (int k = 0; is_needed[i] && k < Group::steps()[i].input_count; ++k) {
                    is_needed[Group::steps()[i].inputs[k]] = true;
                }
            }
            int place[R + 1]{};
            for (int i = 0; i <= R; ++i) {
                if (is_needed[i]) {
                    graph::step& s = of[place[i] = count++] = Group::steps()[i];
                    for (int k = 0; k < s.input_count; ++k) {
                        s.inputs[k] = place[s.inputs[k]];
                    }
                }
            }
        }
    };
    static constexpr needed_steps needed{};

public:
    static constexpr int step_count = needed.count;
    static constexpr graph::step const* steps() { return needed.of; }
};

/// The kernel of a group, which chooses how several reductions run. `MayBroadcast`: some call may have leaves with one
/// element a row that the compiler knows nothing of.
template <class Group, bool MayBroadcast>
class column_kernel {
public:
    using arguments = fused_arguments<Group::leaf_count, Group::result_count>;

    static CALQUE_INLINE void run(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        if constexpr (MayBroadcast) {
            if (a.broadcast_leaves != 0) [[unlikely]] {
                run_way<true>(a, rows, columns);
                return;
            }
        }
        run_way<false>(a, rows, columns);
    }

private:
    template <bool Broadcasts>
    static CALQUE_INLINE void run_way(arguments const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        if constexpr (Group::result_count == 1) {
            fused_columns<Group, Broadcasts>::run(a, rows, columns);
        } else if (walk_once(rows, columns)) {
            fused_column_totals<Group, Broadcasts>::run(a, rows, columns);
        } else if constexpr (!are_always_wide) {
            unroll_steps<0, Group::step_count>([&](auto step) CALQUE_INLINE_LAMBDA {
                if constexpr (detail::is_reduction(Group::steps()[step])) {
                    arguments of_one = a;
                    of_one.results[0] = a.results[Group::steps()[step].result];
                    fused_columns<one_reduction<Group, step>, Broadcasts>::run(of_one, rows, columns);
                }
            });
        }
    }

    static constexpr std::ptrdiff_t least_columns = thresholds::groups_of_several_folds * simd::width;
    static constexpr bool are_always_wide = is_static(Group::columns) && Group::columns >= least_columns;

    /// Whether several reductions run in one walk: not those of many rows of a few columns, which one by one see as
    /// other rows, that fill registers.
    static constexpr bool walk_once(std::ptrdiff_t rows, std::ptrdiff_t columns) {
        return are_always_wide || columns >= least_columns || rows <= thresholds::most_narrow_rows_of_several_folds;
    }
};

} // namespace kernels
} // namespace v0
} // namespace calque
