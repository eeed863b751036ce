// SPDX-License-Identifier: MIT
// One call, from top to bottom: bind the arguments, find the plan, bind the outputs, run.
#pragma once

#include <calque/runtime/aliasing.hpp>
#include <calque/runtime/cache.hpp>
#include <calque/runtime/eager_mode.hpp>
#include <calque/runtime/output_gaps.hpp>
#include <calque/runtime/program.hpp>
#include <calque/runtime/violation.hpp>

#include <cstring>

namespace calque {
inline namespace v0 {
namespace runtime {

/// A call of the program `P`.
template <class P>
class call {
    using code = typename P::code;
    using plan = typename P::plan;

    static constexpr int argument_count = P::layout::count;
    static constexpr int output_count = P::traced::output_count;
    static constexpr int arena_base = argument_count + output_count;
    static constexpr alias_table<code> aliases{};
    static constexpr auto const& schedule = code::schedule;

    /// What only calls with outputs of types that may be strided contain.
    struct strided_ways {
        void (*copy)(shape const&, kernels::strided_side const&, kernels::strided_source const&, std::size_t);
        bool (call::*run_into_gaps)(plan const&); // null: no kernel writes such outputs
    };

    /// How an output of the caller's lies.
    struct bound_output {
        strided_ways const* strided;  // null if its elements lie as the plan writes them
        std::int64_t steps[max_rank]; // set if it is not null
    };

public:
    /// Binds the arguments: their addresses, and the key. The function's name is for messages, here and below.
    template <class... Args>
    CALQUE_INLINE explicit call(std::string const& function_name, Args const&... args) {
        bind_all(typename P::arguments{}, function_name, args...);
    }

    typename P::key const& key() const { return key_; }

    /// Whether every array lies contiguously, as the plan of a static function takes for granted.
    CALQUE_INLINE bool has_contiguous_arguments() const {
        bool all = true;
        for (int a = 0; !P::layouts.are_all_contiguous && a < argument_count; ++a) {
            all &= is_contiguous_argument(a);
        }
        return all;
    }

    /// Runs the plan and writes the results to `outputs`, a tree of arrays, which is resized where that is possible.
    /// `MayAlias`: the caller's arrays may share memory with arguments.
    ///
    /// Where a check of the function may throw, outputs and variables that exist are written at the end.
    template <bool MayAlias, class Outputs>
    CALQUE_INLINE void run(plan const& p, Outputs& outputs, std::string const& function_name) {
        bind_all_outputs<MayAlias>(p, outputs);
        if constexpr (runs_in_place) {
            if (p.arena_bytes == 0 && runs_kernels_alone(p) && !needs_copies_) [[likely]] {
                bases_[arena_base] = nullptr;
                execute(p);
                require_no_violation(function_name);
                return;
            }
        }
        run_apart(p, writes_to_existing<MayAlias> || P::execution::keeps_orders, function_name);
    }

    /// The same where binding the outputs, which resizes them, would take memory away from an argument: first runs.
    template <class Outputs>
    CALQUE_COLD void run_before_binding(plan const& p, Outputs& outputs, std::string const& function_name) {
        for (int o = 0; o < output_count; ++o) {
            bases_[argument_count + o] = nullptr;
        }
        void* const tree = const_cast<void*>(static_cast<void const*>(std::addressof(outputs)));
        run_with_copies(p, true, function_name, {tree, &bind_late<Outputs>});
    }

    /// Whether a resize of the outputs would take memory away from an argument. Throws `shape_error` if an output of
    /// another shape cannot be resized; none has been then.
    template <class Outputs>
    CALQUE_INLINE bool would_lose_arguments(plan const& p, Outputs& outputs, std::string const& function_name) const {
        bool fit = true;
        for_each_indexed_leaf<typename P::result>(outputs, [&](auto index, auto& leaf) CALQUE_INLINE_LAMBDA {
            if constexpr (!arithmetic<std::remove_cvref_t<decltype(leaf)>>) {
                fit &= calque::detail::has_extents(leaf, extents_of(p, index));
            }
        });
        return !fit && would_lose_resizing(p, outputs, function_name);
    }

    /// Inline, lest g++ merges those of plans with other numbers of outputs and warns of the greater index.
    CALQUE_INLINE static constexpr extent_t const* extents_of(plan const& p, std::size_t output) {
        return p.outputs[output].extents.extents;
    }

private:
    // ---- arguments

    /// Names an argument, for the error of one that does not match.
    struct argument_place {
        using mismatch = typename P::mismatch;
        std::string const& function_name;
        int const& argument;

        CALQUE_COLD std::string operator()() const {
            text name;
            name << function_name << ": argument " << argument;
            return name.string();
        }
    };

    /// `Declared`: what each argument is bound to, its own type or what a signature says.
    template <class... Declared, class... Args>
    CALQUE_INLINE void bind_all(type_list<Declared...>, std::string const& function_name, Args const&... args) {
        int argument = 0;
        std::size_t first_leaf = 0;
        (bind<Declared>(args, function_name, argument, first_leaf), ...);
    }

    template <class Declared, class Argument>
    CALQUE_INLINE void bind(Argument const& x, std::string const& function_name, int& argument,
                            std::size_t& first_leaf) {
        using its_leaves = tree_leaves_t<Declared>;
        argument_place const where{function_name, argument};
        std::size_t const first = first_leaf;
        bind_argument<its_leaves>(x, where, [&](auto index, auto const& ref) CALQUE_INLINE_LAMBDA {
            bind_leaf(static_cast<int>(first + index), ref);
        });
        ++argument;
        first_leaf += its_leaves::size;
    }

    template <class Ref>
    CALQUE_INLINE void bind_leaf(int leaf, Ref const& ref) {
        bases_[leaf] = reinterpret_cast<std::byte*>(const_cast<void*>(static_cast<void const*>(ref.data)));
        if constexpr (Ref::rank != 0) {
            std::int64_t* const extents = key_.words + P::layout::of.first_word[leaf];
            for (int axis = 0; axis < Ref::rank; ++axis) {
                extents[axis] = ref.extents[axis];
            }
            std::int64_t* const strides = extents + Ref::rank;
            if constexpr (!Ref::contiguous) {
                bind_strides(strides, ref);
            } else if (P::layout::of.has_strides[leaf]) {
                for (int axis = 0; axis < Ref::rank; ++axis) {
                    strides[axis] = 0;
                }
            }
        }
    }

    /// Zeros if the array is contiguous all the same.
    template <class Ref>
    CALQUE_INLINE static void bind_strides(std::int64_t* strides, Ref const& ref) {
        std::int64_t expected = 1;
        bool contiguous = true;
        for (int axis = Ref::rank - 1; axis >= 0; --axis) {
            strides[axis] = 0;
            contiguous &= ref.extents[axis] == 1 || ref.strides[axis] == expected;
            expected *= ref.extents[axis];
        }
        if (!contiguous) [[unlikely]] {
            for (int axis = 0; axis < Ref::rank; ++axis) {
                strides[axis] = ref.extents[axis] == 1 ? 1 : calque::detail::stride_word(ref.strides[axis]);
            }
        }
    }

    // ---- outputs

    /// The same where one has another shape. What an adaptor throws does not know the function's name.
    template <class Outputs>
    CALQUE_COLD bool would_lose_resizing(plan const& p, Outputs& outputs, std::string const& function_name) const {
        try {
            return would_lose_resizing(p, outputs);
        } catch (shape_error const& e) {
            constexpr char start[] = "calque: ";
            constexpr std::size_t length = sizeof(start) - 1;
            text message;
            message << start << function_name << ": "
                    << e.what() + (std::strncmp(e.what(), start, length) == 0 ? length : 0);
            throw shape_error(message.string());
        }
    }

    template <class Outputs>
    bool would_lose_resizing(plan const& p, Outputs& outputs) const {
        bool loses = false;
        for_each_indexed_leaf<typename P::result>(outputs, [&](auto index, auto& leaf) {
            using A = std::remove_cvref_t<decltype(leaf)>;
            if constexpr (!arithmetic<A>) {
                extent_t const* const wanted = extents_of(p, index);
                if (!calque::detail::has_extents(leaf, wanted)) {
                    if constexpr (is_resizable_v<A>) {
                        if constexpr (has_static_extents<array_spec_t<A>>()) {
                            require_declared_extents<A>(wanted);
                        }
                        loses |= overlaps_an_argument(p, leaf);
                    } else {
                        calque::detail::resize_output(leaf, wanted);
                    }
                }
            }
        });
        return loses;
    }

    /// The extents that the type of an output fixes, `with_shape` of a container say, cannot change.
    template <class A>
    static void require_declared_extents(extent_t const* wanted) {
        shape result;
        for (int axis = 0; axis < array_spec_t<A>::rank; ++axis) {
            result.push_back(wanted[axis]);
        }
        if (calque::detail::first_mismatch(result, array_spec_t<A>::shape) != result.rank) {
            throw_not_resizable(array_spec_t<A>::shape, result);
        }
    }

    /// Whether an argument lies, in part at least, in the memory that a container owns.
    template <class A>
    bool overlaps_an_argument(plan const& p, A const& container) const {
        using adaptor = array_adaptor<A>;
        extent_t elements = 1;
        if constexpr (requires { adaptor::actual_shape(container); }) {
            elements = adaptor::actual_shape(container).size();
        } else {
            elements = shape_of(container).size();
        }
        auto const* const first = adaptor::data(container);
        auto const bytes = elements * static_cast<std::ptrdiff_t>(sizeof(*first));
        bool overlaps_one = false;
        for (int a = 0; a < argument_count; ++a) {
            overlaps_one |= p.arguments[a].overlaps(distance(a, reinterpret_cast<std::byte const*>(first)), bytes);
        }
        return overlaps_one;
    }

    static constexpr bool has_variables = P::assigned_count != 0;

    template <bool MayAlias>
    static constexpr bool writes_to_existing = MayAlias || has_variables;

    template <bool MayAlias, class Outputs>
    CALQUE_INLINE void bind_all_outputs(plan const& p, Outputs& outputs) {
        if constexpr (P::result_count != 0) {
            bind_outputs<typename P::result, typename P::outputs>(
                outputs, [&p](auto i) CALQUE_INLINE_LAMBDA { return extents_of(p, i); },
                [&](auto index, auto const& ref)
                    CALQUE_INLINE_LAMBDA { bind_output<writes_to_existing<MayAlias>>(p, index, ref); });
        }
        if constexpr (has_variables) {
            bind_variables(p);
        }
        if constexpr (P::has_requirements) {
            bind_violation();
            needs_copies_ |= writes_to_existing<MayAlias>;
        }
    }

    /// Variables that the function assigns to are outputs, where they are.
    CALQUE_INLINE void bind_variables(plan const& p) {
        for (int o = P::result_count; o < P::result_count + P::assigned_count; ++o) {
            std::byte* const data = bases_[P::assigned_argument(o)];
            bases_[argument_count + o] = data;
            outputs_[o].strided = nullptr;
            if constexpr (P::execution::keeps_orders) {
                shape const& extents = p.outputs[o].extents;
                require_order(p, o, extents.rank, contiguous_strides(extents).values, ways<false>);
            }
            if (outputs_[o].strided != nullptr || disturbs_arguments(p, o)) [[unlikely]] {
                needs_copies_ = true;
            }
        }
    }

    /// For each output, whether a plan may lay it out in another order than by rows: how it lies is in the plan then.
    struct order_table {
        bool is_in_plan[output_count == 0 ? 1 : output_count]{};

        constexpr order_table() {
            for (int o = 0; o < output_count; ++o) {
                int const written = aliases.written_value(o);
                is_in_plan[o] = P::execution::keeps_orders &&
                                (code::view().by_columns != 0 ? written >= 0 : written == schedule.outputs[o]);
            }
        }
    };
    static constexpr order_table orders{};

    CALQUE_INLINE bool may_keep_order(plan const& p, int output) const {
        return orders.is_in_plan[output] && !runs_op_by_op(p) && !is_widened(p, output);
    }

    CALQUE_INLINE strides planned_strides(plan const& p, int output) const {
        value_plan const& v = p.outputs[output];
        return may_keep_order(p, output) || is_widened(p, output) ? v.steps : contiguous_strides(v.extents);
    }

    /// An output that lies in another way than the plan lays it out is copied there.
    CALQUE_INLINE void require_order(plan const& p, int output, int rank, std::int64_t const* steps,
                                     strided_ways const& its_ways) {
        value_plan const& v = p.outputs[output];
        bool const is_in_plan = may_keep_order(p, output);
        bool lies_as_planned = true;
        std::int64_t expected = 1;
        for (int axis = rank - 1; axis >= 0; --axis) {
            lies_as_planned &= v.extents[axis] == 1 || steps[axis] == (is_in_plan ? v.steps[axis] : expected);
            expected *= v.extents[axis];
        }
        if (!lies_as_planned && expected != 0) [[unlikely]] {
            outputs_[output].strided = &its_ways;
            for (int axis = 0; axis < rank; ++axis) {
                outputs_[output].steps[axis] = steps[axis];
            }
        }
    }

    /// The violation of a check is the last output.
    CALQUE_INLINE void bind_violation() {
        constexpr int o = output_count - 1;
        violation_ = graph::violation::none;
        bases_[argument_count + o] = reinterpret_cast<std::byte*>(&violation_);
        outputs_[o].strided = nullptr;
    }

    CALQUE_INLINE void require_no_violation([[maybe_unused]] std::string const& function_name) const {
        if constexpr (P::has_requirements) {
            std::int64_t violation = 0;
            std::memcpy(&violation, bases_[argument_count + output_count - 1], sizeof(violation));
            runtime::require_no_violation<P>(violation, key_.words, function_name);
        }
    }

    template <bool MayAlias, class Index, class Ref>
    CALQUE_INLINE void bind_output(plan const& p, Index, Ref const& ref) {
        constexpr int output = static_cast<int>(Index::value);
        auto* const data = reinterpret_cast<std::byte*>(ref.data);
        bases_[argument_count + output] = data;
        if constexpr (MayAlias || P::execution::keeps_orders) {
            bound_output& bound = outputs_[output];
            bound.strided = nullptr;
            if constexpr (!Ref::contiguous) {
                require_order(p, output, Ref::rank, ref.strides, ways<(Ref::rank > 1)>);
            } else if constexpr (Ref::rank != 0 && P::execution::keeps_orders) {
                std::int64_t steps[Ref::rank];
                for (int axis = 0; axis < Ref::rank; ++axis) {
                    steps[axis] = ref.stride(axis);
                }
                require_order(p, output, Ref::rank, steps, ways<false>);
            }
            bool const is_disturbing = MayAlias && disturbs_arguments(p, output);
            if (bound.strided != nullptr || is_disturbing) [[unlikely]] {
                needs_copies_ = true;
            }
        }
    }

    /// Bytes from the first element of an argument to an address.
    CALQUE_INLINE std::ptrdiff_t distance(int argument, std::byte const* to) const {
        return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(to) -
                                           reinterpret_cast<std::uintptr_t>(bases_[argument]));
    }

    /// Whether an output overlaps an argument that is read after the output is written.
    CALQUE_INLINE bool disturbs_arguments(plan const& p, int output) const {
        return overlaps_an_argument(p, output) && disturbs_those_it_overlaps(p, output);
    }

    /// One branch for all arguments: an output of its own, the common case, overlaps none.
    CALQUE_INLINE bool overlaps_an_argument(plan const& p, int output) const {
        bool overlaps = false;
#pragma GCC unroll 16
        for (int a = 0; a < argument_count; ++a) {
            overlaps |= p.arguments[a].overlaps(distance(a, bases_[argument_count + output]), p.output_bytes[output]);
        }
        return overlaps;
    }

    CALQUE_INLINE bool disturbs_those_it_overlaps(plan const& p, int output) const {
        bool disturbs = false;
        for (int a = 0; a < argument_count; ++a) {
            std::ptrdiff_t const to_output = distance(a, bases_[argument_count + output]);
            if (p.arguments[a].overlaps(to_output, p.output_bytes[output])) { // most do not
                disturbs |= to_output != 0 || !is_in_place(p, output, a);
            }
        }
        return disturbs;
    }

    /// Whether an output may take the place of an argument that begins where it does: of as many elements, since one
    /// that a dynamic extent of 1 stretches is read again and again.
    CALQUE_INLINE bool is_in_place(plan const& p, int output, int argument) const {
        return aliases.in_place(output, argument) && lies_like(p, output, argument) &&
               elements_of(argument) == p.outputs[output].extents.size();
    }

    /// Whether an argument lies as the plan lays an output out.
    CALQUE_INLINE bool lies_like(plan const& p, int output, int argument) const {
        if constexpr (P::execution::keeps_orders) {
            shape extents;
            strides steps;
            read_argument<typename P::layout>(key_.words, argument, extents, steps);
            return extents.rank == p.outputs[output].extents.rank &&
                   are_equal_strides(extents, steps, planned_strides(p, output));
        } else {
            return is_contiguous_argument(argument);
        }
    }

    CALQUE_INLINE bool is_contiguous_argument(int argument) const {
        std::int64_t strided = 0;
        for (int axis = 0; P::layout::of.has_strides[argument] && axis < P::layout::of.ranks[argument]; ++axis) {
            strided |= key_.words[P::layout::of.first_word[argument] + P::layout::of.ranks[argument] + axis];
        }
        return strided == 0;
    }

    CALQUE_INLINE extent_t elements_of(int argument) const {
        extent_t elements = 1;
        for (int axis = 0; axis < P::layout::of.ranks[argument]; ++axis) {
            elements *= key_.words[P::layout::of.first_word[argument] + axis];
        }
        return elements;
    }

    // ---- execution

    /// Whether calls run their kernels where they are written. Of more than two kernels there is one copy, which all
    /// calls with these types run: they take longer than the jump, and each copy is compiled.
    static constexpr bool runs_in_place = code::size.groups <= 2;

    CALQUE_INLINE void execute(plan const& p) {
        bases_[arena_base + 1] = reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(p.scalars));
        typename P::execution(p, bases_).run();
    }

    CALQUE_NOINLINE void execute_apart(plan const& p) { execute(p); }

    /// The same with memory that the plan needs, or through copies.
    CALQUE_NOINLINE void run_apart(plan const& p, bool may_be_strided, std::string const& function_name) {
        if (!runs_kernels_alone(p) || needs_copies_) [[unlikely]] {
            if (may_be_strided && runs_into_gaps(p)) {
                return;
            }
            run_with_copies(p, may_be_strided, function_name);
            return;
        }
        if (p.arena_bytes == 0) {
            bases_[arena_base] = nullptr;
            execute_apart(p);
        } else {
            arena::frame const frame(p.arena_bytes);
            bases_[arena_base] = frame.data();
            execute_apart(p);
        }
        require_no_violation(function_name);
    }

    /// Whether not the plan's kernels compute the results, but an interpreter, which knows only row-major arrays.
    CALQUE_INLINE bool runs_op_by_op(plan const& p) const { return is_interpreted(p) || eager_runner_ != nullptr; }

    /// The same where the plan says so, which few plans can.
    CALQUE_INLINE static bool is_interpreted(plan const& p) {
        return code::may_be_interpreted && p.mode == execution_mode::op_by_op;
    }

    /// Whether kernels write all outputs as they are, which all calls of most programs do.
    CALQUE_INLINE static bool runs_kernels_alone(plan const& p) {
        return !code::may_be_interpreted || p.mode == execution_mode::kernels;
    }

    /// The bytes of an output; `output_bytes` has those that kernels write.
    CALQUE_INLINE static std::ptrdiff_t bytes_of(plan const& p, int output) {
        return code::may_be_widened
                   ? p.outputs[output].extents.size() * static_cast<std::ptrdiff_t>(P::output_element_bytes(output))
                   : p.output_bytes[output];
    }

    /// Whether an output is computed for more elements than it has.
    CALQUE_INLINE bool is_widened(plan const& p, int output) const {
        return code::may_be_widened && eager_runner_ == nullptr && p.output_bytes[output] != bytes_of(p, output);
    }

    /// Outputs that are bound only when all has been computed.
    struct late_outputs {
        void* tree = nullptr;
        void (*bind)(call&, plan const&, void* tree) = nullptr;
    };

    template <class Outputs>
    static void bind_late(call& c, plan const& p, void* tree) {
        c.bind_all_outputs<true>(p, *static_cast<Outputs*>(tree));
    }

    /// Whether a call with outputs that do not lie as the plan writes them has run, as kernels can write them all.
    bool runs_into_gaps(plan const& p) {
        for (int o = 0; runs_kernels_alone(p) && o < output_count; ++o) {
            if (auto const* const its = outputs_[o].strided; its != nullptr) {
                return its->run_into_gaps != nullptr && (this->*its->run_into_gaps)(p);
            }
        }
        return false;
    }

    template <bool MayHaveGaps>
    static constexpr strided_ways find_ways() {
        if constexpr (MayHaveGaps && may_write_gaps<P>()) {
            return {&kernels::copy_strided<>, &call::run_into_gaps};
        } else {
            return {&kernels::copy_strided<>, nullptr};
        }
    }
    template <bool MayHaveGaps>
    static constexpr strided_ways ways = find_ways<MayHaveGaps>();

    /// Runs a call some of whose outputs have gaps between rows, which its kernels write where they lie. False, and
    /// nothing is written, if they cannot, or if such an output overlaps an argument.
    bool run_into_gaps(plan const& p) {
        if (eager_runner_ != nullptr) {
            return false;
        }
        strides wanted[output_count];
        for (int o = 0; o < output_count; ++o) {
            bool const has_gaps = outputs_[o].strided != nullptr;
            if (has_gaps) {
                std::copy(outputs_[o].steps, outputs_[o].steps + p.outputs[o].extents.rank, wanted[o].values);
            } else {
                wanted[o] = planned_strides(p, o);
            }
            if (has_gaps ? !is_apart(p, o, wanted[o]) : disturbs_arguments(p, o)) {
                return false;
            }
        }
        auto const* const for_gaps = plan_for_gaps<P>::find(key_, wanted);
        if (for_gaps == nullptr) {
            return false;
        }
        arena::frame const frame(for_gaps->arena_bytes);
        bases_[arena_base] = frame.data();
        bases_[arena_base + 1] = reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(for_gaps->scalars));
        typename plan_for_gaps<P>::execution(*for_gaps, bases_).run();
        return true;
    }

