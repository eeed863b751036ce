// SPDX-License-Identifier: MIT
// Fusion: where each node is computed. A node joins the kernel that makes its inputs if both iterate over one space; a
// level counts the kernels that must run before.
#pragma once

#include <calque/core/sequence.hpp>
#include <calque/graph/regions.hpp>
#include <calque/graph/rolled_views.hpp>
#include <calque/graph/schedule.hpp>

namespace calque {
inline namespace v0 {
namespace passes {

/// Where a node runs if it is stored: nodes with equal places share a kernel.
struct place {
    int level = 0;
    int space = -1;                // the shape that the kernel iterates over; -1: no fused kernel computes this node
    int reduced_axes = 0;          // how many last axes its row reductions fold; 0: none is known yet
    graph::node_id product = -1;   // it works on the tiles of this matrix product
    graph::node_id reduction = -1; // it is this reduction over rows
    graph::node_id anchor = -1;    // dynamic extents are equal where values meet: a node with those of the space

    /// Whether its kernel does elementwise work and nothing else.
    constexpr bool is_elementwise() const { return space >= 0 && reduced_axes == 0 && product < 0 && reduction < 0; }

    constexpr bool operator==(place const&) const = default;
};

namespace detail {

using namespace graph;

/// The cost model of fusion, in instructions a pack.
inline constexpr int cheap_to_repeat = 4;         // recomputed in every kernel that needs it
inline constexpr int cheap_scalar_to_repeat = 20; // the same, once a call
/// An operation of this cost on what each of many rows has once is a kernel of its own, with a row in each lane: beside
/// the rows it is computed in all lanes for each of them. Rows of such cost hide that, or have lanes along the rows.
/// Measured, over 100 and 1000 rows of 16 to 100 columns: exp and tanh of sums take 0.25 to 0.45 of the time, over 8
/// rows 0.83 to 1.15, of 10 columns 0.75 to 1.05; one row takes 13 to 25 ns more. Logarithms of sums of exp, which are
/// left as they are, would take 0.93 to 1.03.
inline constexpr int costly_in_all_lanes = 12;
inline constexpr extent_t least_rows_in_lanes = 8;
/// Reductions over the same rows in one kernel, each with its totals in registers.
inline constexpr int most_reductions_beside = 4;
/// Indices that are so many, or that only a call knows, are counted by what reads them: others lie in registers.
inline constexpr extent_t least_counted_indices = 256;
/// Columns that are known to be so many run in one walk whatever each costs.
inline constexpr extent_t least_columns_of_costly_walks = 64;

/// `Graph`: a `graph_view`. (A template, as all passes of a program are: only programs that call functions compile
/// them.)
template <class Graph>
class fuser {
public:
    /// `meet_as_equals`: a plan checks that what meets has the same extents, so that they may be taken for equal
    /// before.
    constexpr fuser(Graph const& g, bool meet_as_equals)
        : g_(g), kinds_(unset, g.node_count), data_inputs_(unset, g.node_count), unnamed_(unset, g.shape_count),
          place_numbers_(unset, g.node_count), levels_after_(unset, g.node_count), phases_(unset, g.node_count),
          same_extents_(unset, g.node_count), costs_(unset, g.node_count), repeated_(unset, g.node_count),
          walk_costs_(unset, g.node_count), stretched_(g.node_count), has_rolls_(false), reads_rolled_(g.node_count) {
        places_.push_back({});
        find_kinds();
        find_stretched();
        find_same_extents(meet_as_equals);
        store_what_memory_is_read_for();
        for (node_id id = 0; id < g.node_count; ++id) {
            node const& n = g.nodes[id];
            reads_rolled_.at[id] = has_rolls_ && reads_rolled(id);
            costs_.at[id] = cost_of(id, n);
            walk_costs_.at[id] = walk_cost_of(id, n);
            repeated_.at[id] = is_repeated(id, n);
            place_numbers_.at[id] = repeated_.at[id] ? nowhere : find_place(id, n);
            levels_after_.at[id] = level_after(id);
            phases_.at[id] = phase_of(id, n);
        }
        number_kernels();
        unite_elementwise_with_rows();
        choose_stored();
    }

    constexpr int kernel_count() const { return kernels_.size(); }
    constexpr place const& kernel(int k) const { return kernels_.at[k]; }
    /// The kernel that computes a node where it is stored; -1 for what no fused kernel computes.
    constexpr int kernel_of(node_id id) const { return kernel_of_.at[id]; }

    constexpr int level_of(node_id id) const { return place_of(id).level; }
    constexpr bool is_needed(node_id id) const { return users_.at[id] != nobody; }
    /// Whether results depend on the elements of a node, or on what a branch or loop does.
    constexpr bool is_read(node_id id) const { return read_.at[id]; }

    /// Whether a fused kernel computes this node: elementwise operations and reductions.
    constexpr bool is_fusible(node_id id) const {
        op_kind const kind = kinds_.at[id];
        return kind == op_kind::elementwise || kind == op_kind::reduction;
    }

    // Of each node, as arrays: a schedule looks up more than constant evaluation likes to call.

    constexpr bool const* stored() const { return stored_.at; }
    /// The kind of a node for the kernels of this region: what another region computes is there, like an argument.
    constexpr op_kind const* kinds() const { return kinds_.at; }
    /// How many of its inputs, the first ones, lend it their elements.
    constexpr int const* data_inputs() const { return data_inputs_.at; }

    /// Whether a reduction folds the last axes of its input: the columns of a row kernel.
    constexpr bool folds_last_axes(node_id id) const {
        shape const& extents = g_.input_shape(g_.nodes[id], 0);
        int last = extents.rank - 1;
        while (last >= 0 && extents[last] == 1) {
            --last;
        }
        return last < 0 || graph::contains(g_.nodes[id].attribute, last);
    }

private:
    static constexpr int nobody = -1;
    static constexpr int several = -2;
    static constexpr int nowhere = 0; // the number of the place of what no kernel computes, and of what all may repeat

    /// What all rules ask of each node, and more often than constant evaluation likes to look up.
    constexpr void find_kinds() {
        bool has_indices = false;
        for (node_id id = 0; id < g_.node_count; ++id) {
            node const& n = g_.nodes[id];
            bool const is_given = n.region != g_.entry || n.op == code_of<ops::parameter> || n.op == code_of<ops::item>;
            op_info const& operation = info(n.op);
            kinds_.at[id] = is_given ? op_kind::source : operation.kind;
            data_inputs_.at[id] = data_input_count(n, operation);
            has_indices |= n.op == code_of<ops::iota> && !is_given;
            has_rolls_ |= n.op == code_of<ops::roll> && !is_given;
        }
        if (has_indices) {
            find_counted();
        }
        if (has_rolls_) {
            find_rolled_views();
        }
        for (int i = 0; i < g_.shape_count; ++i) {
            unnamed_.at[i] = has_unnamed(g_.shapes[i]);
        }
    }

    /// Indices of vectors that only elementwise work on as many elements reads are such work themselves. (Kernels over
    /// several rows that counted could not have lanes along those.)
    constexpr void find_counted() {
        sequence<bool> counted(g_.node_count);
        for (node_id id = 0; id < g_.node_count; ++id) {
            shape const& extents = g_.shape(id);
            counted.at[id] = g_.nodes[id].op == code_of<ops::iota> && g_.nodes[id].region == g_.entry &&
                             extents.rank == 1 && (!is_static(extents[0]) || extents[0] >= least_counted_indices);
            for (int k = 0; k < data_inputs_.at[id]; ++k) {
                node_id const input = g_.input(id, k);
                counted.at[input] &=
                    kinds_.at[id] == op_kind::elementwise && g_.nodes[input].shape == g_.nodes[id].shape;
            }
        }
        for (int i = 0; i < g_.output_count; ++i) {
            counted.at[g_.outputs[i]] = false;
        }
        for (node_id id = 0; id < g_.node_count; ++id) {
            kinds_.at[id] = counted.at[id] ? op_kind::elementwise : kinds_.at[id];
        }
    }

    /// What is rolled by numbers that the compiler knows, and read by elementwise work of its shape alone, is a view.
    constexpr void find_rolled_views() {
        sequence<bool> views(g_.node_count);
        for (node_id id = 0; id < g_.node_count; ++id) {
            views.at[id] = kinds_.at[id] == op_kind::movement && is_known_roll(g_, id);
        }
        for (int i = 0; i < g_.output_count; ++i) {
            views.at[g_.outputs[i]] = false;
        }
        for (node_id id = 0; id < g_.node_count; ++id) {
            node const& n = g_.nodes[id];
            for (int k = 0; k < n.input_count && !is_shape_input(n, k); ++k) {
                node_id const input = g_.input(n, k);
                views.at[input] &= kinds_.at[id] == op_kind::elementwise && g_.nodes[input].shape == n.shape;
            }
        }
        for (node_id id = 0; id < g_.node_count; ++id) {
            kinds_.at[id] = views.at[id] ? op_kind::view : kinds_.at[id];
        }
    }

    /// Whether a node is elementwise work on a rolled view, or on such work. Ranges of its space read other places of
    /// memory, as reductions along it and tiles of products do not.
    constexpr bool reads_rolled(node_id id) const {
        bool reads = false;
        for (int k = 0; kinds_.at[id] == op_kind::elementwise && k < data_inputs_.at[id]; ++k) {
            node_id const input = g_.input(id, k);
            reads |= reads_rolled_.at[input] ||
                     (kinds_.at[input] == op_kind::view && g_.nodes[input].op == code_of<ops::roll>);
        }
        return reads;
    }

    /// Which nodes broadcast into elementwise work, they or what is computed of them element by element.
    constexpr void find_stretched() {
        for (node_id id = g_.node_count - 1; id >= 0; --id) {
            for (int k = 0; kinds_.at[id] == op_kind::elementwise && k < data_inputs_.at[id]; ++k) {
                node_id const input = g_.input(id, k);
                stretched_.at[input] |= stretched_.at[id] || g_.nodes[input].shape != g_.nodes[id].shape;
            }
        }
    }

    /// Which nodes have the same extents: themselves, what is rolled, and those that meet, wherever they do if
    /// `meet_as_equals`. In a gradient what reads two arrays may come before what tells that these have the same
    /// extents.
    constexpr void find_same_extents(bool meet_as_equals) {
        for (node_id id = 0; id < g_.node_count; ++id) {
            node const& n = g_.nodes[id];
            same_extents_.at[id] = n.op == code_of<ops::roll> ? same_extents(g_.input(n, 0)) : id;
            if (meet_as_equals && kinds_.at[id] == op_kind::elementwise && unnamed_.at[n.shape]) {
                anchor_of(id, n);
            }
        }
    }

    // ---- places

    /// Where a node runs. Nodes have the numbers of their places: most have the place of an input.
    constexpr place const& place_of(node_id id) const { return places_.at[place_numbers_.at[id]]; }

    /// The number of a place, a new one for a new place.
    constexpr int number_of(place const& p) {
        int const known = find(places_, p);
        if (known >= 0) {
            return known;
        }
        places_.push_back(p);
        return places_.size() - 1;
    }

    constexpr int find_place(node_id id, node const& n) {
        switch (kinds_.at[id]) {
        case op_kind::source: return nowhere;
        case op_kind::elementwise: return place_of_elementwise(id, n);
        case op_kind::reduction: return number_of_reduction(id, n);
        case op_kind::border: {
            place p;
            p.level = n.op == code_of<ops::yield> ? 0 : place_of(g_.input(n, 0)).level;
            return number_of(p);
        }
        default: {
            place p;
            p.level = level_after_inputs(id, n);
            if (n.op == code_of<ops::matmul>) {
                p.space = n.shape;
                p.product = id;
                p.anchor = unnamed_.at[p.space] ? id : -1;
            }
            return number_of(p);
        }
        }
    }

    /// The level of a node that reads its inputs from memory. A view is there as soon as what it views is.
    constexpr int level_after_inputs(node_id id, node const& n) const {
        int level = 0;
        for (int k = 0; k < data_inputs_.at[id]; ++k) {
            int const after = levels_after_.at[g_.input(n, k)];
            level = after > level ? after : level;
        }
        return level;
    }

    /// Whether a node is a scalar that any kernel can compute anew: no kernel has to run before those that use it.
    constexpr bool is_repeated(node_id id, node const& n) const {
        bool is = g_.shapes[n.shape].rank == 0 && kinds_.at[id] == op_kind::elementwise && !stored_.at[id] &&
                  costs_.at[id] <= cheap_scalar_to_repeat;
        for (int k = 0; is && k < data_inputs_.at[id]; ++k) {
            node_id const input = g_.input(n, k);
            is = kinds_.at[input] == op_kind::source || repeated_.at[input];
        }
        return is;
    }

    /// The first level at which a node can be read from memory, or computed anew.
    constexpr int level_after(node_id id) const {
        if (repeated_.at[id]) {
            return 0;
        }
        switch (kinds_.at[id]) {
        case op_kind::source: return 0;
        case op_kind::view: return place_of(id).level;
        default: return place_of(id).level + 1;
        }
    }

    constexpr int place_of_elementwise(node_id id, node const& n) {
        int from_memory = 0;  // the level if no input's kernel is joined
        int from_others = 0;  // the level of what no kernel computes
        int highest = -1;     // the highest level of a kernel that might be joined: what is below is stored by then
        int common = nowhere; // the place of all inputs of that level
        node_id const* const inputs = g_.inputs_of(n);
        for (int k = 0; k < data_inputs_.at[id]; ++k) {
            node_id const input = inputs[k];
            int const number = place_numbers_.at[input];
            place const& p = places_.at[number];
            int const after = levels_after_.at[input];
            from_memory = after > from_memory ? after : from_memory;
            if (p.space < 0) {
                from_others = after > from_others ? after : from_others;
            } else if (p.level >= highest) {
                common = p.level > highest || number == common ? number : several;
                highest = p.level;
            }
        }
        node_id const anchor = unnamed_.at[n.shape] ? anchor_of(id, n) : -1;
        if (highest >= from_others && !gains_from_lanes(id, n, highest)) {
            int const joined = common != several ? may_join(places_.at[common], n) ? common : nowhere
                                                 : place_with_inputs(id, n, highest);
            bool const suits = joined != nowhere && (!reads_rolled_.at[id] || places_.at[joined].is_elementwise());
            if (suits && (anchor < 0 || places_.at[joined].space != n.shape || meets(joined, anchor))) {
                return joined;
            }
        }
        place own;
        own.level = from_memory;
        own.space = n.shape;
        own.anchor = anchor;
        return number_of(own);
    }

    /// Whether a node is costly, and one value for each of many rows that kernels of a level reduce at little cost and
    /// do not walk again for it.
    constexpr bool gains_from_lanes(node_id id, node const& n, int level) const {
        shape const& rows = g_.shapes[n.shape];
        if (info(n.op).cost < costly_in_all_lanes || stretched_.at[id] ||
            (rows.is_static() && rows.size() < least_rows_in_lanes)) {
            return false;
        }
        bool is_by_row = false;
        for (int k = 0; k < data_inputs_.at[id]; ++k) {
            place const& p = place_of(g_.input(n, k));
            is_by_row |= p.level == level && p.reduced_axes != 0 && p.space != n.shape;
        }
        return is_by_row && walk_costs_.at[id] < costly_in_all_lanes;
    }

    /// The most that an element costs of those that a node, or what it is computed of, folds.
    constexpr int walk_cost_of(node_id id, node const& n) const {
        int cost = 0;
        for (int k = 0; k < data_inputs_.at[id]; ++k) {
            node_id const input = g_.input(n, k);
            int const its = kinds_.at[id] == op_kind::reduction ? costs_.at[input] : walk_costs_.at[input];
            cost = its > cost ? its : cost;
        }
        return cost;
    }

    /// The number of a place where a node can be computed with all inputs of a level, or `nowhere`.
    constexpr int place_with_inputs(node_id id, node const& n, int level) {
        place candidate;
        candidate.level = level;
        bool joins_full = false; // some input has a value for each point of the space
        for (int k = 0; k < data_inputs_.at[id]; ++k) {
            node_id const input = g_.input(n, k);
            place const& p = place_of(input);
            if (p.space < 0 || p.level < level) {
                continue;
            }
            bool const is_full = g_.nodes[input].shape == p.space;
            if (!join(candidate, p, is_full && joins_full)) {
                return nowhere;
            }
            joins_full |= is_full;
        }
        return fits(n.shape, candidate) ? number_of(candidate) : nowhere;
    }

    /// Whether a node that has the extents of `anchor` has those of the space of a place too. Values of one row may
    /// meet others of another length.
    constexpr bool meets(int place, node_id anchor) const {
        return same_extents(anchor) == same_extents(places_.at[place].anchor);
    }

    /// Whether a node can be computed where all its inputs of that level are.
    constexpr bool may_join(place const& p, node const& n) const {
        return p.reduction < 0 && holds_its_values(p) && fits(n.shape, p);
    }

    /// Whether a kernel has its values for other work: a tile of a product does not hold whole rows, and of a product
    /// of one column, a vector, it holds one element in each register. Many rows of a few elements it does not hold
    /// either: registers that hold several rows, and work on those, take a fifth of the time (1000 rows of 3 floats).
    constexpr bool holds_its_values(place const& p) const {
        return p.product < 0 || (p.reduced_axes == 0 && !has_short_rows(g_.shapes[p.space]));
    }

    static constexpr bool has_short_rows(shape const& product) {
        extent_t const columns = product[product.rank - 1], rows = product[product.rank - 2];
        return columns == 1 || (is_static(columns) && columns <= 4 && !is_static(rows));
    }

    /// A node with the extents of this one, which are dynamic: an input of the same declared shape, or itself. Such
    /// inputs meet here: they have the same extents from now on.
    constexpr node_id anchor_of(node_id id, node const& n) {
        node_id anchor = n.op == code_of<ops::broadcast_like> ? same_extents(g_.input(n, 1)) : -1;
        node_id const* const inputs = g_.inputs_of(n);
        for (int k = 0; k < data_inputs_.at[id]; ++k) {
            node_id const input = inputs[k];
            if (g_.nodes[input].shape == n.shape) {
                node_id const its = same_extents(input);
                anchor = anchor < 0 ? its : anchor;
                same_extents_.at[its] = anchor;
            }
        }
        if (anchor >= 0) {
            same_extents_.at[id] = anchor;
        }
        return anchor >= 0 ? anchor : id;
    }

    static constexpr bool has_unnamed(shape const& s) {
        for (int axis = 0; axis < s.rank; ++axis) {
            if (s[axis] == dyn) {
                return true;
            }
        }
        return false;
    }

    /// The first of the nodes that have this one's extents.
    constexpr node_id same_extents(node_id id) const {
        while (id >= 0 && same_extents_.at[id] != id) {
            id = same_extents_.at[id];
        }
        return id;
    }

    /// Makes `candidate` a place where `p` is too, if there is one. `meets`: values of both spaces meet, which are
    /// equal then; the sums of two arrays meet whatever the lengths of those.
    constexpr bool join(place& candidate, place const& p, bool meets) {
        if (p.reduction >= 0 || (candidate.space >= 0 && candidate.space != p.space)) {
            return false;
        }
        if (candidate.space >= 0 && p.anchor >= 0 && same_extents(p.anchor) != same_extents(candidate.anchor)) {
            if (!meets) {
                return false;
            }
            same_extents_.at[same_extents(p.anchor)] = same_extents(candidate.anchor);
        }
        candidate.space = p.space;
        candidate.anchor = same_extents(p.anchor);
        if (p.reduced_axes != 0) {
            if (candidate.reduced_axes != 0 && candidate.reduced_axes != p.reduced_axes) {
                return false;
            }
            candidate.reduced_axes = p.reduced_axes;
        }
        if (p.product >= 0) {
            if (candidate.product >= 0 && candidate.product != p.product) {
                return false;
            }
            candidate.product = p.product;
        }
        return holds_its_values(candidate);
    }

    /// Whether values of this shape exist in a kernel: its whole space, or one value a row.
    constexpr bool fits(int shape_index, place const& p) const {
        if (shape_index == p.space) {
            return true;
        }
        shape const& s = g_.shapes[shape_index];
        shape const& space = g_.shapes[p.space];
        if (p.reduced_axes == 0 || s.rank != space.rank) {
            return false;
        }
        for (int axis = 0; axis < s.rank; ++axis) {
            if (s[axis] != (axis < s.rank - p.reduced_axes ? space[axis] : 1)) {
                return false;
            }
        }
        return true;
    }

    constexpr int number_of_reduction(node_id id, node const& n) {
        place const own = place_of_reduction(id, n);
        int const beside = own.reduction < 0 || !suits_one_walk(n) ? nowhere : place_beside(own, n);
        return beside != nowhere ? beside : number_of(own);
    }

    /// The number of a place that folds the same rows of something that this reduction reads, too, so that memory is
    /// read once; or `nowhere`.
    constexpr int place_beside(place const& own, node const& n) const {
        int number = nowhere;
        int earliest = 0;
        sequence<bool> reads; // computed for the first candidate: most reductions have none
        for (node_id other = 0; other < own.reduction; ++other) {
            place const& p = place_of(other);
            bool const is_candidate = kinds_.at[other] == op_kind::reduction && p.reduction >= 0 &&
                                      p.space == own.space && g_.nodes[other].attribute == n.attribute &&
                                      same_extents(p.anchor) == same_extents(own.anchor) &&
                                      suits_one_walk(g_.nodes[other]);
            if (!is_candidate) {
                continue;
            }
            if (reads.size() == 0) {
                earliest = find_reads(own, reads);
            }
            if (p.level >= earliest && reads_some(g_.input(other, 0), reads, own.space)) {
                number = place_numbers_.at[other];
                break;
            }
        }
        int count = 0;
        for (node_id other = 0; other < own.reduction; ++other) {
            count += place_numbers_.at[other] == number ? 1 : 0;
        }
        return count < most_reductions_beside ? number : nowhere;
    }

    /// Whether a reduction may have others beside it: of a few columns some run one by one, and repeat what they share.
    constexpr bool suits_one_walk(node const& n) const {
        node_id const input = g_.input(n, 0);
        if (costs_.at[input] <= cheap_to_repeat) {
            return true;
        }
        shape const& extents = g_.shape(input);
        extent_t columns = 1;
        for (int axis = extents.rank - 1; axis >= 0 && !graph::contains(n.attribute, axis); --axis) {
            if (!is_static(extents[axis])) {
                return false;
            }
            columns *= extents[axis];
        }
        return columns >= least_columns_of_costly_walks;
    }

    /// Marks all that a reduction's kernel might read, or compute. Returns the first level at which what it will not
    /// compute is there.
    constexpr int find_reads(place const& own, sequence<bool>& reads) const {
        node_id const input = g_.input(own.reduction, 0);
        sequence<bool> is_inlined(g_.node_count); // whatever else uses it
        reads.resize(g_.node_count);
        reads.at[input] = is_inlined.at[input] = true;
        int earliest = 0;
        for (node_id id = input; id >= 0; --id) {
            if (!reads.at[id]) {
                continue;
            }
            bool const is_cheap =
                kinds_.at[id] == op_kind::elementwise && !stored_.at[id] && costs_.at[id] <= cheap_to_repeat;
            if (is_inlined.at[id] && !is_cheap) {
                earliest = levels_after_.at[id] > earliest ? levels_after_.at[id] : earliest;
            }
            for (int k = 0; kinds_.at[id] == op_kind::elementwise && k < data_inputs_.at[id]; ++k) {
                reads.at[g_.input(id, k)] = true;
                is_inlined.at[g_.input(id, k)] |= is_inlined.at[id] && is_cheap;
            }
        }
        return earliest;
    }

    /// Whether a node, or what it is computed from, is among those that have one value for each point of a space.
    constexpr bool reads_some(node_id last, sequence<bool> const& reads, int space) const {
        sequence<bool> is_read(last + 1);
        is_read.at[last] = true;
        for (node_id id = last; id >= 0; --id) {
            if (is_read.at[id] && reads.at[id] && g_.nodes[id].shape == space) {
                return true;
            }
            for (int k = 0; is_read.at[id] && kinds_.at[id] == op_kind::elementwise && k < data_inputs_.at[id]; ++k) {
                is_read.at[g_.input(id, k)] = true;
            }
        }
        return false;
    }

    constexpr place place_of_reduction(node_id id, node const& n) {
        node_id const input = g_.input(n, 0);
        place const& p = place_of(input);
        place own;
        own.space = g_.nodes[input].shape;
        own.level = levels_after_.at[input];
        own.anchor = unnamed_.at[own.space] ? same_extents(p.space == own.space ? p.anchor : input) : -1;
        if (!folds_last_axes(id)) {
            own.reduction = id;
            return own;
        }
        shape const& extents = g_.shape(input);
        int first = extents.rank;
        while (first > 0 && (graph::contains(n.attribute, first - 1) || extents[first - 1] == 1)) {
            --first;
        }
        own.reduced_axes = extents.rank - first;
        bool const joins = p.space == own.space && !reads_rolled_.at[input] && p.product < 0 && p.reduction < 0 &&
                           (p.reduced_axes == 0 || p.reduced_axes == own.reduced_axes) &&
                           phases_.at[input] + 2 <= max_phases;
        if (joins) {
            own.level = p.level;
        }
        return own;
    }

    /// How many reductions of its own kernel a node waits for, one after the other.
    constexpr int phase_of(node_id id, node const& n) const {
        place const& own = places_.at[place_numbers_.at[id]];
        int phase = 0;
        for (int k = 0; own.reduced_axes != 0 && k < data_inputs_.at[id]; ++k) {
            node_id const input = g_.input(n, k);
            if (place_of(input).space >= 0 && place_of(input).level == own.level) {
                int const after = phases_.at[input] + (kinds_.at[input] == op_kind::reduction ? 1 : 0);
                phase = after > phase ? after : phase;
            }
        }
        return phase;
    }

    // ---- kernels

    /// Places whose extents have turned out to be equal are one kernel.
    constexpr void number_kernels() {
        sequence<int> kernel_of_place;
        for (place& p : places_) {
            p.anchor = same_extents(p.anchor);
            int const known = p.space < 0 ? -1 : find(kernels_, p);
            if (p.space >= 0 && known < 0) {
                kernels_.push_back(p);
            }
            kernel_of_place.push_back(p.space < 0 ? -1 : known < 0 ? kernels_.size() - 1 : known);
        }
        kernel_of_.resize(g_.node_count);
        for (node_id id = 0; id < g_.node_count; ++id) {
            kernel_of_.at[id] = kernel_of_place.at[place_numbers_.at[id]];
        }
    }

    /// Elementwise work of a level runs in the kernel that reduces the rows of the same space.
    constexpr void unite_elementwise_with_rows() {
        sequence<int> united(kernels_.size()); // the kernel that a kernel becomes a part of
        bool is_any = false;
        sequence<bool> stays_alone(kernels_.size());
        for (node_id id = 0; has_rolls_ && id < g_.node_count; ++id) {
            if (reads_rolled_.at[id]) {
                stays_alone.at[kernel_of_.at[id]] = true;
            }
        }
        for (int k = 0; k < kernels_.size(); ++k) {
            united.at[k] = k;
            place const& p = kernels_.at[k];
            if (!p.is_elementwise() || stays_alone.at[k]) {
                continue;
            }
            for (int other = 0; other < kernels_.size(); ++other) {
                place const& rows = kernels_.at[other];
                if (rows.reduced_axes != 0 && rows.reduction < 0 && rows.space == p.space && rows.level == p.level &&
                    rows.anchor == p.anchor) {
                    united.at[k] = other;
                    is_any = true;
                    break;
                }
            }
        }
        for (node_id id = 0; is_any && id < g_.node_count; ++id) {
            kernel_of_.at[id] = kernel_of_.at[id] < 0 ? -1 : united.at[kernel_of_.at[id]];
        }
    }

    // ---- what is stored

    /// Instructions to recompute a node from what is stored or may be recomputed. What broadcasts into it is stored if
    /// it is not cheap.
    constexpr int cost_of(node_id id, node const& n) const {
        if (kinds_.at[id] != op_kind::elementwise) {
            return 0;
        }
        // Elements are not counted, nor is what is rolled read, in other spaces.
        bool const is_bound = n.op == code_of<ops::iota> || reads_rolled_.at[id];
        int cost = n.op == code_of<ops::iota> ? 0 : info(n.op).cost;
        cost = is_bound && cost <= cheap_to_repeat ? cheap_to_repeat + 1 : cost;
        node_id const* const inputs = g_.inputs_of(n);
        for (int k = 0; k < data_inputs_.at[id]; ++k) {
            int const of_input = costs_.at[inputs[k]];
            bool const is_stored = g_.nodes[inputs[k]].shape != n.shape && of_input > cheap_to_repeat;
            cost += is_stored ? 0 : of_input;
        }
        return cost < 1000 ? cost : 1000;
    }

    /// Walks back from the outputs: who uses a node decides whether it is stored or computed where it is used.
    constexpr void choose_stored() {
        deep_.resize(g_.node_count);
        if (has_reductions_or_products()) {
            find_deep();
        }
        for (node_id id = g_.node_count - 1; id >= 0; --id) {
            if (users_.at[id] == nobody) {
                continue;
            }
            bool const is_product = kinds_.at[id] == op_kind::contraction;
            bool const may_be_fused = is_fusible(id);
            if (!stored_.at[id]) {
                stored_.at[id] = is_product ? users_.at[id] != kernel_of_.at[id] : !may_be_fused || !may_be_inlined(id);
            }
            if (may_be_fused) {
                int const user = stored_.at[id] ? kernel_of_.at[id] : users_.at[id];
                node_id const* const inputs = g_.inputs_of(g_.nodes[id]);
                for (int k = 0; k < data_inputs_.at[id]; ++k) {
                    int& users = users_.at[inputs[k]];
                    users = users == nobody || users == user ? user : several;
                }
            }
        }
    }

    /// What results depend on; of other nodes only the shapes count, and no kernel computes them.
    constexpr void find_read() {
        read_.resize(g_.node_count);
        for (int i = 0; i < g_.output_count; ++i) {
            read_.at[g_.outputs[i]] = true;
        }
        for (node_id id = g_.node_count - 1; id >= 0; --id) {
            if (!read_.at[id]) {
                continue;
            }
            node const& n = g_.nodes[id];
            node_id const* const inputs = g_.inputs_of(n);
            bool const is_elementwise = kinds_.at[id] == op_kind::elementwise; // most nodes
            int const count = is_elementwise ? data_inputs_.at[id] : graph::read_input_count(n);
            for (int k = 0; k < count; ++k) {
                read_.at[inputs[k]] = true;
            }
        }
    }

    /// Outputs, and what matrix products, views, movements and regions read.
    constexpr void store_what_memory_is_read_for() {
        users_.resize(g_.node_count);
        stored_.resize(g_.node_count);
        for (int& user : users_) {
            user = nobody;
        }
        find_read();
        for (int i = 0; i < g_.output_count; ++i) {
            store(g_.outputs[i]);
        }
        for (node_id id = 0; id < g_.node_count; ++id) {
            op_kind const kind = kinds_.at[id];
            bool const reads_memory = kind != op_kind::elementwise && kind != op_kind::reduction &&
                                      kind != op_kind::source && kind != op_kind::border && read_.at[id];
            for (int k = 0; reads_memory && k < data_inputs_.at[id]; ++k) {
                store(g_.input(id, k));
            }
        }
    }

    constexpr bool has_reductions_or_products() const {
        bool has = false;
        for (place const& p : kernels_) {
            has |= p.reduced_axes != 0 || p.reduction >= 0 || p.product >= 0;
        }
        return has;
    }

    /// A node is deep in its kernel if a reduction or a product's tile stands between it and memory: to compute it
    /// elsewhere, those would have to be stored instead of it.
    constexpr void find_deep() {
        sequence<bool> used_elsewhere(g_.node_count);
        for (node_id id = 0; id < g_.node_count; ++id) {
            node const& n = g_.nodes[id];
            if (!read_.at[id] || n.region != g_.entry) {
                continue;
            }
            int const kernel = kernel_of_.at[id];
            for (int k = 0; k < data_inputs_.at[id]; ++k) {
                node_id const input = g_.input(n, k);
                if (kernel_of_.at[input] != kernel) {
                    used_elsewhere.at[input] = true;
                }
            }
        }
        for (node_id id = 0; id < g_.node_count; ++id) {
            int const kernel = is_fusible(id) ? kernel_of_.at[id] : -1;
            for (int k = 0; kernel >= 0 && k < data_inputs_.at[id]; ++k) {
                node_id const input = g_.input(id, k);
                if (kernel_of_.at[input] == kernel && !stored_.at[input] &&
                    (kinds_.at[input] != op_kind::elementwise || deep_.at[input])) {
                    deep_.at[id] = true;
                }
            }
            stored_.at[id] |= deep_.at[id] && used_elsewhere.at[id];
        }
    }

    constexpr void store(node_id id) {
        stored_.at[id] = true;
        users_.at[id] = several;
    }

    constexpr bool may_be_inlined(node_id id) const {
        int const user = users_.at[id];
        if (user >= 0 && user == kernel_of_.at[id]) {
            return true;
        }
        if (deep_.at[id] || kinds_.at[id] == op_kind::reduction) {
            return false;
        }
        if (g_.shape(id).rank == 0) {
            return user >= 0 || costs_.at[id] <= cheap_scalar_to_repeat;
        }
        bool const may_be_there = user >= 0 && (!reads_rolled_.at[id] || kernels_.at[user].is_elementwise());
        return (may_be_there && g_.nodes[id].shape == kernels_.at[user].space) || costs_.at[id] <= cheap_to_repeat;
    }

    Graph g_;
    sequence<op_kind> kinds_;
    sequence<int> data_inputs_;
    sequence<bool> unnamed_; // by shape: whether it has a dynamic extent without a name
    sequence<place> places_; // those that differ
    sequence<int> place_numbers_;
    sequence<int> levels_after_; // the first level at which a node can be read from memory, or computed anew
    sequence<int> phases_;
    sequence<node_id> same_extents_; // an earlier node with equal extents, or the node itself
    sequence<int> costs_;
    sequence<bool> repeated_;
    sequence<int> walk_costs_; // the most that an element costs of those that it folds, or what it is computed of
    sequence<bool> stretched_; // broadcasts into elementwise work, it or what is computed of it
    bool has_rolls_;
    sequence<bool> reads_rolled_; // what is rolled and read where it lies, it or what it is computed of
    sequence<int> kernel_of_;
    sequence<place> kernels_;
    sequence<int> users_; // the one kernel that uses a node, or `nobody` or `several`
    sequence<bool> read_;
    sequence<bool> stored_;
    sequence<bool> deep_;
};

} // namespace detail
} // namespace passes
} // namespace v0
} // namespace calque
