// SPDX-License-Identifier: MIT
// Reverse-mode differentiation: appends to a graph the nodes that compute the gradient of a scalar. It nests.
#pragma once

#include <calque/graph/value.hpp>

#include <utility>

namespace calque {
inline namespace v0 {
namespace passes {

namespace detail {

using graph::value;

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
                receive(k, value{y.owner, y.owner->add(code_of<ops::concatenation_part>, inputs.data(), count + 1, part)});
            }
        } else if constexpr (std::is_same_v<Op, ops::concatenation_part>) {
            sequence<value> parts;
            for (int k = 1; k < (*y.owner)[y.id].input_count; ++k) {
                value const like{y.owner, y.owner->input(y.id, k)};
                parts.push_back(k == 1 + Op::part(y.attribute()) ? dy : broadcast_like(zero_of(dy), like));
            }
            receive(0, concatenate(parts.data(), parts.size(), Op::axis(y.attribute())));
        } else if constexpr (requires { &Op::template vjp<value, value, value>; } ||
                             requires { &Op::template vjp<value, value, value, value>; } ||
                             requires { &Op::template vjp<value, value, value, value, value>; }) {
            call_vjp<Op>(dy, y, receive, std::make_index_sequence<static_cast<std::size_t>(Op::arity)>{});
        }
    }

    template <class... Ops>
    static constexpr void call(graph::op_list<Ops...>, int code, value dy, value y, Receive const& receive) {
        constexpr rule rules[] = {&apply<Ops>...};
        rules[code](dy, y, receive);
    }

public:
    static constexpr void call(value dy, value y, Receive const& receive) {
        call(graph::op_set{}, static_cast<int>((*y.owner)[y.id].op), dy, y, receive);
    }
};

} // namespace detail

/// Writes the gradients of the scalar `y` with respect to `count` values to `gradients`; each has its value's shape.
///
/// Reverse mode: one walk back over the nodes between them, adding to the same graph. (A. Griewank, A. Walther,
/// "Evaluating Derivatives", 2nd ed., 2008, chapter 3.)
constexpr void differentiate(graph::value y, graph::value const* wrt, int count, graph::value* gradients) {
    using namespace graph;
    builder& owner = *y.owner;
    node_id first = y.id;
    for (int i = 0; i < count; ++i) {
        first = wrt[i].id < first ? wrt[i].id : first;
    }
    // Only what depends on one of the values gets an adjoint.
    sequence<bool> depends(y.id - first + 1);
    for (int i = 0; i < count; ++i) {
        if (wrt[i].id <= y.id) {
            depends[wrt[i].id - first] = true;
        }
    }
    for (node_id id = first; id <= y.id; ++id) {
        node const& n = owner[id];
        for (int k = 0; k < n.input_count && !is_shape_input(n, k); ++k) {
            node_id const input = owner.input(id, k);
            if (input >= first && depends[input - first] && is_floating(owner[input].type)) {
                depends[id - first] = true;
            }
        }
    }
    sequence<node_id> adjoints(y.id - first + 1);
    for (node_id& adjoint : adjoints) {
        adjoint = -1;
    }
    adjoints[y.id - first] = literal(y, 1).id;
    for (node_id id = y.id; id >= first; --id) {
        if (!depends[id - first] || adjoints[id - first] < 0) {
            continue;
        }
        bool const is_elementwise = info(owner[id].op).kind == op_kind::elementwise;
        auto const receive = [&](int k, value adjoint) {
            value const input{&owner, owner.input(id, k)};
            if (!adjoint.exists() || input.id < first || !depends[input.id - first]) {
                return;
            }
            if (is_elementwise) {
                adjoint = sum_like(adjoint, input);
            }
            node_id& total = adjoints[input.id - first];
            total = total < 0 ? adjoint.id : (value{&owner, total} + adjoint).id;
        };
        detail::vjp_table<decltype(receive)>::call({&owner, adjoints[id - first]}, {&owner, id}, receive);
    }
    for (int i = 0; i < count; ++i) {
        node_id const adjoint = wrt[i].id <= y.id ? adjoints[wrt[i].id - first] : -1;
        value const gradient = adjoint < 0 ? zero_of(wrt[i]) : value{&owner, adjoint};
        gradients[i] = gradient.rank() == wrt[i].rank() ? assert_shape(gradient, wrt[i].shape())
                                                        : broadcast_like(gradient, wrt[i]);
    }
}

} // namespace passes
} // namespace v0
} // namespace calque