    /// Whether the rows of an output follow each other, and no argument lies among them.
    bool is_apart(plan const& p, int output, strides const& steps) const {
        shape const& extents = p.outputs[output].extents;
        extent_t span = 1; // elements from the first to the last
        for (int axis = extents.rank - 1; axis >= 0; --axis) {
            if (extents[axis] != 1 && steps[axis] < span) {
                return false;
            }
            span += (extents[axis] - 1) * steps[axis];
        }
        std::ptrdiff_t const bytes = span * static_cast<std::ptrdiff_t>(P::output_element_bytes(output));
        bool is = true;
        for (int a = 0; a < argument_count; ++a) {
            is &= !p.arguments[a].overlaps(distance(a, bases_[argument_count + output]), bytes);
        }
        return is;
    }

    /// Every output through memory of its own, then to where the caller wants it. `may_be_strided`: `outputs_` says how
    /// outputs lie; else all are contiguous.
    CALQUE_NOINLINE void run_with_copies(plan const& p, bool may_be_strided, std::string const& function_name,
                                         late_outputs late = {}) {
        std::size_t offsets[output_count == 0 ? 1 : output_count];
        std::size_t bytes = (p.arena_bytes + 63) / 64 * 64;
        for (int o = 0; o < output_count; ++o) {
            offsets[o] = bytes;
            bytes += (static_cast<std::size_t>(p.output_bytes[o]) + 63) / 64 * 64;
        }
        arena::frame const frame(bytes + 64);
        bases_[arena_base] = frame.data();
        std::byte* wanted[output_count == 0 ? 1 : output_count];
        for (int o = 0; o < output_count; ++o) {
            wanted[o] = bases_[argument_count + o];
            bases_[argument_count + o] = frame.data() + offsets[o];
        }
        run_into_temporaries(p);
        require_no_violation(function_name);
        if (late.bind != nullptr) {
            late.bind(*this, p, late.tree);
            for (int o = 0; o < output_count; ++o) {
                wanted[o] = bases_[argument_count + o];
            }
        }
        for (int o = 0; o < output_count; ++o) {
            shape const& extents = p.outputs[o].extents;
            std::byte const* const from = frame.data() + offsets[o];
            bool const has_gaps = may_be_strided && outputs_[o].strided != nullptr;
            if (!has_gaps && !is_widened(p, o)) {
                kernels::copy_bytes(wanted[o], from, static_cast<std::size_t>(bytes_of(p, o)));
                continue;
            }
            strides to = contiguous_strides(extents);
            for (int axis = 0; has_gaps && axis < extents.rank; ++axis) {
                to[axis] = outputs_[o].steps[axis];
            }
            kernels::strided_source const planned{from, planned_strides(p, o)};
            if constexpr (code::may_be_widened) { // without gaps `strided` is null
                kernels::copy_strided<>(extents, {wanted[o], to}, planned, P::output_element_bytes(o));
            } else {
                outputs_[o].strided->copy(extents, {wanted[o], to}, planned, P::output_element_bytes(o));
            }
        }
    }

