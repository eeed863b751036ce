// SPDX-License-Identifier: MIT
// Substitution: what a graph computes of one value, computed of another.
#pragma once

#include <calque/graph/value.hpp>
#include <calque/passes/region_copy.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

/// Copies of the nodes that depend on a value `from`, which depend on `to` instead.
class substitution {
public:
    constexpr substitution(graph::value from, graph::value to, node_id last)
        : owner_(*from.owner), first_(from.id), images_(last - from.id + 1) {
        for (node_id& image : images_) {
            image = -1;
        }
        images_[0] = to.id;
    }

    /// What stands for a node: itself, if it does not depend on the value.
    constexpr node_id operator[](node_id id) const { return has_image(id) ? images_[id - first_] : id; }

    constexpr void run() {
        for (node_id id = first_ + 1; id < first_ + images_.size(); ++id) {
            graph::node const n = owner_[id];
            bool const reads = reads_images(id);
            if (!owner_.is_visible(n.region)) {
                if (reads) {
                    note_region(n.region);
                }
            } else if (graph::is_control(n) && (reads || has_region_to_copy(n))) {
                copy_control(id);
            } else if (reads) {
                collect_inputs(id, n.input_count);
                images_[id - first_] = owner_.add(n.op, inputs_.data(), inputs_.size(), n.attribute);
            }
        }
    }

private:
    constexpr bool has_image(node_id id) const { return id >= first_ && images_[id - first_] >= 0; }

    constexpr bool reads_images(node_id id) const {
        bool reads = false;
        for (int k = 0; k < graph::read_input_count(owner_[id]); ++k) {
            reads |= has_image(owner_.input(id, k));
        }
        return reads;
    }

    /// The images of the first `count` inputs of a node, whose other inputs are yields.
    constexpr void collect_inputs(node_id id, int count) {
        graph::node const& n = owner_[id];
        inputs_.resize(0);
        for (int k = 0; k < count; ++k) {
            node_id const input = owner_.input(id, k);
            inputs_.push_back(graph::is_read(n, k) ? (*this)[input] : input);
        }
    }

    /// Notes that a region reads what has an image.
    constexpr void note_region(std::uint16_t region) {
        regions_.resize(owner_.view().region_count);
        for (; !owner_.is_visible(region); region = owner_.view().regions[region].parent) {
            regions_[region] = true;
        }
    }
    constexpr bool has_region_to_copy(graph::node const& n) const {
        bool found = false;
        for (int r = 0; r < graph::region_count(n); ++r) {
            int const region = graph::region_of(owner_.view(), n, r);
            found |= region < regions_.size() && regions_[region];
        }
        return found;
    }

    /// A branch or loop with all its regions.
    constexpr void copy_control(node_id control) {
        graph::node const n = owner_[control];
        collect_inputs(control, graph::control_counts::unpack(n.attribute).data);
        for (int r = 0; r < graph::region_count(n); ++r) {
            graph::yield_range const yields = graph::yields_of(n, r);
            owner_.enter_region();
            region_copy copy(owner_, owner_[owner_.input(control, yields.first)].region, control, first_);
            for (node_id id = first_; id < control; ++id) {
                if (owner_.is_visible(owner_[id].region) && has_image(id)) {
                    copy.set(id, images_[id - first_]);
                }
            }
            copy.run();
            for (int k = yields.first; k < yields.first + yields.count; ++k) {
                node_id const yield = owner_.input(control, k);
                node_id const returned = copy[owner_.input(yield, 0)];
                images_[yield - first_] = owner_.add(graph::code_of<graph::ops::yield>, {returned});
                inputs_.push_back(images_[yield - first_]);
            }
            owner_.leave_region();
        }
        images_[control - first_] = owner_.add(n.op, inputs_.data(), inputs_.size(), n.attribute);
    }

    graph::builder& owner_;
    node_id first_;            // the value
    sequence<node_id> images_; // from there on; -1: none
    sequence<bool> regions_;   // which of them read what has an image
    sequence<node_id> inputs_; // of the node that is being copied
};

} // namespace detail

/// Replaces each of the `results` by what it would be if `to` stood in the place of `from`: appends copies of the nodes
/// between them that read `from`. Both have one dtype and shape.
constexpr void substitute(graph::value from, graph::value to, graph::value* results, int count) {
    graph::node_id last = from.id;
    for (int i = 0; i < count; ++i) {
        last = results[i].id > last ? results[i].id : last;
    }
    detail::substitution copies(from, to, last);
    copies.run();
    for (int i = 0; i < count; ++i) {
        results[i].id = copies[results[i].id];
    }
}

} // namespace passes
} // namespace v0
} // namespace calque
