// SPDX-License-Identifier: MIT
// What tracing branches and loops has in common: the graph that their regions are in, and trees of values.
#pragma once

#include <calque/interop/tree_map.hpp>
#include <calque/trace/apply.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

template <class X>
inline constexpr bool has_number = arithmetic<X>;
template <class... X>
inline constexpr bool has_number<std::tuple<X...>> = (has_number<X> || ...);
template <class X, class Y>
inline constexpr bool has_number<std::pair<X, Y>> = has_number<X> || has_number<Y>;

/// A constant as a handle, in a graph of its own; those of a tuple of them, too.
template <class X>
constexpr auto as_handle(X const& x) {
    if constexpr (arithmetic<X>) {
        using T = typename canonical<X>::type;
        auto* const owner = new shared_builder;
        return weak_expr<T>({owner, owner->constant(dtype_of<T>, graph::to_bits<T>(static_cast<T>(x)))}, owner);
    } else if constexpr (has_number<X>) {
        return tree_map([](auto const& leaf) { return as_handle(leaf); }, x);
    } else {
        return x;
    }
}

/// The graph in which a branch or loop is traced: that of its operands.
///
/// It may be one that no argument has met yet, and meet the trace in the middle of a region: `follow` then translates
/// what was noted before.
class region_home {
public:
    constexpr explicit region_home(graph::value anchor, shared_builder* shared)
        : anchor_(anchor, shared), owner_(anchor.owner), shared_(shared) {}

    constexpr graph::builder& owner() const { return *owner_; }
    constexpr shared_builder* shared() const { return shared_; }

    /// A leaf as a node of this graph, with dtype `T`.
    template <class T, class X>
    constexpr graph::node_id import(X const& x) {
        if constexpr (arithmetic<X>) {
            return owner_->constant(dtype_of<T>, graph::to_bits<T>(static_cast<T>(x)));
        } else {
            if (x.value().owner != owner_) {
                if (x.shared() == nullptr) {
                    owner_->fail(graph::reason::loop_without_argument, graph::code_of<graph::ops::branch>, nullptr, 0);
                    return owner_->constant(dtype_of<T>, 0);
                }
                x.shared()->move_to(*owner_, shared_);
            }
            return graph::cast(x.value(), dtype_of<T>).id;
        }
    }

    /// To be called when a body has run: if the graph has moved, nodes and regions have new numbers.
    template <class... Nodes>
    constexpr void follow(sequence<std::uint16_t>& regions, Nodes&... nodes) {
        if (shared_ == nullptr || !shared_->has_moved()) {
            return;
        }
        for (std::uint16_t& r : regions) {
            r = shared_->locate_region(r);
        }
        auto const translate = [this](sequence<graph::node_id>& ids) {
            for (graph::node_id& id : ids) {
                id = shared_->locate(id).id;
            }
        };
        (translate(nodes), ...);
        owner_ = anchor_.value().owner;
        shared_ = anchor_.shared();
        if (owner_->variable_count() > (owner_->watches_requirements() ? 1 : 0) || has_violation_within(regions) ||
            has_host_call()) { // what was noted before they met would run once
            owner_->fail(graph::reason::loop_without_argument, graph::code_of<graph::ops::scan>, nullptr, 0);
        }
    }

    /// Leaves a region. If a loop around it, begun from constants alone, has met the function in here, it now stands
    /// inside of this region instead of around it: it has to begin with an array.
    constexpr void leave(std::uint16_t region) {
        if (owner_->current_region() != region) {
            owner_->fail(graph::reason::loop_without_argument, graph::code_of<graph::ops::scan>, nullptr, 0);
        }
        owner_->leave_region();
    }

    /// To be called before a region is left: a body that captures must have met what it captures.
    template <class Body>
    constexpr void require_meeting() {
        if (shared_ != nullptr && !std::is_empty_v<Body>) {
            owner_->fail(graph::reason::loop_without_argument, graph::code_of<graph::ops::scan>, nullptr, 0);
        }
    }

private:
    /// Whether a check in one of the regions has been noted as if it were outside.
    constexpr bool has_violation_within(sequence<std::uint16_t> const& regions) const {
        if (owner_->watches_requirements()) {
            std::uint16_t const at = (*owner_)[owner_->variable(graph::builder::violation_variable)].region;
            for (std::uint16_t const r : regions) {
                if (owner_->is_within(at, r)) {
                    return true;
                }
            }
        }
        return false;
    }

