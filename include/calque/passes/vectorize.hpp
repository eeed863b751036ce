// SPDX-License-Identifier: MIT
// Vectorization: what a graph computes of one example, computed of a batch. It nests, and stands before differentiation
// or after it: what it appends to the graph are ordinary nodes.
#pragma once

#include <calque/graph/batches.hpp>
#include <calque/passes/vectorize_control.hpp>

namespace calque {
inline namespace v0 {
namespace passes {

namespace detail {

using namespace graph;

/// `x` for each example of a batch that `reference` is one of, and nothing but the shape: [B, extents of x...].
constexpr value shape_in_batch(value x, value reference) {
    value count = iota_like(reference, 0, x.type()); // [B,1,...]
    count = squeeze(count, all_axes(count) & ~axis_set{1});
    return expand_dims(count, ((axis_set{1} << x.rank()) - 1) << 1) == expand_dims(x, 1);
}

/// The same elements for each example: [B, extents of x...].
constexpr value repeat(value x, value reference) {
    extent_t const count = reference.shape()[0];
    if (is_static(count) && x.shape().is_static()) {
        calque::shape extents{count};
        for (int axis = 0; axis < x.rank(); ++axis) {
            extents.push_back(x.shape()[axis]);
        }
        return broadcast_to(x, extents);
    }
    return broadcast_like(x, shape_in_batch(x, reference));
}

} // namespace detail

/// What an operation's batch rule sees: the node that is mapped, and its inputs, as they are in the body or for the
/// whole batch.
class mapped_node {
public:
    constexpr mapped_node(graph::value original, graph::value reference, graph::node_id const* images)
        : original_(original), reference_(reference), images_(images) {}

    constexpr std::uint64_t attribute() const { return original_.attribute(); }
    /// The rank of the result for one example.
    constexpr int rank() const { return original_.rank(); }

    /// Whether the elements of input `k` differ from example to example.
    constexpr bool is_mapped(int k) const { return images_[k] >= 0; }
    /// Input `k` of one example: what is the same for all.
    constexpr graph::value part(int k) const { return {owner(), owner()->input(original_.id, k)}; }
    /// Input `k` of all examples: [B, extents...].
    constexpr graph::value batch(int k) const {
        return is_mapped(k) ? graph::value{owner(), images_[k]} : detail::repeat(part(k), reference_);
    }

    /// Of the elements of these only the shapes count: [B, extents of input k...], [B, extents of the result...].
    constexpr graph::value shape_of(int k) const {
        return is_mapped(k) ? batch(k) : detail::shape_in_batch(part(k), reference_);
    }
    constexpr graph::value shape_of_result() const { return detail::shape_in_batch(original_, reference_); }

    /// The same operation on the batch. What is broadcast by an elementwise operation need not be repeated.
    constexpr graph::value again(std::uint64_t attribute) const {
        graph::node const n = (*owner())[original_.id];
        bool const is_elementwise = graph::info(n.op).kind == graph::op_kind::elementwise;
        sequence<graph::node_id> inputs;
        for (int k = 0; k < n.input_count; ++k) {
            graph::value const input = graph::is_shape_input(n, k) ? shape_of(k)
                                       : is_elementwise            ? aligned(k)
                                                                   : batch(k);
            inputs.push_back(input.id);
        }
        return {owner(), owner()->add(n.op, inputs.data(), inputs.size(), attribute)};
    }

    /// The attribute's list of extents, behind one more.
    constexpr std::uint64_t list_behind(extent_t first) const {
        return static_cast<std::uint64_t>(intern_behind(first, static_cast<int>(attribute())));
    }
    /// The attribute's ranges, behind one of all elements.
    constexpr std::uint64_t ranges_behind_all() const {
        graph::slice_lists const lists = graph::slice_lists::unpack(attribute());
        return graph::slice_lists{intern_behind(0, lists.starts), intern_behind(graph::to_the_end, lists.stops),
                                  intern_behind(1, lists.steps)}
            .pack();
    }

private:
    constexpr graph::builder* owner() const { return original_.owner; }

    /// An input of an elementwise operation: its own axes stay the last ones, behind the batch axis.
    constexpr graph::value aligned(int k) const {
        if (!is_mapped(k)) {
            return part(k);
        }
        int const missing = rank() + 1 - batch(k).rank();
        return graph::expand_dims(batch(k), ((graph::axis_set{1} << missing) - 1) << 1);
    }

    constexpr int intern_behind(extent_t first, int list) const {
        calque::shape const old = owner()->list(list);
        calque::shape longer{first};
        for (int axis = 0; axis < old.rank && longer.rank < max_rank; ++axis) {
            longer.push_back(old[axis]);
        }
        return owner()->intern(longer);
    }

    graph::value original_;
    graph::value reference_;
    graph::node_id const* images_;
};

namespace detail {

/// Applies the batch rule of an operation, by its code. What has none is an error of the trace.
struct batch_table {
    using rule = value (*)(value, mapped_node const&);

    template <class Op>
    static constexpr value apply(value original, mapped_node const& in) {
        if constexpr (requires { &Op::template batch<mapped_node>; }) {
            return Op::batch(in);
        } else {
            original.owner->fail(reason::no_batch_rule, code_of<Op>, &original.id, 1);
            return in.shape_of_result();
        }
    }

    template <class... Ops>
    static constexpr value call(op_list<Ops...>, value original, mapped_node const& in) {
        constexpr rule rules[] = {&apply<Ops>...};
        return rules[static_cast<int>((*original.owner)[original.id].op)](original, in);
    }
};

template <class Ops>
class vectorizer {
public:
    /// `active`: which examples need the results, [B]; none: all do.
    constexpr vectorizer(mapped_argument const* arguments, int count, value const* results, int result_count,
                         value active)
        : owner_(*arguments[0].batch.owner), reference_(arguments[0].batch), active_(active),
          first_(first_part(arguments, count)), last_(last_node(arguments, count, results, result_count)),
          mapped_(owner_, first_, last_ - first_ + 1), images_(last_ - first_ + 1) {
        for (node_id& image : images_) {
            image = not_mapped;
        }
        for (int i = 0; i < count; ++i) {
            mapped_.add(arguments[i].part.id);
            set(arguments[i].part.id, arguments[i].batch);
        }
        mapped_.find();
        for (node_id id = first_; id <= last_; ++id) {
            if (mapped_.contains(id) && image(id) == not_mapped) {
                image(id) = unused;
            }
        }
        for (int i = 0; i < result_count; ++i) {
            need(results[i].id);
        }
        for (node_id id = last_; id >= first_; --id) {
            for (int k = 0; is_needed(id) && k < owner_[id].input_count; ++k) {
                need(owner_.input(id, k));
            }
        }
        for (node_id id = first_; id <= last_; ++id) {
            if (!is_needed(id) || !owner_.is_visible(owner_[id].region)) {
                continue; // what belongs to a branch or loop is computed with it
            }
            if (is_control(owner_[id])) {
                control_batch<vectorizer>(*this, owner_, mapped_, id).run();
            } else {
                image(id) = image_of(id);
            }
        }
    }

    constexpr value batch(value result) const {
        bool const has_batch = result.id >= first_ && images_[result.id - first_] >= 0;
        return has_batch ? value{&owner_, images_[result.id - first_]} : repeat(result, reference_);
    }

    // ---- for branches and loops

    constexpr value active() const { return active_; }
    constexpr value repeated(value x) const { return repeat(x, reference_); }
    constexpr node_id last() const { return last_; }
    constexpr bool is_needed(node_id id) const { return images_[id - first_] == needed; }
    constexpr void set(node_id id, value batch) { image(id) = batch.id; }

    /// All batches as of now; the reference is the first one.
    constexpr sequence<mapped_argument> known() const {
        sequence<mapped_argument> all;
        for (bool is_reference : {true, false}) {
            for (node_id id = first_; id <= last_; ++id) {
                node_id const batch = images_[id - first_];
                if (batch >= 0 && (batch == reference_.id) == is_reference) {
                    all.push_back({{&owner_, batch}, {&owner_, id}});
                }
            }
        }
        return all;
    }

private:
    // Instead of an image:
    static constexpr node_id not_mapped = -1;
    static constexpr node_id unused = -2;
    static constexpr node_id needed = -3;

    static constexpr node_id first_part(mapped_argument const* arguments, int count) {
        node_id first = arguments[0].part.id;
        for (int i = 1; i < count; ++i) {
            first = arguments[i].part.id < first ? arguments[i].part.id : first;
        }
        return first;
    }
    static constexpr node_id last_node(mapped_argument const* arguments, int count, value const* results,
                                       int result_count) {
        node_id last = arguments[0].part.id;
        for (int i = 1; i < count; ++i) {
            last = arguments[i].part.id > last ? arguments[i].part.id : last;
        }
        for (int i = 0; i < result_count; ++i) {
            last = results[i].id > last ? results[i].id : last;
        }
        return last;
    }

    constexpr node_id& image(node_id id) { return images_[id - first_]; }

    constexpr void need(node_id id) {
        if (id >= first_ && image(id) == unused) {
            image(id) = needed;
        }
    }

    constexpr node_id image_of(node_id id) {
        value const original{&owner_, id};
        if (original.rank() == max_rank) {
            owner_.fail(reason::rank_too_high, owner_[id].op, &id, 1, "vmap");
            return id;
        }
        sequence<node_id> images;
        for (int k = 0; k < owner_[id].input_count; ++k) {
            node_id const input = owner_.input(id, k);
            images.push_back(input >= first_ ? image(input) : not_mapped);
        }
        return batch_table::call(Ops{}, original, {original, reference_, images.data()}).id;
    }

    builder& owner_;
    value reference_;
    value active_;
    node_id first_;
    node_id last_;
    mapped_nodes mapped_;
    sequence<node_id> images_; // of the nodes from `first_` on
};

} // namespace detail

/// Replaces results that are computed of the parts of some batches by those of the whole batches: an axis that counts
/// the examples in front, also where a result is the same for all.
///
/// Each node between them has the batch rule of its operation applied, in order. The arguments have one first extent.
template <class Ops = graph::op_set>
constexpr void vectorize(mapped_argument const* arguments, int count, graph::value* results, int result_count) {
    detail::vectorizer<Ops> const batches(arguments, count, results, result_count, arguments[0].batch.none());
    for (int i = 0; i < result_count; ++i) {
        results[i] = batches.batch(results[i]);
    }
}

} // namespace passes
} // namespace v0
} // namespace calque
