// SPDX-License-Identifier: MIT
// `variable_expr<T>`: a variable as a traced function's body sees it. It reads as an array, and can be assigned to.
#pragma once

#include <calque/interop/tree_map.hpp>
#include <calque/trace/elementwise.hpp>

namespace calque {
inline namespace v0 {

/// A variable in a traced function. Used as an array it is what it is worth at that point of the program: copies of the
/// handle are the same variable; `read()` keeps what it is now.
///
/// Assignments happen in the order of the program, in branches and loops too, and are seen by what reads it later.
template <class T>
class variable_expr {
public:
    using value_type = T;

    constexpr variable_expr(graph::value initial, detail::shared_builder* /*none*/)
        : owner_(initial.owner), index_(initial.owner->add_variable(initial.id)) {}

    constexpr graph::value value() const { return {owner_, owner_->variable(index_)}; }
    constexpr detail::shared_builder* shared() const { return nullptr; }

    constexpr int rank() const { return value().rank(); }
    /// The extent of an axis, from the end if negative.
    constexpr axis_extent extent(int axis) const { return read().extent(axis); }
    constexpr calque::shape const& shape() const { return value().shape(); }

    /// What the variable is worth now, whatever is assigned to it later.
    constexpr expr<T> read() const { return expr<T>(value(), nullptr); }
    constexpr operator expr<T>() const { return read(); }

    /// Gives the variable a value: an array of its shape, or a scalar for all elements.
    template <operand X>
    constexpr void assign(X const& x) const {
        detail::meeting const at(*this, x);
        static_assert(std::is_same_v<detail::common_element_t<graph::ops::add, variable_expr, X>, T>);
        graph::value v = at.template import <T>(x);
        graph::value const was{owner_, owner_->initial_value(index_)};
        if (v.rank() == 0) {
            v = graph::broadcast_like(v, was);
        }
        std::uint64_t const argument = (*owner_)[was.id].attribute;
        owner_->assign(index_, graph::apply<graph::ops::assigned>(argument, v, was).id);
    }
    template <operand X>
    constexpr void assign_add(X const& x) const {
        assign(read() + x);
    }
    template <operand X>
    constexpr void assign_sub(X const& x) const {
        assign(read() - x);
    }

    /// Whether the function has assigned to it so far.
    constexpr bool is_assigned() const { return owner_->variable(index_) != owner_->initial_value(index_); }

    template <std::same_as<bool> B>
    constexpr explicit operator B() const {
        return static_cast<B>(read());
    }
    template <std::same_as<double> D>
    constexpr operator D() const {
        return static_cast<D>(read());
    }

private:
    graph::builder* owner_;
    int index_;
};

namespace detail {

template <class T>
inline constexpr bool is_expr<variable_expr<T>> = true;

/// Adds what variables have become to the outputs of a graph, after the function's results.
constexpr void add_assigned_variables(graph::builder& owner) {
    for (int v = 0; v < owner.variable_count(); ++v) {
        graph::value const now{&owner, owner.variable(v)};
        graph::value const was{&owner, owner.initial_value(v)};
        bool const is_argument = owner[was.id].op == graph::code_of<graph::ops::argument>; // else it is of a check
        if (is_argument && now.id != was.id) { // a branch or loop may have been the last to assign
            owner.add_output(graph::apply<graph::ops::assigned>(was.attribute(), now, was).id);
        }
    }
}

} // namespace detail

/// Assigns a tree of values to a tree of variables of the same structure, leaf by leaf.
template <class Variables, class Values>
constexpr void assign(Variables const& to, Values const& values) {
    constexpr bool same_structure = detail::have_same_structure<Variables, Values>();
    static_assert(same_structure, "calque: assign takes values of the same structure as the variables");
    if constexpr (same_structure) {
        for_each_indexed_leaf(to, [&values](auto index, auto const& variable) {
            variable.assign(detail::leaf_at<decltype(index)::value, Values>(values));
        });
    }
}

} // namespace v0
} // namespace calque
