// SPDX-License-Identifier: MIT
// Reverse-mode differentiation: appends to a graph the nodes that compute gradients. It nests.
#pragma once

#include <calque/graph/value.hpp>
#include <calque/passes/differentiate_control.hpp>
#include <calque/passes/substitute.hpp>

#include <utility>

namespace calque {
inline namespace v0 {
namespace passes {

namespace detail {

/// Calls an operation's derivative and hands the adjoint of input k to `receive(k, adjoint)`.
template <class Op, class Receive, std::size_t... K>
constexpr void call_vjp(value dy, value y, Receive const& receive, std::index_sequence<K...>) {
    auto const input = [&](int k) { return value{y.owner, y.owner->input(y.id, k)}; };
    if constexpr (Op::arity == 1) {
        receive(0, Op::vjp(dy, input(0), y));
    } else {
        auto const adjoints = Op::vjp(dy, input(static_cast<int>(K))..., y);
        for (int k = 0; k < static_cast<int>(adjoints.size()); ++k) {
            receive(k, adjoints[static_cast<std::size_t>(k)]);
        }
    }
}

/// What one node adds to the adjoints of its inputs.
template <class Receive>
class vjp_table {
    using rule = void (*)(value, value, Receive const&);

    template <class Op>
    static constexpr void apply(value dy, value y, Receive const& receive) {
        using namespace graph;
        if constexpr (std::is_same_v<Op, ops::concatenate>) {
            int const count = (*y.owner)[y.id].input_count;
            for (int k = 0; k < count; ++k) {
                sequence<node_id> inputs;
                inputs.push_back(dy.id);
                for (int i = 0; i < count; ++i) {
                    inputs.push_back(y.owner->input(y.id, i));
                }
                std::uint64_t const part = y.attribute() | static_cast<std::uint64_t>(k) << 8;
                receive(k,
                        value{y.owner, y.owner->add(code_of<ops::concatenation_part>, inputs.data(), count + 1, part)});
            }
        } else if constexpr (std::is_same_v<Op, ops::concatenation_part>) {
            sequence<value> parts;
            for (int k = 1; k < (*y.owner)[y.id].input_count; ++k) {
                value const like{y.owner, y.owner->input(y.id, k)};
                parts.push_back(k == 1 + Op::part(y.attribute()) ? dy : broadcast_like(zero_of(dy), like));
            }
            receive(0, concatenate(parts.data(), parts.size(), Op::axis(y.attribute())));
        } else if constexpr (std::is_same_v<Op, ops::custom_derivative>) {
            call_custom(dy, y, receive);
        } else if constexpr (std::is_same_v<Op, ops::user_function>) {
            call_user(dy, y, receive);
        } else if constexpr (
            requires { &Op::template vjp<value, value, value>; } ||
            requires { &Op::template vjp<value, value, value, value>; } ||
            requires { &Op::template vjp<value, value, value, value, value>; }) {
            call_vjp<Op>(dy, y, receive, std::make_index_sequence<static_cast<std::size_t>(Op::arity)>{});
        }
    }

    /// The derivative of an operation that the user wrote, if it has one.
    static constexpr void call_user(value dy, value y, Receive const& receive) {
        graph::user_operation const& operation = y.owner->user_operation_at(y.attribute());
        if (operation.vjp == nullptr) {
            return;
        }
        sequence<value> inputs;
        for (int k = 0; k < (*y.owner)[y.id].input_count; ++k) {
            inputs.push_back({y.owner, y.owner->input(y.id, k)});
        }
        sequence<value> adjoints(inputs.size());
        operation.vjp(dy, inputs.data(), y, adjoints.data());
        for (int k = 0; k < inputs.size(); ++k) {
            receive(k, adjoints[k]);
        }
    }

    /// A derivative that the user gave, of the adjoint in the place of the cotangent that it was traced with. The value
    /// itself was computed of constants: what reaches it is the adjoint of what the user's function captured.
    static constexpr void call_custom(value dy, value y, Receive const& receive) {
        using op = graph::ops::custom_derivative;
        int const count = op::argument_count(y.attribute());
        auto const input = [&](int k) { return value{y.owner, y.owner->input(y.id, k)}; };
        sequence<value> gradients;
        for (int k = 0; k < count; ++k) {
            gradients.push_back(input(op::first_argument + count + k));
        }
        substitute(input(1), dy, gradients.data(), count);
        receive(0, dy);
        for (int k = 0; k < count; ++k) {
            receive(op::first_argument + k, gradients[k]);
        }
    }

    template <class... Ops>
    static constexpr void call(graph::op_list<Ops...>, int code, value dy, value y, Receive const& receive) {
        constexpr rule rules[] = {&apply<Ops>...};
        rules[code](dy, y, receive);
    }

public:
    template <class Ops>
    static constexpr void call(value dy, value y, Receive const& receive) {
        call(Ops{}, static_cast<int>((*y.owner)[y.id].op), dy, y, receive);
    }
};

/// Which of the `count` nodes from `first` on have values that depend on one of some others.
constexpr sequence<bool> find_dependent(graph::builder const& owner, sequence<node_id> const& wrt, node_id first,
                                        int count) {
    using namespace graph;
    sequence<bool> depends(count);
    for (node_id const id : wrt) {
        if (id >= first && id - first < count) {
            depends[id - first] = true;
        }
    }
    for (node_id id = first; id - first < count; ++id) {
        node const& n = owner[id];
        if (n.op == code_of<ops::stop_gradient>) {
            continue; // a `while_loop` of such values needs no derivative
        }
        bool const crosses_border = info(n.op).kind == op_kind::control || info(n.op).kind == op_kind::border;
        for (int k = 0; k < n.input_count && (crosses_border || !is_shape_input(n, k)); ++k) {
            node_id const input = owner.input(id, k);
            if ((input >= first ? depends[input - first] : find(wrt, input) >= 0) &&
                (is_floating(owner[input].type) || is_control(owner[input]))) {
                depends[id - first] = true;
            }
        }
    }
    return depends;
}

/// Reverse mode from several values, each with its adjoint; -1 among the gradients: none.
///
/// What is before node `first` is either asked for or constant: the walk back ends there.
template <class Ops>
constexpr void differentiate_seeds_from(node_id first, graph::builder& owner, sequence<seed> const& seeds,
                                        sequence<node_id> const& wrt, sequence<node_id>& gradients) {
    using namespace graph;
    node_id last = first - 1;
    for (seed const& s : seeds) {
        last = s.of > last ? s.of : last;
    }
    // Only what depends on one of the values gets an adjoint.
    sequence<bool> const depends = find_dependent(owner, wrt, first, last - first + 1);
    sequence<node_id> adjoints(last - first + 1);
    sequence<bool> is_wrt(last - first + 1);
    for (node_id& adjoint : adjoints) {
        adjoint = -1;
    }
    int const begin = gradients.size();
    for (node_id const id : wrt) {
        if (id >= first && id <= last) {
            is_wrt[id - first] = true;
        }
        gradients.push_back(-1);
    }
    auto const needs = [&](node_id id) { return id < first ? find(wrt, id) >= 0 : id <= last && depends[id - first]; };
    auto const add = [&](node_id id, value adjoint) {
        if (adjoint.exists() && needs(id)) {
            node_id& total = id < first ? gradients[begin + find(wrt, id)] : adjoints[id - first];
            total = total < 0 ? adjoint.id : (value{&owner, total} + adjoint).id;
        }
    };
    for (seed const& s : seeds) {
        add(s.of, {&owner, s.adjoint});
    }
    sequence<control_adjoint> results; // of the branches and loops that are still to come, the next one's last
    for (node_id id = last; id >= first; --id) {
        if (is_wrt[id - first]) { // what it depends on is not asked for through it, even if a loop made it
            gradients[begin + find(wrt, id)] = adjoints[id - first];
            adjoints[id - first] = -1;
            continue;
        }
        if (!depends[id - first]) {
            continue;
        }
        if (is_control(owner[id])) {
            sequence<control_adjoint> of_results;
            while (!results.empty() && results.back().control == id) {
                of_results.push_back(results.back());
                results.pop_back();
            }
            control_derivative(owner, id, of_results, needs, add).run();
            continue;
        }
        if (adjoints[id - first] < 0) {
            continue;
        }
        if (is_result(owner[id])) {
            insert(results, {owner.input(id, 0), id, adjoints[id - first]});
            continue;
        }
        bool const is_elementwise = info(owner[id].op).kind == op_kind::elementwise;
        auto const receive = [&](int k, value adjoint) {
            value const input{&owner, owner.input(id, k)};
            if (adjoint.exists() && needs(input.id)) {
                add(input.id, is_elementwise ? sum_like(adjoint, input) : adjoint);
            }
        };
        vjp_table<decltype(receive)>::template call<Ops>({&owner, adjoints[id - first]}, {&owner, id}, receive);
    }
    for (int i = 0; i < wrt.size(); ++i) { // a value that is asked for twice has one adjoint
        gradients[begin + i] = gradients[begin + find(wrt, wrt[i])];
    }
}

/// The same, with a gradient of the shape of its value for each.
template <class Ops>
constexpr void differentiate_seeds(node_id first, graph::builder& owner, sequence<seed> const& seeds,
                                   sequence<node_id> const& wrt, sequence<node_id>& gradients) {
    differentiate_seeds_from<Ops>(first, owner, seeds, wrt, gradients);
    for (int i = 0; i < wrt.size(); ++i) {
        value const by{&owner, wrt[i]};
        value const gradient = gradients[i] < 0 ? graph::zero_of(by) : value{&owner, gradients[i]};
        gradients[i] = (gradient.rank() == by.rank() ? graph::assert_shape(gradient, by.shape())
                                                     : graph::broadcast_like(gradient, by))
                           .id;
    }
}

template <class Ops>
constexpr void differentiate_seeds(graph::builder& owner, sequence<seed> const& seeds, sequence<node_id> const& wrt,
                                   sequence<node_id>& gradients) {
    node_id first = owner.node_count();
    for (node_id const id : wrt) {
        first = id < first ? id : first;
    }
    differentiate_seeds<Ops>(first, owner, seeds, wrt, gradients);
}

} // namespace detail

/// Writes to `gradients` the gradients of the sum of `results[i] * cotangents[i]` with respect to `count` values: the
/// transpose of the derivative, applied to the cotangents, which have the results' shapes. Each has its value's shape.
///
/// Reverse mode: one walk back over the nodes between them, adding to the same graph. (A. Griewank, A. Walther,
/// "Evaluating Derivatives", 2nd ed., 2008, chapter 3.)
///
/// A template, so that only programs with gradients instantiate the derivatives of the operations.
template <class Ops = graph::op_set>
constexpr void pull_back(graph::value const* results, graph::value const* cotangents, int result_count,
                         graph::value const* wrt, int count, graph::value* gradients) {
    sequence<graph::node_id> by;
    for (int i = 0; i < count; ++i) {
        by.push_back(wrt[i].id);
    }
    sequence<detail::seed> seeds;
    for (int i = 0; i < result_count; ++i) {
        seeds.push_back({results[i].id, cotangents[i].id});
    }
    sequence<graph::node_id> found;
    detail::differentiate_seeds<Ops>(*wrt[0].owner, seeds, by, found);
    for (int i = 0; i < count; ++i) {
        gradients[i] = {wrt[i].owner, found[i]};
    }
}

/// Writes the gradients of the scalar `y` with respect to `count` values to `gradients`; each has its value's shape.
template <class Ops = graph::op_set>
constexpr void differentiate(graph::value y, graph::value const* wrt, int count, graph::value* gradients) {
    graph::value const one = graph::literal(y, 1);
    pull_back<Ops>(&y, &one, 1, wrt, count, gradients);
}

} // namespace passes
} // namespace v0
} // namespace calque
