// SPDX-License-Identifier: MIT
// Copies of what a branch or loop runs: derivatives and batches of it begin with one.
#pragma once

#include <calque/graph/builder.hpp>
#include <calque/graph/regions.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

using graph::node_id;

/// Copies the nodes of a region, and of those inside it, into the region that is being built.
class region_copy {
public:
    /// `before`: values around the region from this one on are not used, but computed again. (A derivative adds to the
    /// adjoints of what the copy captures, and must not have walked past those.)
    ///
    /// `first`: the first node that may be `set`, if it is before the region.
    constexpr region_copy(graph::builder& owner, std::uint16_t from, node_id before = graph::builder::nothing_hidden,
                          node_id first = graph::builder::nothing_hidden)
        : owner_(owner), from_(from), before_(before),
          first_(owner.view().regions[from].first_node < first ? owner.view().regions[from].first_node : first),
          images_((before < owner.node_count() ? before : owner.node_count()) - first_),
          regions_(owner.view().region_count) {
        for (node_id& image : images_) {
            image = -1;
        }
        for (int& image : regions_) {
            image = -1;
        }
        regions_[from] = owner.current_region();
    }

    constexpr void set(node_id id, node_id image) { images_[id - first_] = image; }

    /// What stands for a node: itself, if it is not of the region and none was set.
    constexpr node_id operator[](node_id id) const {
        bool const has_image = id >= first_ && id - first_ < images_.size() && images_[id - first_] >= 0;
        return has_image ? images_[id - first_] : id;
    }

    constexpr void run() {
        std::uint16_t const region = owner_.current_region();
        owner_.hide_from(before_);
        sequence<node_id> inputs;
        for (int i = 0; i < images_.size(); ++i) {
            node_id const id = first_ + i;
            graph::node const n = owner_[id];
            if (images_[i] >= 0 || n.op == graph::code_of<graph::ops::argument> ||
                !graph::is_within(owner_.view(), n.region, from_) ||
                (n.op == graph::code_of<graph::ops::yield> && n.region == from_)) {
                continue;
            }
            owner_.set_region(image_of_region(n.region));
            if (n.input_count == 0) {
                calque::shape const extents = owner_.shape(id);
                images_[i] = owner_.add_source(n.op, n.type, extents, n.attribute);
                continue;
            }
            inputs.resize(0);
            for (int k = 0; k < n.input_count; ++k) {
                inputs.push_back((*this)[owner_.input(id, k)]);
            }
            images_[i] = owner_.add(n.op, inputs.data(), n.input_count, n.attribute);
        }
        owner_.set_region(region);
        owner_.hide_from(graph::builder::nothing_hidden);
    }

private:
    constexpr std::uint16_t image_of_region(std::uint16_t r) {
        if (regions_[r] < 0) {
            regions_[r] = owner_.add_region(image_of_region(owner_.view().regions[r].parent));
        }
        return static_cast<std::uint16_t>(regions_[r]);
    }

    graph::builder& owner_;
    std::uint16_t from_;
    node_id before_;
    node_id first_;            // of the region's nodes, and of those that may be set
    sequence<node_id> images_; // from there on
    sequence<int> regions_;
};

} // namespace detail
} // namespace passes
} // namespace v0
} // namespace calque