    void run_into_temporaries(plan const& p) {
        if (eager_runner_ != nullptr) { // the graph that the kernels run, so that results are theirs bit by bit
            bool const is_what_runs = !is_interpreted(p) && code::view().by_columns == 0;
            run_by(eager_runner_, is_what_runs ? code::view() : P::traced::graph.view());
            return;
        }
        if constexpr (code::may_be_interpreted) {
            if (is_interpreted(p)) { // dynamic extents broadcast although fusion relies on equal ones
                struct traced_graph {
                    static constexpr graph::graph_view view() { return P::traced::graph.view(); }
                };
                using interpreter = graph::interpreter<kernels::interpreter_engine, graph::used_by<traced_graph>>;
                run_by(&run_on_tensors<&interpreter::run>, traced_graph::view());
                return;
            }
        }
        execute_apart(p);
    }

    /// Op by op.
    void run_by(call_runner runner, graph::graph_view const& g) const {
        shape extents[argument_count == 0 ? 1 : argument_count];
        strides steps[argument_count == 0 ? 1 : argument_count];
        read_key<typename P::layout>(key_.words, extents, steps);
        dtype types[argument_count == 0 ? 1 : argument_count]{};
        for (int a = 0; a < argument_count; ++a) {
            types[a] = P::argument_type(a);
        }
        runner(g, {argument_count, types, extents, steps, bases_, output_count});
    }

    typename P::key key_;
    std::byte* bases_[argument_count + output_count + 2];
    bound_output outputs_[output_count == 0 ? 1 : output_count];
    call_runner eager_runner_ = eager_runner.load(std::memory_order_acquire);
    bool needs_copies_ = eager_runner_ != nullptr;
    std::int64_t violation_; // of functions with requirements: set when it is bound
};

} // namespace runtime
} // namespace v0
} // namespace calque
