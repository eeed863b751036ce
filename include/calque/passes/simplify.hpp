// SPDX-License-Identifier: MIT
// Algebraic simplification: nodes that equal a simpler one, for every input, NaN and signed zeros included.
#pragma once

#include <calque/graph/copy.hpp>
#include <calque/passes/combining.hpp>
#include <calque/passes/fold.hpp>

namespace calque {
inline namespace v0 {
namespace passes {
namespace detail {

/// One walk over a graph in order: inputs are simple already when a node is looked at.
template <class Graph, class Builder>
class simplifier {
public:
    constexpr simplifier(Graph const& from, Builder& to) : from_(from), to_(to), images_(from, to) {}

    constexpr void run() {
        for (node_id id = 0; id < from_.node_count; ++id) {
            node const& n = from_.nodes[id];
            images_.enter_region_of(n);
            images_.set(id, simplify(n));
        }
        images_.copy_outputs();
    }

private:
    constexpr node_id simplify(node const& n) {
        node_id const* const in = images_.inputs_of(n);
        if (node_id const simple = find_simpler(n, in); simple >= 0) {
            return simple;
        }
        return copy_node(from_, n, to_, in);
    }

    constexpr bool is_constant(node_id id) const { return to_[id].op == code_of<ops::constant>; }

    constexpr bool is_constant(node_id id, double number) const {
        return is_constant(id) && to_[id].attribute == constant_bits(to_[id].type, number);
    }

    template <class Op>
    constexpr bool is(node_id id) const {
        return to_[id].op == code_of<Op>;
    }

    constexpr value at(node_id id) const { return {&to_, id}; }

    /// A node that stands for `n` with the inputs `in`, or -1.
    constexpr node_id find_simpler(node const& n, node_id const* in) {
        if (n.op == code_of<ops::custom_derivative>) {
            return in[0]; // differentiation is over
        }
        switch (info(n.op).kind) {
        case op_kind::elementwise: return simpler_elementwise(n, in);
        case op_kind::view: return simpler_view(n, in);
        case op_kind::reduction: return simpler_reduction(n, in);
        default: return -1;
        }
    }

    // ---- elementwise

    constexpr node_id simpler_elementwise(node const& n, node_id const* in) {
        if (n.op == code_of<ops::fresh> || n.op == code_of<ops::stop_gradient>) {
            return in[0]; // they mattered to differentiation alone
        }
        if (n.op == code_of<ops::cast>) {
            if (to_[in[0]].type == n.type) {
                return in[0];
            }
            if (is_half_float(n.type) && to_[in[0]].op == n.op && to_[to_.input(in[0], 0)].type == n.type) {
                return to_.input(in[0], 0); // to float and back
            }
            std::uint64_t bits = 0;
            if (is_constant(in[0]) && fold_cast(to_[in[0]].type, n.type, to_[in[0]].attribute, bits)) {
                return to_.constant(n.type, bits);
            }
        }
        if (node_id const same = unchanged_shape(n, in); same >= 0) {
            return same;
        }
        if (node_id const folded = folded_constant(n, in); folded >= 0) {
            return folded;
        }
        if (node_id const simple = unstretched(n, in); simple >= 0) {
            return simple;
        }
        if (node_id const known = known_identity(n, in); known >= 0) {
            return known;
        }
        return hoisted_squeeze(n, in);
    }

    /// A broadcast or a check that static extents make void; and the transposes of broadcasts, which a plan makes only
    /// where no dynamic extent broadcasts (see `relies_on_equal_extents`).
    constexpr node_id unchanged_shape(node const& n, node_id const* in) const {
        if (n.op == code_of<ops::sum_to>) {
            return in[0];
        }
        bool const only_shapes = is_stretching(n.op) || n.op == code_of<ops::assert_shape> ||
                                 n.op == code_of<ops::assigned> || n.op == code_of<ops::same_batch>;
        if (!only_shapes) {
            return -1;
        }
        shape const& extents = from_.shapes[n.shape];
        bool const agrees = extents.is_static() || n.op == code_of<ops::broadcast_like>;
        return agrees && to_.shape(in[0]) == extents ? in[0] : -1;
    }

    /// A stretched input next to one that has the result's shape already need not be stretched; and what is computed of
    /// stretched scalars alone is computed of the scalars.
    constexpr node_id unstretched(node const& n, node_id const* in) {
        if (is_stretching(n.op) && is_stretching(to_[in[0]].op) &&
            surely_stretches(to_.shape(in[0]), from_.shapes[n.shape])) {
            node_id const source = to_.input(in[0], 0);
            return n.op == code_of<ops::broadcast_like> ? broadcast_like(at(source), at(in[1])).id
                                                        : stretched_to(source, from_.shapes[n.shape]);
        }
        if (!is_broadcasting(info(n.op), n.input_count)) {
            return -1;
        }
        bool is_any_stretched = false; // seldom: most nodes end here
        for (int k = 0; k < n.input_count; ++k) {
            is_any_stretched |= is_stretching(to_[in[k]].op);
        }
        if (!is_any_stretched) {
            return -1;
        }
        sequence<node_id> sources;
        node_id stretched = -1;
        bool another_has_the_shape = false;
        bool only_scalars = true;
        for (int k = 0; k < n.input_count; ++k) {
            bool const is_stretched = is_stretching(to_[in[k]].op);
            sources.push_back(is_stretched ? to_.input(in[k], 0) : in[k]);
            if (is_stretched) {
                stretched = keeps_shape(n, in[k]) ? in[k] : stretched;
            } else {
                another_has_the_shape |= keeps_shape(n, in[k]);
            }
            only_scalars &= to_.shape(sources[k]).rank == 0;
        }
        if (stretched < 0 || !(another_has_the_shape || only_scalars)) {
            return -1;
        }
        if (!another_has_the_shape) {
            return stretched_like(to_.add(n.op, sources.data(), n.input_count, n.attribute), stretched);
        }
        node_id const known = find_simpler(n, sources.data());
        return known >= 0 ? known : to_.add(n.op, sources.data(), n.input_count, n.attribute);
    }

    /// Whether no call can find a static extent of `x` that does not stretch to a dynamic one of `to`, which is an
    /// error.
    static constexpr bool surely_stretches(shape const& x, shape const& to) {
        int const added = to.rank - x.rank;
        for (int axis = 0; axis < x.rank; ++axis) {
            if (is_static(x[axis]) && x[axis] != 1 && !is_static(to[added + axis])) {
                return false;
            }
        }
        return true;
    }

    /// `x` stretched to extents, or -1 if they are not all known.
    constexpr node_id stretched_to(node_id x, shape const& extents) {
        return extents.is_static() ? broadcast_to(at(x), extents).id : -1;
    }

    /// `x` stretched as the broadcast `stretched` stretches its input.
    constexpr node_id stretched_like(node_id x, node_id stretched) {
        return to_[stretched].op == code_of<ops::broadcast_like> ? broadcast_like(at(x), at(to_.input(stretched, 1))).id
                                                                 : stretched_to(x, to_.shape(stretched));
    }

    constexpr node_id folded_constant(node const& n, node_id const* in) const {
        if (n.input_count == 0 || n.input_count > 2 || !is_constant(in[0]) ||
            (n.input_count == 2 && !is_constant(in[1]))) {
            return -1;
        }
        std::uint64_t bits = 0;
        std::uint64_t const second = n.input_count == 2 ? to_[in[1]].attribute : 0;
        return fold(n.op, to_[in[0]].type, to_[in[0]].attribute, second, bits) ? to_.constant(n.type, bits) : -1;
    }

    constexpr bool keeps_shape(node const& n, node_id input) const { return to_.shape(input) == from_.shapes[n.shape]; }

    constexpr node_id known_identity(node const& n, node_id const* in) {
        if (n.op == code_of<ops::multiply>) {
            for (int k = 0; k < 2; ++k) {
                if (is_constant(in[k], 1) && keeps_shape(n, in[1 - k])) {
                    return in[1 - k];
                }
            }
        } else if (n.op == code_of<ops::divide>) {
            return simpler_quotient(n, in);
        } else if (n.op == code_of<ops::add>) {
            if (is<ops::negative>(in[1])) {
                return (at(in[0]) - at(to_.input(in[1], 0))).id;
            }
            if (is<ops::negative>(in[0])) {
                return (at(in[1]) - at(to_.input(in[0], 0))).id;
            }
        } else if (n.op == code_of<ops::subtract>) {
            if (is_constant(in[1], 0) && keeps_shape(n, in[0])) {
                return in[0]; // x - 0 is x, for x = -0 too; x + 0 is not
            }
            if (is<ops::negative>(in[1])) {
                return (at(in[0]) + at(to_.input(in[1], 0))).id;
            }
        } else if (n.op == code_of<ops::negative>) {
            if (is<ops::negative>(in[0])) {
                return to_.input(in[0], 0);
            }
        } else if (n.op == code_of<ops::where>) {
            if (in[1] == in[2] && keeps_shape(n, in[1])) {
                return in[1];
            }
        } else if (n.op == code_of<ops::pow>) {
            return simpler_power(n, in);
        }
        return -1;
    }

    /// A quotient by a power of two is a product with its exact reciprocal.
    constexpr node_id simpler_quotient(node const& n, node_id const* in) {
        if (!is_floating(n.type) || !is_constant(in[1])) {
            return -1;
        }
        double const divisor =
            n.type == dtype::float32 ? from_bits<float>(to_[in[1]].attribute) : from_bits<double>(to_[in[1]].attribute);
        if (divisor == 1 && keeps_shape(n, in[0])) {
            return in[0];
        }
        for (double power = 1.0 / 1024; power <= 65536; power *= 2) {
            if (divisor == power || divisor == -power) {
                return (at(in[0]) * (1 / divisor)).id;
            }
        }
        return -1;
    }

    constexpr node_id simpler_power(node const& n, node_id const* in) {
        value const x = at(in[0]);
        if (is_constant(in[1], 2)) {
            return square(x).id;
        }
        if (is_constant(in[1], 1) && keeps_shape(n, in[0])) {
            return in[0];
        }
        if (is_constant(in[1], 3)) {
            return (x * square(x)).id;
        }
        return -1;
    }

    /// f(squeeze(a), squeeze(b)) is squeeze(f(a, b)): the values stay in the loop over rows that made them. Where none
    /// did, as for columns of an array, rows of one element would be all that there is to loop over.
    constexpr node_id hoisted_squeeze(node const& n, node_id const* in) {
        if (!is_broadcasting(info(n.op), n.input_count)) {
            return -1;
        }
        node_id squeezed = -1;
        for (int k = 0; k < n.input_count; ++k) {
            if (is<ops::squeeze>(in[k]) && (squeezed < 0 || is_squeezed_like(in[k], squeezed))) {
                squeezed = in[k];
            } else if (to_.shape(in[k]).rank != 0 || is<ops::squeeze>(in[k])) {
                return -1;
            }
        }
        if (squeezed < 0 || !drops_last_axis(squeezed)) {
            return -1; // totals of columns go on as arrays of their own
        }
        bool is_made_by_row = false;
        for (int k = 0; k < n.input_count; ++k) {
            is_made_by_row |= is<ops::squeeze>(in[k]) && is_made_in_a_loop(to_.input(in[k], 0));
        }
        if (!is_made_by_row) {
            return -1;
        }
        sequence<node_id> wide;
        for (int k = 0; k < n.input_count; ++k) {
            wide.push_back(is<ops::squeeze>(in[k]) ? to_.input(in[k], 0) : in[k]);
        }
        node_id const result = to_.add(n.op, wide.data(), n.input_count, n.attribute);
        return squeeze(at(result), to_[squeezed].attribute).id;
    }

    constexpr bool is_made_in_a_loop(node_id id) const {
        op_kind const kind = info(to_[id].op).kind;
        return kind == op_kind::elementwise || kind == op_kind::reduction;
    }

    constexpr bool drops_last_axis(node_id squeezed) const {
        int const rank = to_.shape(to_.input(squeezed, 0)).rank;
        return graph::contains(to_[squeezed].attribute, rank - 1);
    }

    constexpr bool is_squeezed_like(node_id a, node_id b) const {
        return to_[a].attribute == to_[b].attribute &&
               to_.shape(to_.input(a, 0)).rank == to_.shape(to_.input(b, 0)).rank;
    }

    // ---- views

    constexpr node_id simpler_view(node const& n, node_id const* in) {
        shape const& extents = from_.shapes[n.shape];
        if (n.op == code_of<ops::transpose>) {
            return simpler_transpose(n, in[0]);
        }
        if (n.op == code_of<ops::expand_dims> && to_.shape(in[0]).rank == 0) {
            return broadcast_to(at(in[0]), extents).id;
        }
        bool const keeps_elements = n.op == code_of<ops::expand_dims> || n.op == code_of<ops::squeeze>;
        if (keeps_elements && is_stretching(to_[in[0]].op) && to_.shape(to_.input(in[0], 0)).rank == 0) {
            return view_of_stretched(n, in[0]);
        }
        if (n.op == code_of<ops::squeeze> && is<ops::squeeze>(in[0])) {
            return squeeze_twice(n, in[0]);
        }
        if (n.op == code_of<ops::expand_dims> && is<ops::squeeze>(in[0]) && to_[in[0]].attribute == n.attribute &&
            to_.shape(to_.input(in[0], 0)) == extents) { // where it is not, the squeeze demands an extent of 1
            return to_.input(in[0], 0);
        }
        if (n.op == code_of<ops::squeeze> && is<ops::expand_dims>(in[0]) && to_[in[0]].attribute == n.attribute) {
            return to_.input(in[0], 0);
        }
        if (n.op == code_of<ops::reshape> || n.op == code_of<ops::reshape_like>) {
            if (extents.is_static() && to_.shape(in[0]) == extents) {
                return in[0];
            }
            if (is<ops::reshape>(in[0]) && extents.is_static() && to_.shape(in[0]).is_static()) {
                return reshape(at(to_.input(in[0], 0)), extents).id;
            }
        }
        if (n.op == code_of<ops::slice> && extents.is_static() && to_.shape(in[0]) == extents) {
            return in[0];
        }
        return -1;
    }

    /// Other axes for a stretched scalar: it is stretched to those.
    constexpr node_id view_of_stretched(node const& n, node_id stretched) {
        node_id const scalar = to_.input(stretched, 0);
        if (to_[stretched].op == code_of<ops::broadcast_like>) {
            node_id const like = to_.add(n.op, {to_.input(stretched, 1)}, n.attribute);
            return broadcast_like(at(scalar), at(like)).id;
        }
        return stretched_to(scalar, from_.shapes[n.shape]);
    }

    constexpr node_id squeeze_twice(node const& n, node_id in) {
        axis_set axes = to_[in].attribute;
        node_id const source = to_.input(in, 0);
        for (int axis = 0, kept = 0; axis < to_.shape(source).rank; ++axis) {
            if (!graph::contains(to_[in].attribute, axis)) {
                axes |= graph::contains(n.attribute, kept++) ? axis_set{1} << axis : 0;
            }
        }
        return squeeze(at(source), axes).id;
    }

    constexpr node_id simpler_transpose(node const& n, node_id in) {
        int const rank = to_.shape(in).rank;
        std::uint64_t identity = 0;
        for (int axis = 0; axis < rank; ++axis) {
            identity |= static_cast<std::uint64_t>(axis) << (4 * axis);
        }
        if (n.attribute == identity) {
            return in;
        }
        if (!is<ops::transpose>(in)) {
            return -1;
        }
        std::uint64_t composed = 0;
        for (int axis = 0; axis < rank; ++axis) {
            composed |= static_cast<std::uint64_t>(permuted(to_[in].attribute, permuted(n.attribute, axis)))
                        << (4 * axis);
        }
        node_id const source = to_.input(in, 0);
        return composed == identity ? source : transpose(at(source), composed).id;
    }

    // ---- reductions

    constexpr node_id simpler_reduction(node const& n, node_id const* in) {
        if (is<ops::squeeze>(in[0])) {
            axis_set const dropped = to_[in[0]].attribute;
            axis_set wide = 0;
            int narrow_axis = 0;
            for (int axis = 0; axis < to_.shape(to_.input(in[0], 0)).rank; ++axis) {
                if (!graph::contains(dropped, axis)) {
                    wide |= graph::contains(n.attribute, narrow_axis) ? axis_set{1} << axis : 0;
                    ++narrow_axis;
                }
            }
            return squeeze(at(reduce(n.op, to_.input(in[0], 0), wide)), dropped).id;
        }
        return reduce(n.op, in[0], n.attribute);
    }

    /// Kernels fold neighbouring axes: a set with gaps is folded run by run, from the last axis on, or, if few elements
    /// make one, element by element. An axis of extent 1 is none for kernels.
    constexpr node_id reduce(op_code op, node_id in, axis_set axes) {
        shape const extents = to_.shape(in);
        if (node_id const folded = folded_by_elements(op, in, axes); folded >= 0) {
            return folded;
        }
        for (int axis = extents.rank - 1; axis >= 0; --axis) {
            axis_set run = 0;
            for (; axis >= 0 && graph::contains(axes, axis) && extents[axis] != 1; --axis) {
                run |= axis_set{1} << axis;
            }
            if (run != 0) {
                in = to_.add(op, {in}, run);
            }
        }
        return in;
    }

    /// A reduction over short axes with others between them as elementwise work on slices, which one kernel reads at
    /// once: pooling of images. -1 if it is none.
    constexpr node_id folded_by_elements(op_code op, node_id in, axis_set axes) {
        shape const extents = to_.shape(in);
        int runs = 0;
        extent_t elements = 1;
        for (int axis = 0; axis < extents.rank; ++axis) {
            bool const is_folded = graph::contains(axes, axis) && extents[axis] != 1;
            bool const follows = axis > 0 && graph::contains(axes, axis - 1) && extents[axis - 1] != 1;
            runs += is_folded && !follows;
            elements = !is_folded || elements < 0 ? elements : extents[axis] == dyn ? -1 : elements * extents[axis];
        }
        op_code const combine = combining(op, to_[in].type);
        if (runs < 2 || elements < 1 || elements > most_elements_folded || combine == op) {
            return -1;
        }
        node_id folded = -1;
        for (extent_t element = 0; element < elements; ++element) {
            shape starts = extents, stops = extents, steps = extents;
            extent_t left = element;
            for (int axis = extents.rank - 1; axis >= 0; --axis) {
                bool const is_folded = graph::contains(axes, axis) && extents[axis] != 1;
                starts[axis] = is_folded ? left % extents[axis] : 0;
                stops[axis] = is_folded ? starts[axis] + 1 : graph::to_the_end;
                steps[axis] = 1;
                left = is_folded ? left / extents[axis] : left;
            }
            graph::slice_lists const lists{to_.intern(starts), to_.intern(stops), to_.intern(steps)};
            node_id const part = graph::slice(at(in), lists.pack()).id;
            folded = folded < 0 ? part : to_.add(combine, {folded, part});
        }
        return folded;
    }
    static constexpr extent_t most_elements_folded = 9;

    Graph from_;
    Builder& to_;
    node_map images_;
};

} // namespace detail

/// Whether simplification of this graph relies on dynamic extents that meet being equal: a plan checks that they are.
///
/// The transpose of a broadcast is a sum where a dynamic extent turns out to be 1, and nothing where it does not.
constexpr bool relies_on_equal_extents(graph::graph_view const& g) {
    for (graph::node_id id = 0; id < g.node_count; ++id) {
        graph::op_code const op = g.nodes[id].op;
        if (op == graph::code_of<graph::ops::sum_to> || op == graph::code_of<graph::ops::broadcast_like>) {
            return true;
        }
    }
    return false;
}

/// Writes to `to` a graph with the same results that does less.
template <class Graph, class Builder>
constexpr void simplify(Graph const& from, Builder& to) {
    detail::simplifier(from, to).run();
}

} // namespace passes
} // namespace v0
} // namespace calque
