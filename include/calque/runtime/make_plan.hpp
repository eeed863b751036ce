// SPDX-License-Identifier: MIT
// Makes a plan: from the concrete shapes of a call to places in memory, loops and copies. Works in constant evaluation.
#pragma once

#include <calque/core/small_buffer.hpp>
#include <calque/kernels/cpu/copy_runs.hpp>
#include <calque/kernels/cpu/past_caches.hpp>
#include <calque/runtime/iteration.hpp>
#include <calque/runtime/memory.hpp>
#include <calque/runtime/plan_needs.hpp>
#include <calque/runtime/spaced_views.hpp>

#include <utility>

namespace calque {
inline namespace v0 {
namespace runtime {

/// How a matrix product runs, and the workspace that it needs.
struct product_choice {
    kernels::matmul_variant variant;
    std::size_t workspace_bytes;
};

/// How a fused kernel over rows runs, and the scratch that it needs.
struct row_choice {
    kernels::row_variant variant{};
    std::size_t scratch_bytes = 0;
};

/// How the kernel of a row in pieces runs these.
struct pieces_choice {
    std::ptrdiff_t scratch_bytes = -1; // -1: there is none
    bool are_in_lockstep = false;
};

/// What a plan is made from: the program, and the arguments of one call.
struct plan_input {
    graph::graph_view g;
    graph::schedule_view schedule;
    shape const* shapes = nullptr;                     // of every node
    calque::strides const* argument_strides = nullptr; // by argument
    int argument_count = 0;
    row_choice (*choose_rows)(int group, std::ptrdiff_t rows, std::ptrdiff_t columns) = nullptr;
    product_choice (*choose_product)(int group, std::ptrdiff_t count, std::ptrdiff_t rows, std::ptrdiff_t columns,
                                     std::ptrdiff_t depth, kernels::matrix_strides a,
                                     kernels::matrix_strides b) = nullptr; // `count` products of one size
    bool (*pass_caches)(int group, std::ptrdiff_t rows, std::ptrdiff_t columns) = nullptr; // what no cache holds
    bool (*may_broadcast)(int group) = nullptr; // leaves of one element a row
    pieces_choice (*choose_pieces)(int group, std::ptrdiff_t pieces, std::ptrdiff_t columns) = nullptr;
    unsigned (*spacings)(int group) = nullptr;       // how far columns of leaves may stand apart, as bits
    calque::strides const* output_strides = nullptr; // of outputs, which may have gaps between rows
    bool keeps_orders = false; // of axes, of arguments, in outputs too: who reads these knows that
};

/// Where a stored value lies in every call, so that the compiler knows it: arguments, outputs and scalars do so. Of all
/// others the base is -1.
constexpr location fixed_place(graph::schedule_view const& schedule, int argument_count, int v) {
    graph::stored_value const& s = schedule.values[v];
    switch (s.kind) {
    case graph::storage_kind::argument: return {s.argument, 0};
    case graph::storage_kind::buffer: return s.output < 0 ? location{} : location{argument_count + s.output, 0};
    case graph::storage_kind::constant:
    case graph::storage_kind::count:
        return {argument_count + schedule.output_count + 1, static_cast<std::ptrdiff_t>(sizeof(std::uint64_t)) * v};
    default: return {};
    }
}

/// `Needs`: what is left out is not asked of this planner. Programs with equal needs share it.
template <plan_needs Needs = plan_needs{}>
class planner {
public:
    constexpr planner(plan_input const& in, plan_view const& out)
        : in_(in), out_(out), memory_(in.schedule.value_count + in.schedule.leaf_count()),
          results_in_place_(in.schedule.value_count) {}

    constexpr void run() {
        if constexpr (Needs.margins) {
            find_results_in_place();
        }
        for (int v = 0; v < in_.schedule.value_count; ++v) {
            place_value(v);
        }
        for (int k = 0; k < in_.schedule.group_count; ++k) {
            plan_group(k);
        }
        *out_.workspace_offset = memory_.total();
        *out_.arena_bytes = memory_.total() + workspace_;
    }

    /// What `run` has found to be copied.
    constexpr sequence<copy_plan>& copies() { return copies_; }

private:
    template <class T>
    using leaf_buffer = small_buffer<T, 8>;

    constexpr graph::stored_value const& stored(int v) const { return in_.schedule.values[v]; }
    constexpr dtype type_of_value(int v) const { return in_.g[stored(v).node].type; }

    constexpr int arena() const { return in_.argument_count + in_.schedule.output_count; }

    // ---- values

    constexpr void place_value(int v) {
        graph::stored_value const& s = stored(v);
        value_plan& place = out_.values[v];
        place.at = fixed_place(in_.schedule, in_.argument_count, v);
        place.extents = in_.shapes[s.node];
        switch (s.kind) {
        case graph::storage_kind::argument:
            place.steps = in_.argument_strides[s.argument];
            has_other_order_ |= !is_contiguous(place.extents, place.steps);
            break;
        case graph::storage_kind::constant:
            out_.scalars[v] = in_.g[s.node].attribute;
            place.steps = {};
            break;
        case graph::storage_kind::count:
            if constexpr (Needs.counts) {
                place_count(v, place);
            }
            break;
        case graph::storage_kind::buffer:
            place.steps = contiguous_strides(place.extents);
            if constexpr (Needs.output_gaps) {
                if (writes_gaps(s)) {
                    place.steps = in_.output_strides[s.output];
                    break; // it has memory
                }
            }
            if constexpr (Needs.margins) {
                if (place_amid_zeros(v, place) || place_in_result(v, place)) {
                    break;
                }
            }
            if constexpr (Needs.orders) {
                bool& keeps_order = out_.groups[s.made_by].keeps_order;
                if (find_order(in_.schedule.groups[s.made_by], place.steps)) {
                    keeps_order = true;
                } else if (is_product_by_columns(v)) {
                    place.steps = {{1, place.extents[0]}};
                    keeps_order = true;
                }
            }
            if constexpr (Needs.buffers) {
                if (s.output < 0) {
                    place.at = allocate(v, place.extents, s.made_by, s.last_use);
                }
            }
            break;
        case graph::storage_kind::indices: place.steps = contiguous_strides(place.extents); break;
        case graph::storage_kind::view:
            if constexpr (Needs.views) {
                bool const is_in_place =
                    place_view(in_.g, s.node, in_.shapes, out_.values[s.source], place, size_of(type_of_value(v)));
                if constexpr (Needs.copies) {
                    if (!is_in_place) {
                        copy_for_view(v);
                    }
                }
                if constexpr (Needs.rolls) {
                    if (graph::is_rolled(in_.g, in_.schedule, v) && !gains_from_ranges(v) && shift_of(v) != 0) {
                        copy_rolled(v);
                    }
                }
                has_other_order_ |= !is_contiguous(place.extents, place.steps);
            }
            break;
        }
    }

    /// Whether a value is written where an output with gaps has it.
    constexpr bool writes_gaps(graph::stored_value const& v) const {
        return v.output >= 0 && graph::is_written_by_rows(in_.schedule, v.output) &&
               may_have_gaps(v, in_.output_strides[v.output]);
    }

    /// Whether a kernel over rows can write a value with these strides, and should: to rows each of which is a run, and
    /// not so short that copies cost less.
    constexpr bool may_have_gaps(graph::stored_value const& v, calque::strides const& steps) const {
        graph::group const& x = in_.schedule.groups[v.made_by];
        shape const& space = space_of(x);
        axis_ranges const axes = axis_ranges::of(x, in_.g.shapes[x.space]);
        if (!(in_.shapes[v.node] == space) || !is_unit_run(steps, space, axes.first_column, axes.end)) {
            return false;
        }
        int first_column = axes.first_column;
        while (axes.may_merge_into_columns && first_column > 0 &&
               is_unit_run(steps, space, first_column - 1, axes.end)) {
            --first_column;
        }
        extent_t const columns = run_size(space, first_column, axes.end);
        extent_t const rows = run_size(space, 0, first_column);
        extent_t const words = words_of(in_.g[v.node].type);
        extent_t const copied = 2 * columns * words; // as much is read of other rows with gaps
        return rows == 1 || x.reduced_axes != 0 || !exceed_copies(x, rows, columns, copied, words);
    }

    // ---- values amid zeros: a kernel leaves room around what it makes, of which those who place that into zeros get
    // views

    /// Where a value is amid the zeros around it.
    struct margins {
        shape begin, all;   // the value's first index, and the extents with zeros
        int last_use = -1;  // of all that lies there
        bool exist = false; // what is placed into zeros is part of that
    };

    /// The zeros around the value `v` that all groups together ask for which place it into some.
    constexpr margins margins_around(int v) const {
        margins m;
        graph::stored_value const& s = stored(v);
        shape const& extents = in_.shapes[s.node];
        shape end; // zeros behind
        for (int axis = 0; axis < extents.rank; ++axis) {
            m.begin.push_back(0);
            end.push_back(0);
        }
        m.last_use = s.last_use;
        for (int k = 0; extents.size() != 0 && k < in_.schedule.group_count; ++k) {
            graph::group const& x = in_.schedule.groups[k];
            if (!graph::is_amid_zeros(in_.g, in_.schedule, x) || in_.schedule.leaves[x.first_leaf] != v) {
                continue;
            }
            m.exist = true;
            m.last_use = std::max(m.last_use, stored(in_.schedule.results[x.first_result]).last_use);
            for (int axis = 0; axis < extents.rank; ++axis) {
                extent_t const first = start_of_slice(x.node, axis);
                m.begin[axis] = std::max(m.begin[axis], first);
                end[axis] = std::max(end[axis], in_.shapes[x.node][axis] - first - extents[axis]);
            }
        }
        for (int axis = 0; axis < extents.rank; ++axis) {
            m.all.push_back(m.begin[axis] + extents[axis] + end[axis]);
        }
        m.exist = m.exist && may_have_gaps(s, contiguous_strides(m.all));
        return m;
    }

    constexpr extent_t start_of_slice(graph::node_id id, int axis) const {
        auto const lists = graph::slice_lists::unpack(in_.g[id].attribute);
        return graph::ops::clipped_range::clip(in_.g.shapes[lists.starts][axis], in_.g.shapes[lists.stops][axis],
                                               in_.shapes[id][axis])
            .start;
    }

    /// Places a value amid zeros, or what a group places into zeros around its operand. False if it is no such.
    constexpr bool place_amid_zeros(int v, value_plan& place) {
        graph::stored_value const& s = stored(v);
        graph::group const& x = in_.schedule.groups[s.made_by];
        bool const is_view = graph::is_amid_zeros(in_.g, in_.schedule, x);
        bool const may_be_amid = x.kind == graph::group_kind::rows && s.output < 0;
        if (!is_view && !may_be_amid) {
            return false;
        }
        int const placed = is_view ? in_.schedule.leaves[x.first_leaf] : v;
        margins const m = margins_around(placed);
        if (!m.exist || placed > v) {
            return false;
        }
        out_.groups[s.made_by].is_in_place = is_view;
        auto const bytes = static_cast<std::ptrdiff_t>(size_of(type_of_value(v)));
        place.steps = contiguous_strides(m.all);
        place.at = is_view ? out_.values[placed].at : allocate(v, m.all, s.made_by, m.last_use);
        for (int axis = 0; axis < m.all.rank; ++axis) {
            extent_t const first = is_view ? -start_of_slice(x.node, axis) : m.begin[axis];
            place.at.offset += first * place.steps[axis] * bytes;
        }
        return true;
    }

    // ---- values in the place of what a group makes of them: by setting a part, or one behind the other

    /// Finds what lies in what. Rows with gaps may be better copied.
    constexpr void find_results_in_place() {
        if (!graph::find_results_in_place(in_.g, in_.schedule, results_in_place_.data())) {
            return;
        }
        for (int v = 0; v < in_.schedule.value_count; ++v) {
            int& in = results_in_place_[v];
            if (in >= 0 && is_part_of(v, in) &&
                !may_have_gaps(stored(v), contiguous_strides(in_.shapes[stored(in).node]))) {
                in = -1;
            }
            has_results_in_place_ |= in >= 0;
        }
    }

    /// The value in whose place another one lies; -1: there is none.
    constexpr int lies_in(int v) const { return results_in_place_[v]; }

    /// Whether the group that makes a value places another one in it as a part.
    constexpr bool is_part_of(int v, int in) const {
        return in_.g.is<graph::ops::concatenate>(stored(in).node) || operand_of(in, 0) == v;
    }
    constexpr int operand_of(int v, int i) const {
        return in_.schedule.leaves[in_.schedule.groups[stored(v).made_by].first_leaf + i];
    }

    /// The index at which such a part begins along an axis.
    constexpr extent_t start_of_part(int v, int in, int axis) const {
        graph::node_id const id = stored(in).node;
        if (!in_.g.is<graph::ops::concatenate>(id)) {
            return start_of_slice(id, axis);
        }
        extent_t start = 0;
        for (int i = 0; axis == static_cast<int>(in_.g[id].attribute) && operand_of(in, i) != v; ++i) {
            start += in_.shapes[stored(operand_of(in, i)).node][axis];
        }
        return start;
    }

    /// The last value in whose place another one lies, or that one.
    constexpr int last_in(int v) const {
        for (int in = lies_in(v); in >= 0; in = lies_in(v)) {
            v = in;
        }
        return v;
    }

    /// How many bytes the first element of a value is from that of the one in whose place it lies.
    constexpr std::ptrdiff_t offset_in_result(int v) const {
        int const in = lies_in(v);
        std::ptrdiff_t elements = 0;
        if (in >= 0 && is_part_of(v, in) && in_.shapes[stored(v).node].size() != 0) {
            shape const& all = in_.shapes[stored(in).node];
            calque::strides const steps = contiguous_strides(all);
            for (int axis = 0; axis < all.rank; ++axis) {
                elements += start_of_part(v, in, axis) * steps[axis];
            }
        }
        return elements * static_cast<std::ptrdiff_t>(size_of(type_of_value(v)));
    }

    /// Places a value in the place of a result, or such a result. False if it is no such.
    constexpr bool place_in_result(int v, value_plan& place) {
        if (!has_results_in_place_) {
            return false;
        }
        int const last = last_in(v);
        int first = v; // the value of the lowest number that lies there
        int first_group = stored(v).made_by;
        for (int other = 0; other < in_.schedule.value_count; ++other) {
            if (stored(other).kind == graph::storage_kind::buffer && last_in(other) == last) {
                first = std::min(first, other);
                first_group = std::min(first_group, stored(other).made_by);
            }
        }
        if (last == v && first == v) {
            return false;
        }
        place.at = fixed_place(in_.schedule, in_.argument_count, last);
        if (place.at.base < 0) {
            shape const& all = in_.shapes[stored(last).node];
            place.at = first != v ? out_.values[first].at : allocate(v, all, first_group, stored(last).last_use);
            place.at.offset -= first != v ? offset_in_result(first) : 0;
        }
        place.at.offset += offset_in_result(v);
        place.steps = contiguous_strides(in_.shapes[stored(last).node]);
        if (int const in = lies_in(v); in >= 0) {
            out_.groups[stored(in).made_by].is_in_place = true;
        }
        return true;
    }

    constexpr void place_count(int v, value_plan& place) {
        graph::node const& n = in_.g[stored(v).node];
        extent_t const count = graph::ops::element_count::count(in_.shapes[in_.g.input(n, 0)], n.attribute);
        out_.scalars[v] = graph::constant_bits(n.type, count);
        place.steps = {};
    }

    constexpr location allocate(int v, shape const& extents, int first_group, int last_group) {
        std::size_t const bytes = static_cast<std::size_t>(extents.size()) * size_of(type_of_value(v));
        return {arena(), static_cast<std::ptrdiff_t>(memory_.place(bytes, first_group, last_group))};
    }

    /// A reshape of elements that are not evenly spaced: they are copied when what they come from is there.
    constexpr void copy_for_view(int v) {
        graph::stored_value const& s = stored(v);
        value_plan& place = out_.values[v];
        value_plan const& source = out_.values[s.source];
        place.steps = contiguous_strides(place.extents);
        place.at = allocate(v, place.extents, s.made_by, s.last_use);
        add_copy(s.made_by + 1, source.at, source.extents, source.steps, place.at, size_of(type_of_value(v)));
    }

    constexpr void add_copy(int before_group, location from, shape const& extents, calque::strides const& steps,
                            location to, std::size_t element_bytes) {
        copies_.push_back({before_group, false, from, to, extents, steps, element_bytes, 0});
    }

    // ---- groups

    constexpr void plan_group(int k) {
        graph::group const& x = in_.schedule.groups[k];
        if constexpr (Needs.values) {
            if (x.kind == graph::group_kind::movement || x.kind == graph::group_kind::control) {
                if (in_.g.is<graph::ops::batch_matmul>(x.node)) {
                    plan_products(k, x);
                }
                return;
            }
        }
        if constexpr (Needs.several_shapes) {
            plan_loops(k, x);
        } else {
            plan_one_loop(k, x);
        }
        group_plan& plan = out_.groups[k];
        if (exceeds_caches(x, plan) && in_.pass_caches(k, plan.rows, plan.columns)) {
            plan.variant = kernels::row_variant::past_caches;
        }
    }

    /// Whether a kernel over rows reads and writes more than caches hold, all at once.
    constexpr bool exceeds_caches(graph::group const& x, group_plan const& plan) const {
        bool const is_in_pieces = plan.variant == kernels::row_variant::in_pieces;
        if (x.kind != graph::group_kind::rows || plan.outer_rank != 0 || plan.part != 0 || is_in_pieces) {
            return false;
        }
        extent_t bytes = 0; // for each point of the space
        for (int i = 0; i < x.step_count; ++i) {
            graph::step const& s = in_.schedule.steps[x.first_step + i];
            bool const is_read = s.leaf >= 0 && (plan.rows == 1 || out_.leaves[x.first_leaf + s.leaf].row_stride != 0);
            int const arrays = static_cast<int>(is_read) + static_cast<int>(s.result >= 0);
            bytes += s.varies_along_columns ? arrays * static_cast<extent_t>(size_of(s.type)) : 0;
        }
        return space_of(x).size() * bytes >= kernels::least_bytes_past_caches;
    }

    /// Whether an elementwise group reads arrays that all lie without gaps, in one order of axes, which is not
    /// row-major: Eigen's, by columns, say. What it makes gets the same strides then, `steps`, and its kernel runs
    /// straight through memory. Not if an output is to be a view of what it makes, which would have to be a copy, nor
    /// if the order is that of views inside the function whose rows are runs: these are read as they lie, while an
    /// output would be copied to rows.
    constexpr bool find_order(graph::group const& x, calque::strides& steps) const {
        if (!in_.keeps_orders || !has_other_order_ || x.kind != graph::group_kind::rows || x.reduced_axes != 0 ||
            has_rolls(x)) {
            return false;
        }
        shape const& space = space_of(x);
        leaf_buffer<bool> varies(x.leaf_count);
        find_varying(x, varies);
        calque::strides order;
        bool is_found = false;
        bool is_of_views = true;
        for (int i = 0; i < x.leaf_count; ++i) {
            int const v = in_.schedule.leaves[x.first_leaf + i];
            if (stored(v).kind == graph::storage_kind::indices) {
                return false; // counted in row-major order
            }
            if (!varies[i]) {
                if (in_.shapes[stored(v).node].size() != 1) {
                    return false; // a value a row
                }
                continue;
            }
            calque::strides const its = aligned_strides(out_.values[v], space);
            if (is_found ? !are_equal_strides(space, its, order) : !is_dense(space, its) || is_contiguous(space, its)) {
                return false;
            }
            order = its;
            is_found = true;
            is_of_views &= stored(v).kind == graph::storage_kind::view;
        }
        if (is_found && is_of_views && order[space.rank - 1] == 1 && space[space.rank - 1] >= simd::width) {
            return false;
        }
        for (int i = 0; is_found && i < x.result_count; ++i) {
            int const v = in_.schedule.results[x.first_result + i];
            int const output = stored(v).output;
            is_found = in_.shapes[stored(v).node] == space && (output < 0 || in_.schedule.outputs[output] == v);
        }
        if (is_found) {
            steps = order;
        }
        return is_found;
    }

    /// Whether a value is a product of two matrices that lie by columns, which is written by columns then: as B^T A^T.
    /// It must be an output, and nothing else: other kernels want rows.
    constexpr bool is_product_by_columns(int v) const {
        graph::stored_value const& s = stored(v);
        graph::group const& x = in_.schedule.groups[s.made_by];
        bool const is_plain = x.kind == graph::group_kind::product && x.step_count == 1;
        if (!in_.keeps_orders || !has_other_order_ || !is_plain || s.output < 0 ||
            in_.schedule.outputs[s.output] != v) {
            return false;
        }
        return !in_.schedule.is_read(v) && lies_by_columns(out_.values[in_.schedule.leaves[x.first_leaf]]) &&
               lies_by_columns(out_.values[in_.schedule.leaves[x.first_leaf + 1]]);
    }

    static constexpr bool lies_by_columns(value_plan const& v) {
        return v.extents[0] > 1 && v.extents[1] > 1 && v.steps[0] == 1;
    }

    /// All that the group reads and writes has its shape, and one order, or is a scalar: it is one long row.
    constexpr void plan_one_loop(int k, graph::group const& x) {
        out_.groups[k].rows = 1; // g++ 12 has zeros instead of what the members of some groups begin with
        out_.groups[k].columns = space_of(x).size();
        for (int i = x.first_leaf; i < x.first_leaf + x.leaf_count; ++i) {
            out_.leaves[i].at = out_.values[in_.schedule.leaves[i]].at;
        }
        for (int i = x.first_result; i < x.first_result + x.result_count; ++i) {
            out_.results[i].at = out_.values[in_.schedule.results[i]].at;
        }
    }

    constexpr void plan_loops(int k, graph::group const& x) {
        if constexpr (Needs.orders) {
            if (out_.groups[k].keeps_order && x.kind == graph::group_kind::rows) {
                plan_one_loop(k, x);
                return;
            }
        }
        group_plan& plan = out_.groups[k];
        shape const& space = space_of(x);
        axis_ranges axes = axis_ranges::of(x, in_.g.shapes[x.space]);
        if constexpr (Needs.rolls) {
            axes.begins = rolled_axes(x, space);
        }
        bool const is_rolled = axes.begins != 0;
        int const first_leaf = x.first_leaf + (x.kind == graph::group_kind::product ? 2 : 0);
        int const end_leaf = x.first_leaf + x.leaf_count;

        leaf_buffer<bool> varies(x.leaf_count);
        find_varying(x, varies);
        [[maybe_unused]] bool const is_empty = space.size() == 0;
        [[maybe_unused]] int const first_copy = copies_.size();
        leaf_buffer<calque::strides> steps(end_leaf - first_leaf);
        leaf_buffer<location> places(end_leaf - first_leaf);
        for (int i = first_leaf; i < end_leaf; ++i) {
            value_plan const& v = out_.values[in_.schedule.leaves[i]];
            steps[i - first_leaf] = aligned_strides(v, space);
            places[i - first_leaf] = v.at;
            if constexpr (Needs.broadcasts) {
                bool& its = varies[i - x.first_leaf];
                if (its && in_.may_broadcast(k) && has_one_element(steps[i - first_leaf], space, axes)) {
                    plan.broadcast_leaves |= std::uint64_t{1} << (i - x.first_leaf);
                    its = false;
                }
            }
        }
        leaf_buffer<std::int64_t> units(steps.size()); // from column to column
        for (int i = 0; i < steps.size(); ++i) {
            units[i] = varies[first_leaf - x.first_leaf + i] ? 1 : 0;
        }
        if constexpr (Needs.spaced) {
            if (!is_empty && !is_rolled && plan.broadcast_leaves == 0 && in_.spacings(k) != 0) {
                plan.spaced = find_spaced(k, x, space, axes, steps, units);
            }
        }
        if constexpr (Needs.pieces) {
            bool const has_axes = x.kind == graph::group_kind::rows && x.reduced_axes > 1;
            if (has_axes && !is_empty && plan.broadcast_leaves == 0 && !plan.spaced.any() &&
                plan_pieces(k, x, space, axes, varies, steps, places)) {
                return;
            }
        }
        if constexpr (Needs.copies) {
            bool const close_gaps =
                !plan.spaced.any() && axes.may_merge_into_columns && gains_without_gaps(x, space, axes, steps, varies);
            bool const fill_planes = plan.broadcast_leaves == 0 && !plan.spaced.any() &&
                                     gains_from_full_planes(x, space, axes, steps, units.begin());
            leaf_buffer<int> order(places.size());
            sort_by_place(places, order);
            for (int i = 0; i < places.size() && !is_empty; ++i) {
                int const leaf = first_leaf + order[i];
                bool const its = varies[leaf - x.first_leaf];
                calque::strides& its_steps = steps[order[i]];
                bool const is_repeated =
                    fill_planes && !is_even_run(its_steps, space, 0, its ? axes.end : axes.first_column);
                if (is_repeated || !suits(its_steps, space, axes, its, units[order[i]]) ||
                    (close_gaps && has_gaps(its_steps, space, axes, its))) {
                    make_suitable(k, leaf, first_copy, space, axes, its, is_repeated, its_steps, places[order[i]]);
                }
            }
        }
        if constexpr (Needs.copies && Needs.orders) {
            if (x.kind == graph::group_kind::rows && plan.broadcast_leaves == 0 && !plan.spaced.any() && !is_rolled &&
                are_made_by_blocks(first_copy, x, space, axes)) {
                plan.column_part = kernels::thresholds::columns_of_a_transposed_block;
                for (int i = first_leaf; i < end_leaf; ++i) {
                    std::int64_t& row_step = steps[i - first_leaf][0];
                    row_step = is_copied(first_copy, places[i - first_leaf]) ? plan.column_part : row_step;
                }
            }
        }
        if constexpr (Needs.result_gaps()) {
            leaf_buffer<calque::strides> all_steps(steps.size() + x.result_count);
            leaf_buffer<std::int64_t> all_units(steps.size() + x.result_count);
            add_results(x, space, steps, units, all_steps, all_units);
            merge_axes(x, plan, space, all_steps, all_units.begin(), axes);
        } else {
            merge_axes(x, plan, space, steps, units.begin(), axes);
        }
        store_loops(k, x, first_leaf, space, axes, steps, places);
        if constexpr (Needs.rolls) {
            plan_rolls(x, space, axes, plan);
        }
        if constexpr (Needs.copies) {
            bool const are_blocks = plan.column_part != 0; // which are divided in any case
            bool const is_divisible = x.kind == graph::group_kind::rows && (plan.rows != 1 || x.reduced_axes == 0) &&
                                      plan.outer_rank == 0 && plan.broadcast_leaves == 0 && !plan.spaced.any() &&
                                      !is_rolled;
            if (are_blocks || is_divisible) {
                divide_copies(first_copy, space, plan);
            }
        }
        if constexpr (Needs.products) {
            if (x.kind == graph::group_kind::product) {
                plan_product(k, x, plan);
            }
        }
        if constexpr (Needs.scratch) {
            row_choice const choice = in_.choose_rows(k, plan.rows, plan.columns);
            plan.variant = choice.variant;
            grow_workspace(choice.scratch_bytes);
        }
    }

    /// The strides of all that the kernel of a group walks through, results too.
    constexpr void add_results(graph::group const& x, shape const& space, leaf_buffer<calque::strides> const& steps,
                               leaf_buffer<std::int64_t> const& units, leaf_buffer<calque::strides>& all_steps,
                               leaf_buffer<std::int64_t>& all_units) const {
        for (int i = 0; i < steps.size(); ++i) {
            all_steps[i] = steps[i];
            all_units[i] = units[i];
        }
        for (int i = 0; i < x.result_count; ++i) {
            value_plan const& v = out_.values[in_.schedule.results[x.first_result + i]];
            all_steps[steps.size() + i] = aligned_strides(v, space);
            all_units[steps.size() + i] = v.extents == space ? 1 : 0;
        }
    }

    /// Lets columns and rows begin at the first axes that may be merged into them.
    template <class Unit>
    constexpr void merge_axes(graph::group const& x, group_plan const& plan, shape const& space,
                              leaf_buffer<calque::strides> const& steps, Unit const* units, axis_ranges& axes) const {
        if (axes.may_merge_into_columns && plan.column_part == 0) {
            merge_columns(axes, space, steps, units);
        }
        if (x.kind == graph::group_kind::rows) {
            axes.first_row = first_even_row(steps, space, axes);
        }
    }

    // ---- rolled leaves

    constexpr bool has_rolls([[maybe_unused]] graph::group const& x) const {
        if constexpr (Needs.rolls) {
            return rolled_axes(x, space_of(x)) != 0;
        } else {
            return false;
        }
    }

    /// How far the stored value `v` is rolled where kernels read it in ranges; 0: it is copied, or not rolled.
    constexpr extent_t shift_in_ranges(int v) const { return gains_from_ranges(v) ? shift_of(v) : 0; }
    constexpr int rolled_axis(int v) const { return static_cast<int>(in_.g[stored(v).node].attribute); }
    constexpr extent_t shift_of(int v) const {
        shape const& extents = in_.shapes[stored(v).node];
        return extents.size() == 0 ? 0 : graph::known_shift(in_.g, stored(v).node, extents[rolled_axis(v)]);
    }

    /// Whether a rolled value is better read in ranges than copied: each row is divided if the axis is not the first.
    constexpr bool gains_from_ranges(int v) const {
        if (!graph::is_rolled(in_.g, in_.schedule, v)) {
            return false;
        }
        shape const& extents = in_.shapes[stored(v).node];
        int const axis = rolled_axis(v);
        return run_size(extents, 0, axis) <= 1 ||
               run_size(extents, axis, extents.rank) >= kernels::thresholds::least_elements_of_rolled_rows;
    }

    /// Copies a value that is rolled, when what it comes from is there.
    constexpr void copy_rolled(int v) {
        copy_for_view(v);
        copy_plan& copy = copies_[copies_.size() - 1];
        copy.rolled_axis = rolled_axis(v);
        copy.shift = shift_of(v);
    }

    /// The axes along which some leaf of a group is rolled, as bits.
    constexpr std::uint32_t rolled_axes(graph::group const& x, shape const& space) const {
        std::uint32_t axes = 0;
        for (int i = 0; i < x.leaf_count; ++i) {
            int const v = in_.schedule.leaves[x.first_leaf + i];
            axes |= shift_in_ranges(v) != 0 ? std::uint32_t{1} << axis_in(space, v) : 0;
        }
        return axes;
    }
    constexpr int axis_in(shape const& space, int v) const {
        return rolled_axis(v) + space.rank - in_.shapes[stored(v).node].rank;
    }

    /// How far leaves are rolled along the loops over these axes. An axis along which one is begins a loop.
    constexpr void plan_rolls(graph::group const& x, shape const& space, axis_ranges const& axes, group_plan& plan) {
        int const first = roll_count_;
        for (int i = 0; i < x.leaf_count; ++i) {
            int const v = in_.schedule.leaves[x.first_leaf + i];
            if (!graph::is_rolled(in_.g, in_.schedule, v)) {
                continue;
            }
            int const axis = axis_in(space, v);
            bool const is_column = axis >= axes.first_column;
            bool const is_around = axis < axes.first_row;
            int const end = is_around ? axis + 1 : is_column ? axes.end : axes.first_column;
            int const loop = is_around ? axis : axes.first_row + (is_column ? 1 : 0);
            out_.rolls[roll_count_++] = {i, loop, shift_in_ranges(v) * run_size(space, axis + 1, end)};
        }
        for (int loop = 0; loop < axes.first_row + 2; ++loop) {
            int ranges = 1;
            for (int i = first; i < roll_count_; ++i) {
                bool is_new = out_.rolls[i].loop == loop && out_.rolls[i].shift != 0;
                for (int other = first; other < i; ++other) {
                    is_new =
                        is_new && !(out_.rolls[other].loop == loop && out_.rolls[other].shift == out_.rolls[i].shift);
                }
                ranges += is_new ? 1 : 0;
            }
            plan.ranges *= ranges;
        }
    }

    /// Plans rows piece by piece, if no stride leads through those of some leaf: they are views with gaps, or what they
    /// have is shared by some axes. False if they are one piece, or better copied, or there is no kernel for pieces.
    constexpr bool plan_pieces(int k, graph::group const& x, shape const& space, axis_ranges axes,
                               leaf_buffer<bool> const& varies, leaf_buffer<calque::strides>& steps,
                               leaf_buffer<location>& places) {
        int const first_reduced = axes.first_column;
        axes.first_column = axes.end - 1;
        while (axes.first_column > first_reduced && space[axes.first_column] == 1) {
            --axes.first_column;
        }
        leaf_buffer<std::int64_t> units(steps.size()); // from column to column
        leaf_buffer<bool> is_copied(steps.size());     // no kernel reads its columns
        leaf_buffer<calque::strides> its_steps(steps.size());
        bool const may_broadcast = detail::may_have_one_element_a_piece(in_.g, in_.schedule, x);
        std::uint64_t broadcast_leaves = 0;
        extent_t words = 0; // of a column, that would be copied
        for (int i = 0; i < steps.size(); ++i) {
            std::int64_t const step = steps[i][axes.first_column];
            is_copied[i] = varies[i] && step != 1 && !(step == 0 && may_broadcast);
            units[i] = varies[i] && (is_copied[i] || step == 1) ? 1 : 0;
            its_steps[i] = is_copied[i] ? contiguous_strides(space) : steps[i];
            broadcast_leaves |= std::uint64_t{varies[i] && units[i] == 0} << i;
            bool const is_in_one_piece =
                is_copied[i] || suits(steps[i], space, {0, first_reduced, axes.end}, varies[i]);
            words += is_in_one_piece ? 0 : words_of(type_of_value(in_.schedule.leaves[x.first_leaf + i]));
        }
        merge_columns(axes, space, its_steps, units.begin(), first_reduced);
        extent_t const columns = run_size(space, axes.first_column, axes.end);
        extent_t const pieces = run_size(space, first_reduced, axes.first_column);
        pieces_choice const choice = in_.choose_pieces(k, pieces, columns);
        extent_t const of_a_piece = kernels::thresholds::words_of_a_piece +
                                    kernels::thresholds::words_of_an_instruction * instructions_of_a_group(x);
        bool const gain = choice.are_in_lockstep
                              ? words != 0
                              : words * (columns - kernels::thresholds::columns_of_a_piece) >= of_a_piece;
        if (pieces == 1 || !gain || choice.scratch_bytes < 0) {
            return false;
        }
        int const first_copy = copies_.size();
        for (int i = 0; i < steps.size(); ++i) {
            if (is_copied[i]) {
                axis_ranges const whole{0, first_reduced, axes.end};
                make_suitable(k, x.first_leaf + i, first_copy, space, whole, true, false, steps[i], places[i]);
            }
        }
        axes.first_row = first_even_row(steps, space, axes, first_reduced);
        store_loops(k, x, x.first_leaf, space, axes, steps, places);
        group_plan& plan = out_.groups[k];
        plan.outer_rank = first_reduced;
        plan.piece_rank = axes.first_row - first_reduced;
        plan.broadcast_leaves = broadcast_leaves;
        plan.variant = kernels::row_variant::in_pieces;
        grow_workspace(static_cast<std::size_t>(choice.scratch_bytes));
        return true;
    }

    /// The loops over these axes, and where leaves, from the group's number `first_leaf` on, and results lie along
    /// them.
    constexpr void store_loops(int k, graph::group const& x, int first_leaf, shape const& space,
                               axis_ranges const& axes, leaf_buffer<calque::strides> const& steps,
                               leaf_buffer<location> const& places) {
        group_plan& plan = out_.groups[k];
        plan.columns = run_size(space, axes.first_column, axes.end);
        plan.rows = run_size(space, axes.first_row, axes.first_column);
        plan.outer_rank = axes.first_row;
        for (int axis = 0; axis < axes.first_row; ++axis) {
            out_.outer_extents[k * out_.outer_axes + axis] = space[axis];
        }
        for (int i = 0; i < steps.size(); ++i) {
            leaf_plan& leaf = out_.leaves[first_leaf + i];
            leaf.at = places[i];
            leaf.row_stride = row_stride(out_.values[in_.schedule.leaves[first_leaf + i]], steps[i], space, axes);
            for (int axis = 0; axis < axes.first_row; ++axis) {
                out_.leaf_outer_strides[(first_leaf + i) * out_.outer_axes + axis] = steps[i][axis];
            }
        }
        plan_results(x, space, axes);
    }

    constexpr shape const& space_of(graph::group const& x) const { return in_.shapes[x.space_node]; }

    constexpr void grow_workspace(std::size_t bytes) { workspace_ = bytes > workspace_ ? bytes : workspace_; }

    /// Which leaves of a group vary along its columns.
    constexpr void find_varying(graph::group const& x, leaf_buffer<bool>& varies) const {
        for (int i = 0; i < x.leaf_count; ++i) {
            varies[i] = false;
        }
        for (int i = 0; i < x.step_count; ++i) {
            graph::step const& s = in_.schedule.steps[x.first_step + i];
            if (int const leaf = s.leaf >= 0 ? s.leaf : s.index; leaf >= 0) {
                varies[leaf] = s.varies_along_columns;
            }
        }
    }

    /// Whether a kernel can read a leaf as it lies.
    static constexpr bool suits(calque::strides const& steps, shape const& space, axis_ranges const& axes, bool varies,
                                std::int64_t unit = 1) {
        return (!varies || is_unit_run(steps, space, axes.first_column, axes.end, unit)) &&
               (!axes.rows_are_reduced || is_even_run(steps, space, axes.first_row, axes.first_column));
    }

    /// The leaves of a group whose columns stand a few elements apart, and how far in `units`; none if the group has no
    /// kernel for all of its leaves as they lie.
    constexpr kernels::spaced_leaves find_spaced(int k, graph::group const& x, shape const& space,
                                                 axis_ranges const& axes, leaf_buffer<calque::strides> const& steps,
                                                 leaf_buffer<std::int64_t>& units) const {
        kernels::spaced_leaves spaced;
        extent_t const columns = run_size(space, axes.first_column, axes.end);
        bool suit = columns >= kernels::thresholds::least_spaced_columns;
        if constexpr (Needs.scratch) {
            row_choice const choice = in_.choose_rows(k, run_size(space, 0, axes.first_column), columns);
            suit = suit && choice.variant != kernels::row_variant::lanes_along_rows;
        }
        for (int i = 0; i < units.size(); ++i) {
            if (std::int64_t const unit = run_stride(steps[i], space, axes.first_column, axes.end);
                units[i] != 0 && unit != 1) {
                bool const has_loads = unit > 1 && unit <= kernels::most_apart && (in_.spacings(k) >> unit & 1) != 0 &&
                                       kernels::has_spaced_loads(type_of_value(in_.schedule.leaves[x.first_leaf + i]));
                suit = suit && has_loads && has_neighbours(in_.schedule.leaves[x.first_leaf + i]) &&
                       (!spaced.any() || unit == spaced.apart);
                spaced.leaves |= std::uint64_t{1} << i;
                spaced.apart = static_cast<int>(unit);
            }
        }
        for (int i = 0; i < units.size(); ++i) {
            std::int64_t const unit = (spaced.leaves >> i & 1) != 0 ? spaced.apart : 1;
            suit = suit && suits(steps[i], space, axes, units[i] != 0, unit);
        }
        if (!suit) {
            return {};
        }
        for (int i = 0; i < units.size(); ++i) {
            units[i] = (spaced.leaves >> i & 1) != 0 ? spaced.apart : units[i];
        }
        return spaced;
    }

    /// Whether slices of what the stored value `v` is a slice of lie as the compiler takes for granted that finds which
    /// are neighbours: an argument may be a view whose own elements stand apart.
    constexpr bool has_neighbours(int v) const {
        detail::sliced_view const view = detail::sliced_view::of(in_.g, in_.schedule, v);
        if (view.value < 0) {
            return true; // it shares no loads
        }
        int const source = stored(view.value).source;
        return out_.values[source].steps[detail::unit_axis(in_.g, in_.schedule, source)] == 1;
    }

    /// Whether copies without gaps, in which several rows are one, cost elementwise work less than what each row costs
    /// by itself: its last group of lanes, of which some have nothing to do, and the loop around it.
    constexpr bool gains_without_gaps(graph::group const& x, shape const& space, axis_ranges axes,
                                      leaf_buffer<calque::strides> const& steps,
                                      leaf_buffer<bool> const& varies) const {
        namespace thresholds = kernels::thresholds;
        merge_columns(axes, space, steps, varies.begin());
        extent_t const columns = run_size(space, axes.first_column, axes.end);
        extent_t const rows = run_size(space, 0, axes.first_column);
        extent_t copied = 0; // words a row
        extent_t widest = 1; // words of an element
        bool are_joined = false;
        for (int i = 0; i < steps.size(); ++i) {
            bool const is_one_row = is_unit_run(steps[i], space, 0, axes.first_column, 0);
            extent_t const words = words_of(type_of_value(in_.schedule.leaves[x.first_leaf + i]));
            if (!varies[i] && !is_one_row) {
                copied += thresholds::columns_of_an_element_a_row * words;
            } else if (has_gaps(steps[i], space, axes, varies[i])) {
                copied += columns * words;
                widest = std::max(widest, words);
            }
            are_joined |= varies[i] == is_one_row;
        }
        for (int i = 0; i < x.result_count; ++i) {
            value_plan const& v = out_.values[in_.schedule.results[x.first_result + i]];
            if (v.extents == space && has_gaps(v.steps, space, axes, true)) {
                return false; // rows are not one in any case
            }
        }
        return !(are_joined && rows < thresholds::least_rows_copied_to_join) &&
               exceed_copies(x, rows, columns, copied, widest > 1 ? widest : x.leaf_count);
    }

    /// Whether rows cost elementwise work more by themselves than copies of so many words each, which make them one.
    /// `masked`: the registers that rows of less than a group load with masks; of elements of 8 bytes those of one
    /// operand, as measured.
    constexpr bool exceed_copies(graph::group const& x, extent_t rows, extent_t columns, extent_t copied,
                                 extent_t masked) const {
        namespace thresholds = kernels::thresholds;
        if (columns > thresholds::most_columns_of_copied_rows || copied == 0) {
            return false;
        }
        extent_t const work = instructions_of_a_group(x);
        extent_t const idle_lanes = -columns & (simd::width - 1);
        extent_t of_a_row = work * idle_lanes / simd::width;
        extent_t percent = thresholds::percent_of_a_copied_word;
        bool const has_masks = simd::register_count == 32;
        bool const is_light = work + x.leaf_count <= thresholds::light_phase_of_32_registers;
        if (!has_masks || is_light || columns >= simd::width) { // `kernels::separate_rows`
            extent_t const of_masks = has_masks ? masked * thresholds::instructions_of_a_masked_register
                                                : thresholds::instructions_of_a_masked_row;
            of_a_row += columns < simd::width ? of_masks : 0;
            if (!has_masks) {
                percent = thresholds::percent_of_a_word_of_separate_rows;
            }
        } else if (!uses_divider(x)) {
            of_a_row += work / thresholds::groups_of_the_end_of_a_row;
            of_a_row += idle_lanes == 0 ? 0 : thresholds::instructions_of_a_row;
        }
        return rows * (of_a_row * 100 - copied * percent) > thresholds::instructions_of_copies * 100;
    }

    constexpr static bool works_along_columns(graph::step const& s) { return s.leaf < 0 && s.varies_along_columns; }

    /// The instructions of a group of lanes.
    constexpr extent_t instructions_of_a_group(graph::group const& x) const {
        graph::step const* const steps = in_.schedule.steps + x.first_step;
        extent_t work = 0;
        for (int i = 0; i < x.step_count; ++i) {
            work += works_along_columns(steps[i]) ? kernels::cost_of_step(steps, i) * words_of(steps[i].type) : 0;
        }
        return work;
    }

    constexpr bool uses_divider(graph::group const& x) const {
        bool uses = false;
        for (int i = 0; i < x.step_count; ++i) {
            graph::step const& s = in_.schedule.steps[x.first_step + i];
            uses |= works_along_columns(s) && graph::info(s.op).uses_divider;
        }
        return uses;
    }

    /// The words of an element, as registers have them.
    static constexpr extent_t words_of(dtype type) { return size_of(type) > 4 ? 2 : 1; }

    /// Whether a leaf has gaps between rows, of which each has elements of its own, or one.
    static constexpr bool has_gaps(calque::strides const& steps, shape const& space, axis_ranges const& axes,
                                   bool varies) {
        for (int axis = 0; axis < axes.first_column; ++axis) {
            if (space[axis] != 1 && steps[axis] == 0) {
                return false;
            }
        }
        return !is_unit_run(steps, space, 0, varies ? axes.end : axes.first_column);
    }

    /// Whether all columns of a row read one element of a leaf.
    static constexpr bool has_one_element(calque::strides const& steps, shape const& space, axis_ranges const& axes) {
        return run_size(space, axes.first_column, axes.end) != 1 &&
               is_unit_run(steps, space, axes.first_column, axes.end, 0);
    }

    /// Whether a loop around a kernel has so little in it, each time, that copies cost less which repeat what the rows
    /// of one plane share: all rows are those of one matrix then.
    template <class Unit>
    constexpr bool gains_from_full_planes(graph::group const& x, shape const& space, axis_ranges axes,
                                          leaf_buffer<calque::strides> const& steps, Unit const* units) const {
        namespace thresholds = kernels::thresholds;
        if (!detail::may_have_planes(x, space.rank)) {
            return false;
        }
        extent_t const run = run_size(space, axes.first_column, axes.end);
        bool are_short = true;
        for (int i = 0; i < steps.size(); ++i) {
            int const v = in_.schedule.leaves[x.first_leaf + i];
            bool const is_in_memory = stored(v).kind != graph::storage_kind::indices;
            are_short = are_short && is_in_memory &&
                        run * static_cast<extent_t>(size_of(type_of_value(v))) <= kernels::most_bytes_of_repeated_runs;
        }
        if (axes.may_merge_into_columns) {
            merge_columns(axes, space, steps, units);
        }
        int const first_row = first_even_row(steps, space, axes);
        bool stores_all = false; // else copies are a good part of what is written
        for (int i = 0; i < x.result_count; ++i) {
            stores_all |= out_.values[in_.schedule.results[x.first_result + i]].extents.size() == space.size();
        }
        extent_t const rows = run_size(space, first_row, axes.first_column);
        bool const are_few = x.reduced_axes == 0 || rows < thresholds::groups_of_short_rows * simd::width;
        extent_t const most = stores_all ? thresholds::most_elements_of_a_copied_plane
                                         : thresholds::most_elements_of_a_copied_plane_of_reductions;
        return are_short && are_few && run_size(space, first_row, axes.end) <= most &&
               run_size(space, 0, first_row) >= thresholds::least_copied_planes;
    }

    /// Copies a leaf so that it is contiguous along the columns, and the rows where the kernel needs that, or all of
    /// them; along other axes it keeps to what it has.
    constexpr void make_suitable(int group, int leaf, int first_copy, shape const& space, axis_ranges const& axes,
                                 bool varies, bool fills_rows, calque::strides& steps, location& place) {
        shape extents = space;
        calque::strides from = steps;
        bool rows_vary = false; // of reduced rows: one stride leads through all of them
        for (int axis = axes.first_row; axis < axes.first_column; ++axis) {
            rows_vary |= axes.rows_are_reduced && steps[axis] != 0;
        }
        for (int axis = 0; axis < space.rank; ++axis) {
            bool const is_column = axis >= axes.first_column;
            bool const must_be_full = is_column ? varies : fills_rows || (rows_vary && axis >= axes.first_row);
            if (!must_be_full && steps[axis] == 0) {
                extents[axis] = 1;
            }
        }
        int const v = in_.schedule.leaves[leaf];
        location const to = allocate(v, extents, group, group);
        add_copy(group, place, extents, from, to, size_of(type_of_value(v)));
        if constexpr (Needs.orders) {
            int const last = copies_.size() - 1;
            if (last > first_copy && join_copy(copies_[last - 1], copies_[last])) {
                copies_.pop_back();
            }
        }
        calque::strides const contiguous = contiguous_strides(extents);
        for (int axis = 0; axis < space.rank; ++axis) {
            steps[axis] = extents[axis] == 1 && space[axis] != 1 ? 0 : contiguous[axis];
        }
        place = to;
    }

    /// The leaves in the order in which they begin in memory: those that have neighbours follow each other.
    static constexpr void sort_by_place(leaf_buffer<location> const& places, leaf_buffer<int>& order) {
        for (int leaf = 0; leaf < places.size(); ++leaf) {
            int at = leaf;
            for (; at > 0 && places[leaf] < places[order[at - 1]]; --at) {
                order[at] = order[at - 1];
            }
            order[at] = leaf;
        }
    }

    constexpr bool is_copied(int first_copy, location at) const {
        bool is = false;
        for (int i = first_copy; i < copies_.size(); ++i) {
            is |= copies_[i].makes(at);
        }
        return is;
    }

    /// Lets the last copy for a group make what the next one would, too, if their sources are neighbours, as the
    /// coordinates of points are: one walk reads each line of memory once. The source of the last one begins before.
    static constexpr bool join_copy(copy_plan& last, copy_plan const& next) {
        auto const bytes = static_cast<std::ptrdiff_t>(next.element_bytes);
        int const rank = next.extents.rank;
        extent_t const count = last.joined_step == 0 ? 1 : last.extents[last.extents.rank - 1];
        std::ptrdiff_t const step = (next.to.offset - last.to.offset) / (count * bytes);
        bool may = last.from.base == next.from.base && last.element_bytes == next.element_bytes && rank < max_rank &&
                   last.extents.rank == rank + (count != 1) && next.from.offset == last.from.offset + count * bytes &&
                   next.to.offset == last.to.offset + count * bytes * step &&
                   (count == 1 ? step > 0 : step == last.joined_step);
        for (int axis = 0; axis < rank && may; ++axis) { // no element of one comes between neighbours of the other
            extent_t const extent = next.extents[axis];
            std::int64_t const from_step = next.from_steps[axis];
            may =
                last.extents[axis] == extent && (extent == 1 || (last.from_steps[axis] == from_step && from_step != 1));
        }
        if (may) {
            last.extents.rank = rank;
            last.extents.push_back(count + 1);
            last.from_steps[rank] = 1;
            last.joined_step = step;
        }
        return may;
    }

    /// Whether the copies for a group are made block by block, both rows and columns of them: large transpositions for
    /// elementwise work on matrices. Tiles and kernel find a block in L1.
    constexpr bool are_made_by_blocks(int first_copy, graph::group const& x, shape const& space,
                                      axis_ranges const& axes) const {
        bool const is_matrix = space.rank == 2 && axes.first_column == 1 && x.reduced_axes == 0;
        bool are = is_matrix && space[1] >= kernels::thresholds::least_columns_of_transposed_blocks &&
                   first_copy != copies_.size();
        for (int i = first_copy; i < copies_.size(); ++i) {
            copy_plan const& c = copies_[i];
            bool const is_wide_enough = c.element_bytes == sizeof(float) || c.element_bytes == sizeof(double);
            auto const bytes = space.size() * static_cast<std::ptrdiff_t>(c.element_bytes);
            are = are && is_wide_enough && c.extents == space && c.from_steps[0] == 1 && space[0] > 1 &&
                  bytes > kernels::thresholds::transposed_whole_bytes;
        }
        return are;
    }

    /// Makes large copies for a group part by part along its first axis: a part is still in L1 or L2 when the kernel
    /// reads it, and takes the memory of the one before.
    constexpr void divide_copies(int first_copy, shape const& space, group_plan& plan) {
        namespace thresholds = kernels::thresholds;
        int axis = 0;
        while (axis + 1 < space.rank && space[axis] == 1) {
            ++axis;
        }
        auto const is_along = [&](copy_plan const& c) { return space.rank != 0 && c.extents[axis] == space[axis]; };
        std::ptrdiff_t bytes = 0; // of one index of the axis
        extent_t at_once = 1;     // transposition reads lines of a source along the axis
        for (int i = first_copy; i < copies_.size(); ++i) {
            if (copy_plan const& c = copies_[i]; is_along(c)) {
                bytes += c.extents.size() / space[axis] * static_cast<std::ptrdiff_t>(c.element_bytes);
                at_once = c.from_steps[axis] == 1 ? thresholds::copied_part_rows : at_once;
            }
        }
        bool const are_blocks = plan.column_part != 0;
        if (bytes == 0 || (!are_blocks && bytes * space[axis] <= thresholds::copied_whole_bytes)) {
            return;
        }
        extent_t const times = std::max(extent_t{1}, thresholds::copied_part_bytes / (bytes * at_once));
        plan.divided_axis = axis;
        plan.divided_extent = space[axis];
        plan.part = are_blocks ? rows_of_a_block(first_copy) : times * at_once;
        for (int i = first_copy; i < copies_.size(); ++i) {
            copies_[i].is_by_parts = is_along(copies_[i]);
        }
    }

    /// As many as a line of the source holds elements.
    constexpr extent_t rows_of_a_block(int first_copy) const {
        std::size_t bytes = sizeof(double);
        for (int i = first_copy; i < copies_.size(); ++i) {
            bytes = std::min(bytes, copies_[i].element_bytes);
        }
        return static_cast<extent_t>(64 / bytes);
    }

    /// Whether an axis may become one with the columns; `units`: how far it is from one of these to the next, by leaf.
    template <class Unit>
    static constexpr bool may_merge(int axis, axis_ranges const& axes, shape const& space,
                                    leaf_buffer<calque::strides> const& steps, Unit const* units) {
        if (!axes.may_lead_to(axes.first_column)) {
            return false;
        }
        if (space[axis] == 1) {
            return true;
        }
        std::ptrdiff_t const columns = run_size(space, axes.first_column, axes.end);
        for (int i = 0; i < steps.size(); ++i) {
            if (steps[i][axis] != units[i] * columns) {
                return false;
            }
        }
        return true;
    }

    /// Lets the columns begin at the first axis, from `least` on, that may become one with them; `units` as in
    /// `may_merge`.
    template <class Unit>
    static constexpr void merge_columns(axis_ranges& axes, shape const& space,
                                        leaf_buffer<calque::strides> const& steps, Unit const* units, int least = 0) {
        while (axes.first_column > least && may_merge(axes.first_column - 1, axes, space, steps, units)) {
            --axes.first_column;
        }
    }

    static constexpr bool all_even(leaf_buffer<calque::strides> const& steps, shape const& space, int first, int end) {
        for (calque::strides const& s : steps) {
            if (!is_even_run(s, space, first, end)) {
                return false;
            }
        }
        return true;
    }

    /// The first of the axes before the columns, from `least` on, through which one stride leads for each leaf: those
    /// of the rows.
    static constexpr int first_even_row(leaf_buffer<calque::strides> const& steps, shape const& space,
                                        axis_ranges const& axes, int least = 0) {
        int first = axes.first_column;
        while (first > least && (first == axes.first_column || axes.may_lead_to(first)) &&
               all_even(steps, space, first - 1, axes.first_column)) {
            --first;
        }
        return first;
    }

    /// From row to row of a value: 0 if it has no elements, since nothing may be added to a null pointer.
    static constexpr std::ptrdiff_t row_stride(value_plan const& v, calque::strides const& steps, shape const& space,
                                               axis_ranges const& axes) {
        return v.extents.size() == 0 ? 0 : run_stride(steps, space, axes.first_row, axes.first_column);
    }

    constexpr void plan_results(graph::group const& x, shape const& space, axis_ranges const& axes) {
        for (int i = 0; i < x.result_count; ++i) {
            value_plan const& v = out_.values[in_.schedule.results[x.first_result + i]];
            calque::strides const steps = aligned_strides(v, space);
            int const r = x.first_result + i;
            result_plan& result = out_.results[r];
            result.at = v.at;
            result.row_stride = row_stride(v, steps, space, axes);
            for (int axis = 0; axis < axes.first_row; ++axis) {
                out_.result_outer_strides[r * out_.outer_axes + axis] = steps[axis];
            }
        }
    }

    // ---- matrix products

    constexpr void plan_product(int k, graph::group const& x, group_plan& plan) {
        value_plan a = out_.values[in_.schedule.leaves[x.first_leaf]];
        value_plan b = out_.values[in_.schedule.leaves[x.first_leaf + 1]];
        if constexpr (Needs.orders) {
            if (plan.keeps_order) {
                std::swap(a, b);
                for (value_plan* const operand : {&a, &b}) {
                    std::swap(operand->extents[0], operand->extents[1]);
                    std::swap(operand->steps[0], operand->steps[1]);
                }
                std::swap(plan.rows, plan.columns);
            }
        }
        for (int i = 0; i < 2; ++i) {
            value_plan const& operand = i == 0 ? a : b;
            out_.leaves[x.first_leaf + i].at = operand.at;
            out_.leaves[x.first_leaf + i].row_stride = operand.steps[0];
            out_.leaves[x.first_leaf + i].column_stride = operand.steps[1];
        }
        plan.depth = a.extents[1];
        product_choice const choice = in_.choose_product(k, 1, plan.rows, plan.columns, plan.depth,
                                                         {a.steps[0], a.steps[1]}, {b.steps[0], b.steps[1]});
        plan.product = choice.variant;
        grow_workspace(choice.workspace_bytes);
    }

    /// The products of a batch: all have one size, and their operands one pair of strides.
    constexpr void plan_products(int k, graph::group const& x) {
        value_plan const& a = out_.values[in_.schedule.leaves[x.first_leaf]];
        value_plan const& b = out_.values[in_.schedule.leaves[x.first_leaf + 1]];
        group_plan& plan = out_.groups[k];
        plan.rows = a.extents[1];
        plan.columns = b.extents[2];
        plan.depth = a.extents[2];
        product_choice const choice = in_.choose_product(k, a.extents[0], plan.rows, plan.columns, plan.depth,
                                                         {a.steps[1], a.steps[2]}, {b.steps[1], b.steps[2]});
        plan.product = choice.variant;
        grow_workspace(choice.workspace_bytes);
    }

    plan_input in_;
    plan_view out_;
    /// Where nothing is placed. (Without a destructor, which all that may throw would have to call.)
    struct no_memory {
        constexpr explicit no_memory(int) {}
        static constexpr std::size_t total() { return 0; }
    };
    std::conditional_t<Needs.buffers || Needs.copies, memory_planner, no_memory> memory_;
    std::conditional_t<Needs.copies, sequence<copy_plan>, copy_list<-1>> copies_;
    struct no_results {
        constexpr explicit no_results(int) {}
    };
    std::conditional_t<Needs.margins, small_buffer<int, 16>, no_results> results_in_place_; // by value: what it lies in
    bool has_results_in_place_ = false;
    std::size_t workspace_ = 0;
    int roll_count_ = 0;           // that are planned
    bool has_other_order_ = false; // than row-major: some value that is placed
};

} // namespace runtime
} // namespace v0
} // namespace calque