    /// Whether a function of the host has been called, of which nobody knows whether it was in the loop.
    constexpr bool has_host_call() const {
        bool found = false;
        for (graph::node_id id = 0; id < owner_->node_count(); ++id) {
            found |= (*owner_)[id].op == graph::code_of<graph::ops::host_call>;
        }
        return found;
    }

    handle_base anchor_;
    graph::builder* owner_;
    shared_builder* shared_;
};

/// The home of operands: the graph of the trace, if one of them belongs to it.
class home_finder {
public:
    template <class Tree>
    constexpr void consider(Tree const& tree) {
        for_each_leaf(tree, [this](auto const& leaf) {
            if constexpr (handle<std::remove_cvref_t<decltype(leaf)>>) {
                if (!anchor_.exists() || (shared_ != nullptr && leaf.shared() == nullptr)) {
                    anchor_ = leaf.value();
                    shared_ = leaf.shared();
                }
            }
        });
    }
    constexpr region_home find() const { return region_home(anchor_, shared_); }

private:
    graph::value anchor_;
    shared_builder* shared_ = nullptr;
};

/// Hands out handles for the leaves of a tree, in order.
class value_source {
public:
    constexpr value_source(region_home const& home, graph::node_id const* ids) : home_(home), next_(ids) {}

    template <class Leaf, class Handle>
    constexpr auto next() {
        return Handle(graph::value{&home_.owner(), *next_++}, home_.shared());
    }

private:
    region_home const& home_;
    graph::node_id const* next_;
};

template <class Leaf>
struct leaf_element {
    using type = typename canonical<Leaf>::type;
};
template <handle Leaf>
struct leaf_element<Leaf> {
    using type = typename Leaf::value_type;
};
template <class Leaf>
    requires is_spec<Leaf>
struct leaf_element<Leaf> {
    using type = typename Leaf::value_type;
};
/// The dtype of leaf `I` of a tree of handles and numbers.
template <class Tree, std::size_t I>
using leaf_element_t = typename leaf_element<type_at_t<tree_leaves_t<Tree>, I>>::type;

/// Appends the leaves of a tree as nodes, each with the dtype that the same leaf of `As` has.
template <class As, class Tree>
constexpr void append_leaves(region_home& home, Tree const& tree, sequence<graph::node_id>& ids) {
    constexpr bool same_structure = have_same_structure<As, Tree>();
    static_assert(same_structure, "calque: branches return one structure, and a loop's body that of what it carries");
    if constexpr (same_structure) {
        for_each_indexed_leaf(tree, [&](auto index, auto const& leaf) {
            using T = leaf_element_t<As, decltype(index)::value>;
            using U = leaf_element_t<Tree, decltype(index)::value>;
            constexpr bool is_number = !is_expr<std::remove_cvref_t<decltype(leaf)>>;
            static_assert(same_dtype<T, U> || (is_number && takes_number<T, U>),
                          "calque: the branches return different dtypes, or a loop's body another one than it was "
                          "given: write calque::cast<...>(x), or start with 0.f where 0 is not what you mean");
            ids.push_back(home.import <T>(leaf));
        });
    }
}

/// The values of all variables, as of now.
constexpr sequence<graph::node_id> variables_of(graph::builder const& owner) {
    sequence<graph::node_id> all;
    for (int v = 0; v < owner.variable_count(); ++v) {
        all.push_back(owner.variable(v));
    }
    return all;
}
constexpr void restore_variables(graph::builder& owner, sequence<graph::node_id> const& all) {
    for (int v = 0; v < all.size(); ++v) {
        owner.assign(v, all[v]);
    }
}

} // namespace detail
} // namespace v0
} // namespace calque
