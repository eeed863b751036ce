// SPDX-License-Identifier: MIT
// Which nodes differ from example to example. In loops that is a fixed point: a carried value that starts the same for
// all examples differs from the step on whose result does.
#pragma once

#include <calque/graph/regions.hpp>
#include <calque/graph/value.hpp>

namespace calque {
inline namespace v0 {
namespace passes {

/// A mapped argument: the batch, whose first axis counts examples, and the `example` of it that stands for one of them.
struct mapped_argument {
    graph::value batch;
    graph::value part;
};

namespace detail {

using graph::node_id;

/// The nodes, from `first` on, whose elements depend on those of some of them.
///
/// If one result of a branch or loop does, all count as if they did: it is replaced as a whole. Inside, what a loop
/// carries is told apart.
class mapped_nodes {
public:
    constexpr mapped_nodes(graph::builder const& owner, node_id first, int count)
        : owner_(owner), first_(first), is_mapped_(count) {}

    constexpr void add(node_id id) { is_mapped_[id - first_] = true; }
    constexpr bool contains(node_id id) const { return id >= first_ && is_mapped_[id - first_]; }

    constexpr void find() {
        for (bool changes = true; changes;) {
            changes = false;
            for (node_id id = first_; id - first_ < is_mapped_.size(); ++id) {
                if (!contains(id) && depends(id)) {
                    add(id);
                }
                changes |= graph::is_control(owner_[id]) && feed_back(id);
            }
        }
    }

    /// Whether result `k` of a branch or loop differs: what it returns or, of a loop, carries.
    constexpr bool is_result_mapped(node_id control, int k) const {
        graph::node const& n = owner_[control];
        if (is_decision_mapped(control)) {
            return true;
        }
        if (n.op != graph::code_of<graph::ops::branch>) {
            return contains(owner_.input(control, k)) || contains(yield(control, n, last_region(n), k));
        }
        for (int r = 0; r < graph::region_count(n); ++r) {
            if (contains(yield(control, n, r, k))) {
                return true;
            }
        }
        return false;
    }

    /// Whether which region runs, or how often, differs.
    constexpr bool is_decision_mapped(node_id control) const {
        graph::node const& n = owner_[control];
        return n.op == graph::code_of<graph::ops::branch>       ? contains(owner_.input(control, 0))
               : n.op == graph::code_of<graph::ops::while_loop> ? contains(yield(control, n, 0, 0))
                                                                : false;
    }

    /// Whether what the steps of a scan return differs: value `k` of those behind the carried ones.
    constexpr bool is_stacked_mapped(node_id control, int k) const {
        graph::node const& n = owner_[control];
        return contains(yield(control, n, 0, graph::control_counts::unpack(n.attribute).carried + k));
    }

private:
    static constexpr int last_region(graph::node const& n) {
        return n.op == graph::code_of<graph::ops::while_loop> ? 1 : 0;
    }
    constexpr node_id yield(node_id control, graph::node const& n, int r, int k) const {
        return owner_.input(control, graph::yields_of(n, r).first + k);
    }

    constexpr bool depends(node_id id) const {
        graph::node const& n = owner_[id];
        for (int i = 0; i < n.input_count && graph::is_read(n, i); ++i) {
            if (contains(owner_.input(id, i))) {
                return true;
            }
        }
        return false;
    }

    /// What a loop's body makes of a carried value is what the next step sees. Returns whether that is new.
    constexpr bool feed_back(node_id control) {
        graph::node const& n = owner_[control];
        bool is_new = false;
        for (int r = 0; n.op != graph::code_of<graph::ops::branch> && r < graph::region_count(n); ++r) {
            std::uint16_t const region = graph::region_of(owner_.view(), n, r);
            for (node_id id = first_; id < control; ++id) {
                if (owner_[id].region == region && owner_[id].op == graph::code_of<graph::ops::parameter> &&
                    !contains(id) && is_result_mapped(control, static_cast<int>(owner_[id].attribute))) {
                    add(id);
                    is_new = true;
                }
            }
        }
        return is_new;
    }

    graph::builder const& owner_;
    node_id first_;
    sequence<bool> is_mapped_;
};

} // namespace detail
} // namespace passes
} // namespace v0
} // namespace calque
