// SPDX-License-Identifier: MIT
// Branches and loops that run the same: the kernels of one serve the others.
#pragma once

#include <calque/core/sequence.hpp>
#include <calque/graph/regions.hpp>

namespace calque {
inline namespace v0 {
namespace graph {

/// Compares what two branches or loops run, node by node, and notes which node of the second stands for which of the
/// first.
class region_comparison {
public:
    struct stand_in {
        node_id node;
        node_id stands_for;
    };

    /// `a` and `b`: the nodes of two branches or loops of `g`.
    constexpr region_comparison(graph_view const& g, node_id a, node_id b) : g_(g) {
        if (are_one_operation(g[a], g[b])) {
            first_ = a;
            for (int r = 0; r < region_count(g[a]); ++r) {
                node_id const begin = g.regions[region_of(g, g[a], r)].first_node;
                first_ = begin < first_ ? begin : first_;
            }
            inside_.resize(a - first_);
            for (node_id& image : inside_) {
                image = -1;
            }
            alike_ = compare(a, b);
        }
    }

    /// Whether their regions compute the same of what they are given: equal operations on values of equal dtypes and
    /// declared shapes.
    constexpr bool are_alike() const { return alike_; }

    /// Which nodes stand for those that the first reads or computes.
    constexpr sequence<stand_in> images() const {
        sequence<stand_in> all;
        for (stand_in const& x : outside_) {
            all.push_back(x);
        }
        for (int i = 0; i < inside_.size(); ++i) {
            if (inside_[i] >= 0) {
                all.push_back({inside_[i], first_ + i});
            }
        }
        return all;
    }

private:
    static constexpr bool are_one_operation(node const& a, node const& b) {
        return a.op == b.op && a.attribute == b.attribute && a.input_count == b.input_count;
    }

    constexpr bool compare(node_id a, node_id b) {
        node const& first = g_[a];
        node const& second = g_[b];
        int const data = control_counts::unpack(first.attribute).data;
        if (!pair_inputs(first, second, data)) {
            return false;
        }
        for (int r = 0; r < region_count(first); ++r) {
            if (!compare_regions(region_of(g_, first, r), region_of(g_, second, r), a, b)) {
                return false;
            }
        }
        for (int k = data; k < first.input_count; ++k) {
            if (image_of(g_.input(first, k)) != g_.input(second, k)) {
                return false;
            }
        }
        return true;
    }

    /// The nodes of both regions in order, up to the branches or loops that they belong to.
    constexpr bool compare_regions(std::uint16_t first, std::uint16_t second, node_id first_end, node_id second_end) {
        node_id a = next_within(first, g_.regions[first].first_node, first_end);
        node_id b = next_within(second, g_.regions[second].first_node, second_end);
        while (a < first_end && b < second_end) {
            if (!compare_nodes(a, b)) {
                return false;
            }
            a = next_within(first, a + 1, first_end);
            b = next_within(second, b + 1, second_end);
        }
        return a >= first_end && b >= second_end;
    }

    constexpr node_id next_within(std::uint16_t region, node_id id, node_id end) const {
        while (id < end && !is_within(g_, g_[id].region, region)) {
            ++id;
        }
        return id;
    }

    constexpr bool compare_nodes(node_id a, node_id b) {
        node const& first = g_[a];
        node const& second = g_[b];
        return are_one_operation(first, second) && pair_inputs(first, second, first.input_count) && pair(a, b);
    }

    constexpr node_id image_of(node_id id) const {
        if (id >= first_) {
            return inside_[id - first_];
        }
        int i = outside_.size() - 1;
        while (i >= 0 && outside_[i].stands_for != id) {
            --i;
        }
        return i < 0 ? -1 : outside_[i].node;
    }

    /// The first `count` inputs of two nodes.
    constexpr bool pair_inputs(node const& first, node const& second, int count) {
        for (int k = 0; k < count; ++k) {
            if (!pair(g_.input(first, k), g_.input(second, k))) {
                return false;
            }
        }
        return true;
    }

    /// Notes that `b` stands for `a`, if it can: each node has one image. What follows from constants and extents must
    /// follow alike.
    constexpr bool pair(node_id a, node_id b) {
        if (node_id const image = image_of(a); image >= 0) {
            return image == b;
        }
        node const& first = g_[a];
        node const& second = g_[b];
        if (first.type != second.type || first.shape != second.shape) {
            return false;
        }
        if (is_known_everywhere(first) &&
            !(are_one_operation(first, second) && pair_inputs(first, second, first.input_count))) {
            return false;
        }
        if (a >= first_) {
            inside_[a - first_] = b;
        } else {
            outside_.push_back({b, a});
        }
        return true;
    }

    graph_view g_;
    node_id first_ = 0;          // of the first one's regions
    sequence<node_id> inside_;   // by node, from there on
    sequence<stand_in> outside_; // what the regions read
    bool alike_ = false;
};

} // namespace graph
} // namespace v0
} // namespace calque
