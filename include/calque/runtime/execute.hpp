// SPDX-License-Identifier: MIT
// Runs a plan: launches the kernels of the schedule, one after the other.
#pragma once

#include <calque/kernels/cpu/column_kernel.hpp>
#include <calque/kernels/cpu/fused_pieces.hpp>
#include <calque/kernels/cpu/matmul.hpp>
#include <calque/kernels/cpu/matmul_batch.hpp>
#include <calque/kernels/cpu/matmul_short_rows.hpp>
#include <calque/kernels/cpu/matmul_small.hpp>
#include <calque/kernels/cpu/row_kernel.hpp>
#include <calque/runtime/execute_control.hpp>
#include <calque/runtime/host_arrays.hpp>
#include <calque/runtime/make_plan.hpp>
#include <calque/runtime/move.hpp>
#include <calque/runtime/move_running.hpp>
#include <calque/runtime/move_segments.hpp>
#include <calque/runtime/register_program.hpp>

namespace calque {
inline namespace v0 {
namespace runtime {

/// The base addresses of a call: arguments, outputs, arena, the plan's scalars.
using base_addresses = std::byte* const*;

CALQUE_INLINE std::byte* address(base_addresses bases, location const& at) {
    return bases[at.base] + at.offset;
}

/// Executes the groups of `Compiled`, whose `optimized` graph and `schedule` are constants. `Needs`: what its calls can
/// ask for.
template <class Compiled, plan_needs Needs>
class executor {
    static constexpr auto const& schedule = Compiled::schedule;
    static constexpr graph::schedule_size size = Compiled::size;

    template <int K>
    using group = typename Compiled::template group<K>;

public:
    using plan = typename std::conditional_t<
        Compiled::has_regions(), std::type_identity<plan_with_regions<Compiled>>,
        std::type_identity<plan_storage<capacity_of(Compiled::view(), schedule.view(), size, Needs)>>>::type;

    /// Whether outputs may keep the order of the arguments' axes (`planner::find_order`). Regions have views and copies
    /// of what others keep, and take for granted that it is row-major.
    static constexpr bool keeps_orders = Needs.orders && !Compiled::has_regions() && Compiled::view().control < 0;

    /// Plans a call: `shapes` of every node of the graph, and the strides of the arguments of this schedule.
    /// `output_strides`: how outputs lie that may have gaps.
    static constexpr void make_plan(plan& p, shape const* shapes, calque::strides const* argument_strides,
                                    [[maybe_unused]] calque::strides const* output_strides = nullptr) {
        plan_view out = p.view();
        small_buffer<value_plan, std::clamp(size.values, 1, 32)> places(Needs.values ? 0 : size.values);
        if constexpr (!Needs.values) {
            out.values = places.data();
        }
        plan_input input = input_of(shapes, argument_strides);
        if constexpr (Needs.output_gaps) {
            input.output_strides = output_strides;
        }
        planner<Needs> its_planner(input, out);
        its_planner.run();
        if constexpr (Needs.copies) {
            p.copies.take(its_planner.copies());
        }
        for (int o = 0; o < size.outputs; ++o) {
            p.outputs[o] = out.values[schedule.outputs[o]];
        }
        if constexpr (is_register_program<Compiled> && !Needs.output_gaps) {
            p.is_in_registers = lies_in_rows(p, shapes, argument_strides);
            p.arena_bytes = p.is_in_registers ? 0 : p.arena_bytes;
        }
        if constexpr (Compiled::has_regions()) {
            sequence<shape> scratch;
            for_each_control([&]<int K>(std::integral_constant<int, K>) {
                control_executor<Compiled, K>::make_plans(p, shapes, scratch);
                return true;
            });
        }
    }

    /// Whether the shapes of a call are those that fusion has taken for equal.
    static constexpr bool suits_fusion(shape const* shapes) {
        bool suits = Compiled::checks::hold(shapes);
        if constexpr (Compiled::has_regions()) {
            sequence<shape> scratch;
            suits = suits && for_each_control([&]<int K>(std::integral_constant<int, K>) {
                        return control_executor<Compiled, K>::suits_fusion(shapes, scratch);
                    });
        }
        return suits;
    }

    /// The variant of a group's kernel over rows for these sizes.
    static constexpr row_choice choose_rows(int k, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        return [&]<int... K>(std::integer_sequence<int, K...>) {
            row_choice choice;
            (void)((K == k && (choice = choose_rows_of<K>(rows, columns), true)) || ...);
            return choice;
        }(std::make_integer_sequence<int, size.groups>{});
    }

    /// Whether there is a kernel of a group for leaves with one element a row, where only the call knows that.
    static constexpr bool may_broadcast(int k) {
        return Needs.broadcasts &&
               detail::has_kernel_of_broadcasts(Compiled::view(), schedule.view(), schedule.groups[k]);
    }

    /// For which distances there is a kernel of a group that reads views whose elements stand so far apart, as bits.
    static constexpr unsigned spacings(int k) {
        return Needs.spaced ? spacings_of(Compiled::view(), schedule.view(), schedule.groups[k]) : 0;
    }

    /// How a group's kernel for rows in pieces runs these.
    static constexpr pieces_choice choose_pieces(int k, std::ptrdiff_t pieces, std::ptrdiff_t columns) {
        return [&]<int... K>(std::integer_sequence<int, K...>) {
            pieces_choice choice;
            (void)((K == k && (choice = choose_pieces_of<K>(pieces, columns), true)) || ...);
            return choice;
        }(std::make_integer_sequence<int, size.groups>{});
    }

    /// Whether a group's kernel over rows stores results that no cache holds past the caches, for these sizes.
    static constexpr bool pass_caches(int k, std::ptrdiff_t rows, std::ptrdiff_t columns) {
        return [&]<int... K>(std::integer_sequence<int, K...>) {
            return ((K == k && group_passes_caches<K>(rows, columns)) || ...);
        }(std::make_integer_sequence<int, size.groups>{});
    }

    /// The variant of a group's matrix product for these sizes and strides.
    static constexpr product_choice choose_product(int k, std::ptrdiff_t count, std::ptrdiff_t rows,
                                                   std::ptrdiff_t columns, std::ptrdiff_t depth,
                                                   kernels::matrix_strides a, kernels::matrix_strides b) {
        return [&]<int... K>(std::integer_sequence<int, K...>) {
            product_choice choice{};
            (void)((K == k && (choice = choose_product_of<K>(count, rows, columns, depth, a, b), true)) || ...);
            return choice;
        }(std::make_integer_sequence<int, size.groups>{});
    }

    CALQUE_INLINE executor(plan const& p, base_addresses bases) : plan_(p), bases_(bases) {}

    CALQUE_INLINE void run() const {
        if constexpr (is_register_program<Compiled> && !Needs.output_gaps) {
            if (!Needs.kernels || plan_.is_in_registers) {
                register_program<Compiled>::run(bases_);
                return;
            }
        }
        if constexpr (Needs.kernels) {
            run_kernels();
        }
    }

private:
    CALQUE_INLINE void run_kernels() const {
        kernels::unroll_steps<0, size.groups>([&](auto k) CALQUE_INLINE_LAMBDA {
            if constexpr (Needs.copies) {
                if (plan_.copies.size() != 0) [[unlikely]] {
                    run_copies(k);
                }
            }
            constexpr graph::group_kind kind = group<k>::description.kind;
            if constexpr (kind == graph::group_kind::movement) {
                run_movement<k>();
            } else if constexpr (kind == graph::group_kind::control) {
                control_executor<Compiled, k>(plan_, bases_).run();
            } else if constexpr (kind == graph::group_kind::product) {
                run_product<k>();
            } else if constexpr (kind == graph::group_kind::columns) {
                run_fused<k, kernels::column_kernel<group<k>, may_broadcast(k)>>();
            } else {
                run_fused<k, kernels::row_kernel<group<k>, may_broadcast(k), spacings(k)>>();
            }
        });
        if constexpr (has_view_outputs()) {
            run_copies(size.groups); // of what only outputs read
        }
        if constexpr (has_copied_outputs()) {
            copy_outputs();
        }
    }

    /// Whether arguments and outputs are row-major and have no gaps.
    static constexpr bool lies_in_rows(plan const& p, shape const* shapes, calque::strides const* argument_strides) {
        bool do_lie = true;
        for (int v = 0; v < size.values; ++v) {
            graph::stored_value const& value = schedule.values[v];
            bool const is_argument = value.kind == graph::storage_kind::argument;
            do_lie = do_lie &&
                     (!is_argument || is_contiguous(shapes[value.node], argument_strides[value.argument])) &&
                     (value.made_by < 0 || !p.groups[value.made_by].keeps_order);
        }
        return do_lie;
    }

    /// Whether an output is copied at the end, because no kernel writes it in its place: a view of an argument, say.
    static constexpr bool is_copied(int output) {
        if constexpr (requires { Compiled::source::is_carried(output); }) {
            if (Compiled::source::is_carried(output)) {
                return false;
            }
        }
        return alias_table<Compiled>::written_value(output) < 0;
    }
    static constexpr bool has_copied_outputs() {
        bool any = false;
        for (int o = 0; o < size.outputs; ++o) {
            any |= is_copied(o);
        }
        return any;
    }

    static constexpr plan_input input_of(shape const* shapes, calque::strides const* argument_strides) {
        plan_input input{.g = Compiled::view(),
                         .schedule = schedule.view(),
                         .shapes = shapes,
                         .argument_strides = argument_strides,
                         .argument_count = Compiled::argument_count,
                         .keeps_orders = keeps_orders};
        // What the planner does not ask is not compiled.
        if constexpr (Needs.scratch) {
            input.choose_rows = &choose_rows;
        }
        if constexpr (Needs.products || Needs.values) {
            input.choose_product = &choose_product;
        }
        input.pass_caches = &pass_caches;
        if constexpr (Needs.broadcasts) {
            input.may_broadcast = &may_broadcast;
        }
        if constexpr (Needs.pieces) {
            input.choose_pieces = &choose_pieces;
        }
        if constexpr (Needs.spaced) {
            input.spacings = &spacings;
        }
        return input;
    }

    /// Whether `fn(K)` is true for each branch or loop `K`.
    template <class Fn>
    static constexpr bool for_each_control(Fn fn) {
        auto const call = [&]<int K>(std::integral_constant<int, K> k) {
            if constexpr (schedule.groups[K].kind == graph::group_kind::control) {
                return fn(k);
            } else {
                return true;
            }
        };
        return [&]<int... K>(std::integer_sequence<int, K...>) {
            return (call(std::integral_constant<int, K>{}) && ...);
        }(std::make_integer_sequence<int, size.groups>{});
    }

    CALQUE_NOINLINE void copy_outputs() const {
        for (int o = 0; o < size.outputs; ++o) {
            if (is_copied(o)) {
                value_plan const& from = plan_.outputs[o];
                dtype const type = Compiled::optimized.nodes[schedule.values[schedule.outputs[o]].node].type;
                kernels::copy_strided(from.extents,
                                      {bases_[Compiled::argument_count + o], contiguous_strides(from.extents)},
                                      {address(bases_, from.at), from.steps}, size_of(type));
            }
        }
    }

    static constexpr bool has_view_outputs() {
        bool any = false;
        for (int i = 0; i < size.outputs; ++i) {
            any |= schedule.values[schedule.outputs[i]].kind == graph::storage_kind::view;
        }
        return any;
    }
    template <int K>
    static constexpr row_choice choose_rows_of([[maybe_unused]] std::ptrdiff_t rows,
                                               [[maybe_unused]] std::ptrdiff_t columns) {
        if constexpr (group<K>::description.kind == graph::group_kind::rows) {
            using kernel = kernels::row_kernel<group<K>>;
            kernels::row_variant const variant = kernel::choose(rows, columns);
            return {variant, kernel::scratch_bytes(variant, columns)};
        } else {
            return {};
        }
    }

    template <int K>
    static constexpr bool has_kernel_of_pieces() {
        if constexpr (Needs.pieces && detail::may_be_in_pieces(Compiled::view(), schedule.view(), schedule.groups[K])) {
            return kernels::has_kernel_of_pieces<group<K>>();
        } else {
            return false;
        }
    }

    template <int K>
    using kernel_of_pieces =
        kernels::fused_pieces<group<K>, detail::may_have_one_element_a_piece(Compiled::view(), schedule.view(),
                                                                             schedule.groups[K])>;

    template <int K>
    static constexpr pieces_choice choose_pieces_of([[maybe_unused]] std::ptrdiff_t pieces,
                                                    [[maybe_unused]] std::ptrdiff_t columns) {
        if constexpr (has_kernel_of_pieces<K>()) {
            using kernel = kernel_of_pieces<K>;
            return {static_cast<std::ptrdiff_t>(kernel::scratch_bytes(pieces, columns)),
                    kernel::are_in_lockstep(columns)};
        } else {
            return {};
        }
    }

    template <int K>
    static constexpr bool group_passes_caches([[maybe_unused]] std::ptrdiff_t rows,
                                              [[maybe_unused]] std::ptrdiff_t columns) {
        if constexpr (group<K>::description.kind == graph::group_kind::rows) {
            return kernels::row_kernel<group<K>>::pass_caches(rows, columns);
        } else {
            return false;
        }
    }

    template <int K>
    static constexpr product_choice
    choose_product_of([[maybe_unused]] std::ptrdiff_t count, [[maybe_unused]] std::ptrdiff_t rows,
                      [[maybe_unused]] std::ptrdiff_t columns, [[maybe_unused]] std::ptrdiff_t depth,
                      [[maybe_unused]] kernels::matrix_strides a, [[maybe_unused]] kernels::matrix_strides b) {
        constexpr graph::group const& x = group<K>::description;
        constexpr graph::node n = Compiled::optimized.nodes[x.node < 0 ? 0 : x.node];
        if constexpr (x.kind == graph::group_kind::product ||
                      (x.kind == graph::group_kind::movement && n.op == graph::code_of<graph::ops::batch_matmul>)) {
            using T = type_of<n.type>;
            using known = known_product<K>;
            if constexpr (!kernels::is_known_tile<T>(known::rows, known::columns, known::depth)) {
                if (count > 1 && kernels::are_small_squares<T>(rows, columns, depth, a, b)) {
                    return {kernels::matmul_variant::small_squares, 0};
                }
            }
            kernels::matmul_variant variant = kernels::choose_matmul<T>(rows, columns, depth, a, b);
            // A plan may have exchanged the operands, for results that lie by columns.
            if (rows == known::rows && columns == known::columns) {
                variant = kernels::choose_known_matmul<known::rows, known::columns, known::depth, known::orders, T>(
                    a, b, variant);
            }
            if constexpr (has_lane_a_row<K>()) {
                if (columns == known::columns && kernels::suits_lane_a_row<T>(rows, known::depth, a)) {
                    variant = kernels::matmul_variant::lane_a_row;
                }
            }
            return {variant, kernels::matmul_workspace<T>(variant, rows, columns, depth, a, b)};
        } else {
            return {};
        }
    }

    std::byte* workspace() const {
        return address(bases_, {Compiled::argument_count + Compiled::output_count,
                                static_cast<std::ptrdiff_t>(plan_.workspace_offset)});
    }

    using transpose =
        std::conditional_t<Needs.orders, kernels::detail::transposition, kernels::detail::no_transposition>;

    /// The source of a copy, from the element `offset` on.
    std::byte const* source_of(copy_plan const& c, std::ptrdiff_t offset) const {
        return address(bases_, c.from) + offset * static_cast<std::ptrdiff_t>(c.element_bytes);
    }

    /// A copy of these extents of its source, from the element `offset` on.
    void run_copy(copy_plan const& c, shape const& extents, std::ptrdiff_t offset) const {
        if constexpr (Needs.rolls) {
            if (c.shift != 0) {
                copy_rolled({address(bases_, c.to), c.extents, contiguous_strides(c.extents)},
                            {address(bases_, c.from), c.extents, c.from_steps}, c.rolled_axis, c.shift,
                            c.element_bytes);
                return;
            }
        }
        kernels::copy_strided<transpose>(extents, {address(bases_, c.to), c.to_steps(extents)},
                                         {source_of(c, offset), c.from_steps}, c.element_bytes);
    }

    CALQUE_NOINLINE void run_copies(int before_group) const {
        for (int i = 0; i < plan_.copies.size(); ++i) {
            copy_plan const& c = plan_.copies.data()[i];
            if (c.before_group == before_group && !c.is_by_parts) {
                run_copy(c, c.extents, 0);
            }
        }
    }

    /// Of the space of a group: `extent` indices of its divided axis, from `first` on, and so many columns.
    struct space_part {
        extent_t first;
        extent_t extent;
        std::ptrdiff_t first_column;
        std::ptrdiff_t columns;
    };

    /// The copies for a part of a group.
    void run_copies_of_part(int k, space_part const& part) const {
        group_plan const& loops = plan_.groups[k];
        for (int i = 0; i < plan_.copies.size(); ++i) {
            copy_plan const& c = plan_.copies.data()[i];
            if (c.before_group != k || !c.is_by_parts) {
                continue;
            }
            if (loops.column_part != 0) {
                std::byte const* const from = source_of(c, part.first + part.first_column * c.from_steps[1]);
                transpose::run(from, part.columns, part.extent, c.from_steps[1], address(bases_, c.to),
                               loops.column_part, static_cast<std::ptrdiff_t>(c.element_bytes));
            } else {
                shape extents = c.extents;
                extents[loops.divided_axis] = part.extent;
                run_copy(c, extents, part.first * c.from_steps[loops.divided_axis]);
            }
        }
    }

    /// Whether a leaf of a group is copied part by part: the kernel finds each in the place of the first.
    bool is_copied_by_parts(int k, location at) const {
        for (int i = 0; i < plan_.copies.size(); ++i) {
            copy_plan const& c = plan_.copies.data()[i];
            if (c.before_group == k && c.is_by_parts && c.makes(at)) {
                return true;
            }
        }
        return false;
    }

    // ---- fused kernels

    /// Whether a leaf of a group is no array, but the places of elements.
    template <int K, int Leaf>
    static constexpr bool is_indices() {
        return schedule.values[schedule.leaves[group<K>::description.first_leaf + Leaf]].kind ==
               graph::storage_kind::indices;
    }

    /// The address of the stored value `V`, which the plan has placed. A fixed place costs no look at the plan.
    template <int V>
    CALQUE_INLINE std::byte* address_of(location const& planned) const {
        constexpr location fixed = fixed_place(schedule.view(), Compiled::argument_count, V);
        if constexpr (fixed.base >= 0) {
            return address(bases_, fixed);
        } else {
            return address(bases_, planned);
        }
    }

    template <int K, int FirstLeaf, class Arguments>
    CALQUE_INLINE void fill(Arguments& a) const {
        constexpr graph::group const& x = group<K>::description;
        kernels::unroll_steps<FirstLeaf, x.leaf_count>([&](auto i) CALQUE_INLINE_LAMBDA {
            constexpr int leaf = group<K>::description.first_leaf + i;
            if constexpr (is_indices<K, i>()) {
                a.indices[i] = 0;
            } else if constexpr (Needs.copies) { // which may stand in for any leaf
                a.leaves[i] = address(bases_, plan_.leaves[leaf].at);
            } else {
                a.leaves[i] = address_of<schedule.leaves[leaf]>(plan_.leaves[leaf].at);
            }
            a.leaf_row_strides[i] = is_one_row<K>() ? 0 : plan_.leaves[leaf].row_stride;
        });
        kernels::unroll_steps<0, x.result_count>([&](auto i) CALQUE_INLINE_LAMBDA {
            constexpr int result = group<K>::description.first_result + i;
            a.results[i] = address_of<schedule.results[result]>(plan_.results[result].at);
            a.result_row_strides[i] = is_one_row<K>() ? 0 : plan_.results[result].row_stride;
        });
    }

    template <int K, class Kernel>
    CALQUE_INLINE void run_fused() const {
        group_plan const& loops = plan_.groups[K];
        typename Kernel::arguments a;
        fill<K, 0>(a);
        if constexpr (group<K>::description.kind == graph::group_kind::rows) {
            if constexpr (Kernel::needs_scratch) {
                a.scratch = workspace();
            }
        }
        if constexpr (may_broadcast(K)) {
            a.broadcast_leaves = loops.broadcast_leaves;
        }
        if constexpr (spacings(K) != 0) {
            a.spaced = loops.spaced;
        }
        if constexpr (first_roll_of(K) != first_roll_of(K + 1)) {
            if (loops.ranges != 1) [[likely]] {
                run_ranges<K, Kernel>(a, 0, 1);
                return;
            }
        }
        if constexpr (Needs.outer_loops && plan::outer_axes != 0) {
            if (loops.outer_rank != 0) [[unlikely]] {
                run_outer_loops<K, Kernel>(a, 0);
                return;
            }
        }
        if constexpr (Needs.copies && group<K>::description.kind == graph::group_kind::rows) {
            if (loops.part != 0) [[unlikely]] {
                run_in_parts<K, Kernel>(a);
                return;
            }
        }
        run_kernel<K, Kernel>(a, loops.rows, loops.columns);
    }

    /// Runs a kernel over parts of its divided axis, each after its copies. The axis is the first of the rows, or of
    /// the columns if there is one row; parts of rows may be divided along the columns, too.
    template <int K, class Kernel>
    CALQUE_NOINLINE void run_in_parts(typename Kernel::arguments const& whole) const {
        constexpr graph::group const& x = group<K>::description;
        group_plan const& loops = plan_.groups[K];
        bool const are_rows = loops.rows != 1;
        std::ptrdiff_t const each = (are_rows ? loops.rows : loops.columns) / loops.divided_extent;
        bool is_by_parts[x.leaf_count == 0 ? 1 : x.leaf_count]{};
        for (int i = 0; i < x.leaf_count; ++i) {
            is_by_parts[i] = is_copied_by_parts(K, plan_.leaves[x.first_leaf + i].at);
        }
        std::ptrdiff_t const columns_at_once = loops.column_part != 0 ? loops.column_part : loops.columns;
        for (extent_t first = 0; first < loops.divided_extent; first += loops.part) {
            extent_t const n = std::min(loops.part, loops.divided_extent - first);
            std::ptrdiff_t const end = are_rows ? loops.columns : (first + n) * each;
            for (std::ptrdiff_t column = are_rows ? 0 : first * each; column < end; column += columns_at_once) {
                std::ptrdiff_t const columns = std::min(columns_at_once, end - column);
                run_copies_of_part(K, {first, n, column, columns});
                typename Kernel::arguments a = whole;
                kernels::move_to_row<group<K>>(a, are_rows ? first * each : 0);
                kernels::move_to_column<group<K>>(a, column);
                for (int i = 0; i < x.leaf_count; ++i) {
                    a.leaves[i] = is_by_parts[i] ? whole.leaves[i] : a.leaves[i];
                }
                run_kernel<K, Kernel>(a, are_rows ? n * each : 1, columns);
            }
        }
    }

    /// Whether a kernel over rows has one row in any call.
    template <int K>
    static constexpr bool is_one_row() {
        constexpr graph::group const& x = group<K>::description;
        constexpr int rank = Compiled::optimized.shapes[x.space].rank;
        if (x.kind != graph::group_kind::rows) {
            return false;
        }
        return x.reduced_axes == 0 ? rank <= 1 || !Needs.several_shapes : x.reduced_axes == rank;
    }

    template <int K, class Kernel>
    CALQUE_INLINE void run_kernel(typename Kernel::arguments const& a, std::ptrdiff_t rows,
                                  std::ptrdiff_t columns) const {
        if constexpr (has_kernel_of_pieces<K>()) {
            if (plan_.groups[K].variant == kernels::row_variant::in_pieces) [[unlikely]] {
                run_pieces<K>(a);
                return;
            }
        }
        if constexpr (group<K>::description.kind == graph::group_kind::rows) {
            Kernel::template run<is_one_row<K>()>(plan_.groups[K].variant, a, rows, columns);
        } else {
            Kernel::run(a, rows, columns);
        }
    }

    template <int K>
    CALQUE_NOINLINE void run_pieces(typename kernel_of_pieces<K>::arguments a) const {
        constexpr graph::group const& x = group<K>::description;
        group_plan const& loops = plan_.groups[K];
        for (int i = 0; i < x.leaf_count; ++i) {
            a.leaf_row_strides[i] = plan_.leaves[x.first_leaf + i].row_stride;
        }
        for (int i = 0; i < x.result_count; ++i) {
            a.result_row_strides[i] = plan_.results[x.first_result + i].row_stride;
        }
        a.broadcast_leaves = loops.broadcast_leaves;
        constexpr int axes = plan::outer_axes;
        int const first = loops.outer_rank;
        kernel_of_pieces<K>::run(a,
                                 {loops.rows, loops.piece_rank, plan_.outer_extents + K * axes + first,
                                  plan_.leaf_outer_strides + x.first_leaf * axes + first,
                                  plan_.result_outer_strides + x.first_result * axes + first, axes},
                                 loops.columns);
    }

    template <int K, class Kernel>
    CALQUE_NOINLINE void run_outer_loops(typename Kernel::arguments a, int axis) const {
        group_plan const& loops = plan_.groups[K];
        for (std::ptrdiff_t i = 0; i < plan_.outer_extents[K * plan::outer_axes + axis]; ++i) {
            if (axis + 1 >= plan::outer_axes || axis + 1 == loops.outer_rank) { // the former tells the compiler
                run_kernel<K, Kernel>(a, loops.rows, loops.columns);
            } else {
                run_outer_loops<K, Kernel>(a, axis + 1);
            }
            move_along<K>(a, axis, 1);
        }
    }

    /// Moves what a kernel reads and writes by `n` along an axis of the loops around it.
    template <int K, class Arguments>
    CALQUE_INLINE void move_along(Arguments& a, int axis, std::ptrdiff_t n) const {
        constexpr graph::group const& x = group<K>::description;
        kernels::unroll_steps<0, x.leaf_count>([&](auto l) CALQUE_INLINE_LAMBDA {
            constexpr int v = schedule.leaves[group<K>::description.first_leaf + l];
            using T = type_of<Compiled::optimized.nodes[schedule.values[v].node].type>;
            std::ptrdiff_t const step = plan_.leaf_outer_strides[(x.first_leaf + l) * plan::outer_axes + axis];
            if constexpr (is_indices<K, l>()) {
                a.indices[l] += n * step;
            } else {
                a.leaves[l] = static_cast<T const*>(a.leaves[l]) + n * step;
            }
        });
        kernels::unroll_steps<0, x.result_count>([&](auto r) CALQUE_INLINE_LAMBDA {
            constexpr int v = schedule.results[group<K>::description.first_result + r];
            using T = type_of<Compiled::optimized.nodes[schedule.values[v].node].type>;
            std::ptrdiff_t const step = plan_.result_outer_strides[(x.first_result + r) * plan::outer_axes + axis];
            a.results[r] = static_cast<T*>(a.results[r]) + n * step;
        });
    }

    // ---- rolled leaves

    /// The number of the first roll of a leaf of group `k`, of all groups'.
    static constexpr int first_roll_of(int k) {
        int first = 0;
        for (int i = 0; Needs.rolls && i < k; ++i) {
            first += graph::count_rolled(Compiled::view(), schedule.view(), schedule.groups[i]);
        }
        return first;
    }

    /// Runs a kernel in ranges of its loops from `loop` on, in each of which rolled leaves lie evenly, for so many rows
    /// or, of a loop around them, all.
    template <int K, class Kernel>
    CALQUE_NOINLINE void run_ranges(typename Kernel::arguments const& whole, int loop, std::ptrdiff_t rows) const {
        group_plan const& loops = plan_.groups[K];
        bool const are_rows = loop == loops.outer_rank;
        bool const are_columns = loop > loops.outer_rank;
        std::ptrdiff_t const extent = are_columns ? loops.columns
                                      : are_rows  ? loops.rows
                                                  : plan_.outer_extents[K * plan::outer_axes + loop];
        std::ptrdiff_t const most = are_rows ? rows_of_ranges<K>() : extent;
        for (std::ptrdiff_t first = 0; first < extent;) {
            typename Kernel::arguments a = whole;
            std::ptrdiff_t const end = enter_range<K>(a, loop, first, std::min(extent, first + most), extent);
            if (are_columns) {
                run_kernel<K, Kernel>(a, rows, end - first);
            } else if (are_rows) {
                run_ranges<K, Kernel>(a, loop + 1, end - first);
            } else {
                for (std::ptrdiff_t i = first; i < end; ++i) {
                    run_ranges<K, Kernel>(a, loop + 1, 1);
                    move_along<K>(a, loop, 1);
                }
            }
            first = end;
        }
    }

    /// How many rows run in ranges of the columns before the next ones do: what they read stays in a cache.
    template <int K>
    std::ptrdiff_t rows_of_ranges() const {
        group_plan const& loops = plan_.groups[K];
        bool are_divided = false;
        for (int i = first_roll_of(K); i < first_roll_of(K + 1); ++i) {
            are_divided |= plan_.rolls[i].loop > loops.outer_rank && plan_.rolls[i].shift != 0;
        }
        return are_divided ? std::max(std::ptrdiff_t{8}, kernels::thresholds::elements_of_rolled_rows /
                                                             std::max(std::ptrdiff_t{1}, loops.columns))
                           : loops.rows;
    }

    /// Moves to the index `first` of a loop of `extent`. Returns where the range ends, at the latest at `end`.
    template <int K, class Arguments>
    CALQUE_INLINE std::ptrdiff_t enter_range(Arguments& a, int loop, std::ptrdiff_t first, std::ptrdiff_t end,
                                             std::ptrdiff_t extent) const {
        constexpr graph::group const& x = group<K>::description;
        group_plan const& loops = plan_.groups[K];
        if (loop == loops.outer_rank) {
            kernels::move_to_row<group<K>>(a, first);
        } else if (loop > loops.outer_rank) {
            kernels::move_to_column<group<K>>(a, first);
        } else {
            move_along<K>(a, loop, first);
        }
        for (int i = first_roll_of(K); i < first_roll_of(K + 1); ++i) {
            roll_plan const& roll = plan_.rolls[i];
            if (roll.loop != loop || roll.shift == 0) {
                continue;
            }
            int const leaf = x.first_leaf + roll.leaf;
            std::ptrdiff_t const step = loop == loops.outer_rank ? plan_.leaves[leaf].row_stride
                                        : loop > loops.outer_rank
                                            ? 1
                                            : plan_.leaf_outer_strides[leaf * plan::outer_axes + loop];
            std::ptrdiff_t const by = (first < roll.shift ? extent : 0) - roll.shift;
            auto const bytes = static_cast<std::ptrdiff_t>(
                size_of(Compiled::optimized.nodes[schedule.values[schedule.leaves[leaf]].node].type));
            a.leaves[roll.leaf] = static_cast<std::byte const*>(a.leaves[roll.leaf]) + by * step * bytes;
            end = first < roll.shift ? std::min(end, roll.shift) : end;
        }
        return end;
    }

    // ---- matrix products

    /// Whether a product's result is all that its group stores: it goes straight to memory then.
    template <int K>
    static constexpr bool is_plain_product() {
        return group<K>::step_count == 1;
    }

    /// What the compiler knows of the product of group `K`, or of those of its batch.
    template <int K>
    struct known_product {
        static constexpr graph::graph_view g = Compiled::optimized.view();
        static constexpr graph::group const& of = group<K>::description;
        static constexpr shape result = g.shape(of.node), left = g.input_shape(g.nodes[of.node], 0);
        static constexpr extent_t rows = result[result.rank - 2], columns = result[result.rank - 1];
        static constexpr extent_t depth = [] {
            shape const right = g.input_shape(g.nodes[of.node], 1);
            return is_static(left[left.rank - 1]) ? left[left.rank - 1] : right[right.rank - 2];
        }();

    private:
        static constexpr bool is_transpose(int operand) {
            if (of.kind != graph::group_kind::product) {
                return false;
            }
            graph::stored_value const& v = schedule.values[schedule.leaves[of.first_leaf + operand]];
            return v.kind == graph::storage_kind::view && g.is<graph::ops::transpose>(v.node);
        }

    public:
        static constexpr kernels::operand_orders orders{is_transpose(0), is_transpose(1)};
    };

    /// Stores a product of group `K`, or of its batch, if its variant is one for extents that the compiler knows.
    template <int K, class T>
    CALQUE_INLINE bool multiply_known(kernels::matrix_ref<T> const& a, kernels::matrix_ref<T> const& b, T* to,
                                      std::ptrdiff_t to_stride) const {
        using known = known_product<K>;
        return kernels::multiply_known<known::rows, known::columns, known::depth, known::orders>(
            plan_.groups[K].product, a, b, to, to_stride);
    }

    /// Whether the products of group `K`, or of its batch, may have a lane for each row: they go straight to memory, and
    /// the compiler knows of nothing better.
    template <int K>
    static constexpr bool has_lane_a_row() {
        using known = known_product<K>;
        using T = type_of<Compiled::optimized.nodes[group<K>::description.node].type>;
        bool const is_stored = group<K>::description.kind != graph::group_kind::product || is_plain_product<K>();
        return is_stored && kernels::has_lane_a_row<T>(known::columns, known::depth) &&
               !kernels::is_known_tile<T>(known::rows, known::columns, known::depth);
    }

    /// The same by any variant.
    template <int K, class T>
    CALQUE_INLINE void multiply(kernels::matrix_ref<T> const& a, kernels::matrix_ref<T> const& b, T* to,
                                std::ptrdiff_t to_stride) const {
        using known = known_product<K>;
        group_plan const& loops = plan_.groups[K];
        if constexpr (has_lane_a_row<K>()) {
            if (loops.product == kernels::matmul_variant::lane_a_row) {
                kernels::multiply_a_lane_a_row<known::columns, known::depth>(loops.rows, a.data, b, to);
                return;
            }
        }
        if (!multiply_known<K>(a, b, to, to_stride)) {
            kernels::matmul<T, known::rows, known::columns>(loops.product, loops.rows, loops.columns, loops.depth, a, b,
                                                            to, to_stride, workspace());
        }
    }

    template <int K>
    struct epilogue_context {
        using kernel = kernels::fused_rows<group<K>>;
        using element = type_of<Compiled::optimized.nodes[group<K>::description.node].type>;

        typename kernel::arguments whole;

        /// Whether all that the fused work reads and writes beside scalars are matrices of so many columns, without
        /// gaps.
        bool has_rows_of(std::ptrdiff_t columns) const {
            bool has = true;
            kernels::unroll_steps<0, group<K>::step_count>([&](auto i) CALQUE_INLINE_LAMBDA {
                constexpr graph::step s = group<K>::steps()[i];
                if constexpr (s.leaf >= 0) {
                    has = has && s.varies_along_rows == s.varies_along_columns &&
                          (!s.varies_along_rows || whole.leaf_row_strides[s.leaf] == columns);
                }
                if constexpr (s.result >= 0) {
                    has = has && group<K>::is_full(s.result) && whole.result_row_strides[s.result] == columns;
                }
                has = has && s.index < 0;
            });
            return has;
        }

        /// How many columns a tile has that is whole rows of such matrices: these are one row. -1: there are none.
        std::ptrdiff_t columns_of_rows = -1;

        /// Runs the fused work on a tile of the product.
        static void consume(void const* context, element const* tile, std::ptrdiff_t tile_stride, std::ptrdiff_t i,
                            std::ptrdiff_t j, std::ptrdiff_t rows, std::ptrdiff_t columns) {
            auto const& of_product = *static_cast<epilogue_context const*>(context);
            typename kernel::arguments a = of_product.whole;
            kernels::move_to_row<group<K>>(a, i);
            kernels::move_to_column<group<K>>(a, j);
            a.tile = tile;
            a.tile_row_stride = tile_stride;
            bool const is_one_row = columns == of_product.columns_of_rows && tile_stride == columns;
            kernel::run(a, is_one_row ? 1 : rows, is_one_row ? rows * columns : columns);
        }
    };

    template <int K>
    CALQUE_NOINLINE void run_product() const {
        constexpr graph::group const& x = group<K>::description;
        using T = typename epilogue_context<K>::element;
        group_plan const& loops = plan_.groups[K];
        auto const operand = [&](int i) {
            leaf_plan const& leaf = plan_.leaves[x.first_leaf + i];
            return kernels::matrix_ref<T>{reinterpret_cast<T const*>(address(bases_, leaf.at)), leaf.row_stride,
                                          leaf.column_stride};
        };
        if constexpr (is_plain_product<K>()) {
            result_plan const& result = plan_.results[x.first_result];
            multiply<K, T>(operand(0), operand(1), reinterpret_cast<T*>(address(bases_, result.at)), loops.columns);
        } else {
            epilogue_context<K> context;
            fill<K, 2>(context.whole);
            using known = known_product<K>;
            if constexpr (kernels::is_known_tile<T>(known::rows, known::columns, known::depth)) {
                alignas(64) T memory[static_cast<std::size_t>(known::rows * known::columns)];
                // g++ 12 warns of loads that only larger tiles have, if it knows how large this one is.
                T* const tile = kernels::advanced(memory, 0);
                if (multiply_known<K, T>(operand(0), operand(1), tile, known::columns)) {
                    bool const is_one_row = context.has_rows_of(known::columns);
                    epilogue_context<K>::consume(&context, tile, known::columns, 0, 0, is_one_row ? 1 : known::rows,
                                                 is_one_row ? known::rows * known::columns : known::columns);
                    return;
                }
            }
            context.columns_of_rows = context.has_rows_of(loops.columns) ? loops.columns : -1;
            kernels::matmul<T, known::rows, known::columns>(
                loops.product, loops.rows, loops.columns, loops.depth, operand(0), operand(1),
                kernels::tile_sink<T>{&epilogue_context<K>::consume, &context}, workspace());
        }
    }

    template <int K, class T>
    void run_products(moved_value const& to, moved_value const& a, moved_value const& b) const {
        using known = known_product<K>;
        group_plan const& p = plan_.groups[K];
        auto const batch = [](moved_value const& x) {
            return kernels::matrix_batch<T>{{reinterpret_cast<T const*>(x.data), x.steps[1], x.steps[2]}, x.steps[0]};
        };
        kernels::product_batch<T> const result{reinterpret_cast<T*>(to.data), to.steps[0], to.steps[1]};
        if constexpr (kernels::is_known_tile<T>(known::rows, known::columns, known::depth)) {
            if (kernels::multiply_known_batch<known::rows, known::columns, known::depth, known::orders>(
                    p.product, to.extents[0], batch(a), batch(b), result)) {
                return;
            }
        }
        if constexpr (has_lane_a_row<K>()) {
            if (p.product == kernels::matmul_variant::lane_a_row) {
                kernels::for_each_product(
                    to.extents[0], batch(a), batch(b), result, [&](auto const& x, auto const& y, T* its) {
                        kernels::multiply_a_lane_a_row<known::columns, known::depth>(p.rows, x.data, y, its);
                    });
                return;
            }
        }
        kernels::multiply_batch<T>(p.product, to.extents[0], p.rows, p.columns, p.depth, batch(a), batch(b), result,
                                   workspace());
    }

    // ---- movement

    template <int K>
    CALQUE_NOINLINE void run_movement() const {
        constexpr graph::group const& x = group<K>::description;
        constexpr graph::node n = Compiled::optimized.nodes[group<K>::description.node];
        using T = type_of<n.type>;
        auto const operand = [&](int i) {
            value_plan const& v = plan_.values[schedule.leaves[x.first_leaf + i]];
            return moved_value{address(bases_, v.at), v.extents, v.steps};
        };
        value_plan const& out = plan_.values[schedule.results[x.first_result]];
        moved_value const to{address(bases_, out.at), out.extents, out.steps};
        if constexpr (n.op == graph::code_of<graph::ops::iota>) {
            fill_iota<T>(to);
        } else if constexpr (n.op == graph::code_of<graph::ops::shuffled_indices>) {
            shuffle_rows(to, operand(0));
        } else if constexpr (n.op == graph::code_of<graph::ops::literal_elements>) {
            for (int i = 0; i < to.extents[0]; ++i) {
                auto const bits = static_cast<std::uint64_t>(Compiled::optimized.view().shapes[n.attribute][i]);
                reinterpret_cast<T*>(to.data)[i] = graph::from_bits<T>(bits);
            }
        } else if constexpr (n.op == graph::code_of<graph::ops::user_function>) {
            std::byte const* inputs[x.leaf_count];
            strides steps[x.leaf_count];
            for (int i = 0; i < x.leaf_count; ++i) {
                moved_value const input = operand(i);
                inputs[i] = input.data;
                steps[i] = input.steps;
            }
            Compiled::optimized.view().user_operations[n.attribute]->run(to.extents, to.data, inputs, steps);
        } else if constexpr (n.op == graph::code_of<graph::ops::host_function> ||
                             n.op == graph::code_of<graph::ops::host_call>) {
            host_arrays<x.leaf_count + 1> arrays;
            for (int i = 0; i < x.leaf_count; ++i) {
                int const v = schedule.leaves[x.first_leaf + i];
                arrays.add(operand(i), size_of(Compiled::optimized.nodes[schedule.values[v].node].type));
            }
            if constexpr (n.op == graph::code_of<graph::ops::host_call>) {
                moved_value const state = operand(x.leaf_count - 1);
                kernels::copy_strided(to.extents, {to.data, to.steps}, {state.data, state.steps}, sizeof(T));
            }
            arrays.add(to, sizeof(T));
            arrays.call(*Compiled::optimized.view().user_operations[graph::ops::host_operation::number(n.attribute)]);
        } else if constexpr (n.op == graph::code_of<graph::ops::running_sum>) {
            run_running_sum<T>(to, operand(0), n.attribute);
        } else if constexpr (n.op == graph::code_of<graph::ops::recurrence>) {
            run_recurrence<T>(to, operand(0), operand(1), n.attribute);
        } else if constexpr (n.op == graph::code_of<graph::ops::sort_order>) {
            constexpr int v = schedule.leaves[x.first_leaf];
            sort_rows<type_of<Compiled::optimized.nodes[schedule.values[v].node].type>>(
                to, operand(0), graph::ops::sort_order::is_descending(n.attribute));
        } else if constexpr (n.op == graph::code_of<graph::ops::row_numbers>) {
            number_rows(to, operand(0));
        } else if constexpr (n.op == graph::code_of<graph::ops::batch_matmul>) {
            run_products<K, T>(to, operand(0), operand(1));
        } else if constexpr (n.op == graph::code_of<graph::ops::concatenate>) {
            constexpr int axis = static_cast<int>(n.attribute);
            if constexpr (x.leaf_count > 1 && x.leaf_count <= kernels::thresholds::most_interleaved_arrays) {
                auto const parts = simd::indices<x.leaf_count>(
                    [&](auto... i) { return std::array<moved_value, x.leaf_count>{operand(i)...}; });
                if (copy_in_turn<T>(to, parts, axis)) {
                    return;
                }
            }
            std::ptrdiff_t start = 0;
            for (int i = 0; i < x.leaf_count; ++i) {
                start += copy_part(to, operand(i), axis, start, sizeof(T));
            }
        } else if constexpr (n.op == graph::code_of<graph::ops::roll>) {
            copy_rolled(to, operand(0), static_cast<int>(n.attribute),
                        *reinterpret_cast<std::int64_t const*>(operand(1).data), sizeof(T));
        } else if constexpr (n.op == graph::code_of<graph::ops::slice_adjoint> ||
                             n.op == graph::code_of<graph::ops::set_slice>) {
            graph::graph_view const g = Compiled::optimized.view();
            graph::slice_lists const lists = graph::slice_lists::unpack(n.attribute);
            slice_ranges const where{g.shapes[lists.starts], g.shapes[lists.stops], g.shapes[lists.steps]};
            if constexpr (n.op == graph::code_of<graph::ops::set_slice>) {
                set_slice<T>(to, operand(0), operand(1), where);
            } else {
                place_slice<T>(to, operand(0), where);
            }
        } else {
            constexpr int v = schedule.leaves[x.first_leaf + 1];
            using I = type_of<Compiled::optimized.nodes[schedule.values[v].node].type>;
            using op = graph::op_at<n.op>;
            if constexpr (n.op == graph::code_of<graph::ops::gather_rows>) {
                gather_rows<T, I>(to, operand(0), operand(1));
            } else if constexpr (std::is_base_of_v<graph::ops::segment_fold, op>) {
                fold_segments<op, T, I>(to, operand(0), operand(1));
            } else if constexpr (n.op == graph::code_of<graph::ops::take>) {
                take_elements<I>(to, operand(0), operand(1), static_cast<int>(n.attribute), sizeof(T));
            } else {
                static_assert(n.op == graph::code_of<graph::ops::take_adjoint>);
                add_taken<T, I>(to, operand(0), operand(1), static_cast<int>(n.attribute));
            }
        }
    }

    plan const& plan_;
    base_addresses bases_;
};

} // namespace runtime
} // namespace v0
} // namespace calque
