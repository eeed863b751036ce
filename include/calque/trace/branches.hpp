// SPDX-License-Identifier: MIT
// `cond` and `switch_case`: one of several functions runs, and the call decides which.
#pragma once

#include <calque/trace/region.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

/// Of what branches return, the type that says what the result is: the first that is more than a number.
template <class First, class... Rest>
struct branch_result {
    using type = First;
};
template <class First, class Second, class... Rest>
    requires(arithmetic<First> && !arithmetic<Second>)
struct branch_result<First, Second, Rest...> : branch_result<Second, Rest...> {};

template <class Fn>
using branch_value_t = std::remove_cvref_t<decltype(std::declval<Fn const&>()())>;

/// Traces functions as the regions of a branch.
template <class... Fns>
class branch_tracer {
    using result = typename branch_result<branch_value_t<Fns>...>::type;
    static constexpr bool are_void = std::is_void_v<result>;
    static_assert(((std::is_void_v<branch_value_t<Fns>> == are_void) && ...),
                  "calque: either all branches return a value, or none does");

    struct one {
        sequence<graph::node_id> values;    // what it returns,
        sequence<graph::node_id> variables; // and what variables are at its end
    };

public:
    constexpr branch_tracer(region_home& home) : home_(home), before_(variables_of(home.owner())) {}

    template <handle Index>
    constexpr auto run(Index const& index, Fns const&... fns) {
        index_.push_back(index.value().id);
        int next = 0;
        (trace(next++, fns), ...);
        add_assigned_variables();
        sequence<graph::node_id> const results = add_nodes();
        if constexpr (!are_void) {
            value_source source(home_, results.data());
            return unflatten<result>(source);
        }
    }

private:
    template <class Fn>
    constexpr void trace(int i, Fn const& fn) {
        regions_.push_back(home_.owner().enter_region());
        if constexpr (are_void) {
            fn();
            home_.follow(regions_, index_, before_);
        } else {
            auto const value = fn();
            home_.follow(regions_, index_, before_);
            append_leaves<result>(home_, value, branches_[i].values);
        }
        branches_[i].variables = variables_of(home_.owner());
        home_.leave(regions_.back());
        restore_variables(home_.owner(), before_);
    }

    constexpr void add_assigned_variables() {
        for (int v = 0; v < before_.size(); ++v) {
            bool is_assigned = false;
            for (one const& branch : branches_) {
                is_assigned |= branch.variables[v] != before_[v];
            }
            if (is_assigned) {
                assigned_.push_back(v);
                for (one& branch : branches_) {
                    branch.values.push_back(branch.variables[v]);
                }
            }
        }
    }

    constexpr sequence<graph::node_id> add_nodes() {
        using namespace graph;
        builder& owner = home_.owner();
        sequence<node_id> inputs;
        inputs.push_back(index_[0]);
        int const count = branches_[0].values.size();
        if (count == 0) {
            return {}; // nothing that anyone could notice
        }
        for (int i = 0; i < regions_.size(); ++i) {
            owner.in_region(regions_[i], [&] {
                for (int k = 0; k < count; ++k) {
                    inputs.push_back(owner.add(code_of<ops::yield>, {branches_[i].values[k]}));
                }
            });
        }
        node_id const branch = owner.add(code_of<ops::branch>, inputs.data(), inputs.size(),
                                         control_counts{.data = 1, .yields = count}.pack());
        sequence<node_id> results;
        for (int k = 0; k < count; ++k) {
            results.push_back(owner.add(code_of<ops::result>, {branch, inputs[1 + k]}, static_cast<std::uint64_t>(k)));
        }
        for (int i = 0; i < assigned_.size(); ++i) {
            owner.assign(assigned_[i], results[count - assigned_.size() + i]);
        }
        return results;
    }

    region_home& home_;
    sequence<graph::node_id> before_;
    sequence<graph::node_id> index_;
    sequence<std::uint16_t> regions_;
    sequence<int> assigned_;
    one branches_[sizeof...(Fns)];
};

} // namespace detail

/// What `then()` returns if the scalar `condition` is true, else what `otherwise()` returns. Only that one runs.
///
/// Both are called without arguments, when the function is traced; lambdas capture the traced values that they use
/// (`[&]`). They return one structure: values of equal dtypes and shapes, tuples or structs of them, or nothing.
/// Variables that they assign to are assigned in the one that runs. The gradient is that of the branch that ran, which
/// computes its values again.
template <class Condition, class Then, class Otherwise>
constexpr auto cond(Condition const& condition, Then const& then, Otherwise const& otherwise) {
    constexpr bool is_condition = handle<Condition> && std::is_same_v<detail::element_of_t<Condition>, bool>;
    static_assert(is_condition, "calque: cond takes a traced bool: a comparison, say; for a C++ bool use if");
    if constexpr (is_condition) {
        detail::region_home home(condition.value(), condition.shared());
        return detail::branch_tracer<Then, Otherwise>(home).run(condition, then, otherwise);
    }
}

/// What function number `index`, an integer scalar, of `fns` returns; the nearest there is if it is out of range.
///
/// As `cond`, with any number of branches.
template <class Index, class... Fns>
constexpr auto switch_case(Index const& index, Fns const&... fns) {
    constexpr bool is_index = handle<Index> && std::is_integral_v<detail::element_of_t<Index>> &&
                              !std::is_same_v<detail::element_of_t<Index>, bool>;
    static_assert(is_index, "calque: switch_case takes a traced integer as its index, then functions");
    if constexpr (is_index) {
        detail::region_home home(index.value(), index.shared());
        return detail::branch_tracer<Fns...>(home).run(index, fns...);
    }
}

} // namespace v0
} // namespace calque
