// SPDX-License-Identifier: MIT
// What a function compiled for the types of a call's arguments makes of the call: its key, its plan, its execution.
#pragma once

#include <calque/core/error.hpp>
#include <calque/graph/interpreter.hpp>
#include <calque/graph/shape_inference.hpp>
#include <calque/interop/result.hpp>
#include <calque/kernels/cpu/interpreter_engine.hpp>
#include <calque/runtime/aliasing.hpp>
#include <calque/runtime/arena.hpp>
#include <calque/runtime/compiled.hpp>
#include <calque/runtime/execute.hpp>
#include <calque/runtime/key.hpp>
#include <calque/runtime/make_plan.hpp>
#include <calque/trace/output.hpp>

#include <algorithm>

namespace calque {
inline namespace v0 {
namespace runtime {

/// What the types say of how the arrays of a call lie: sets of leaves, which end with leaf 63.
struct declared_layouts {
    std::uint64_t by_columns = 0;
    std::uint64_t contiguous = 0; // in any call
    bool are_all_contiguous = true;
};

namespace detail {

/// Collects what the types of a call's arguments say, leaf by leaf.
struct layout_collector {
    declared_layouts found{};
    std::size_t leaf = 0;

    template <class A>
    constexpr void add() {
        using tree = structure_t<A>;
        constexpr tree_kind kind = tree_kind_v<tree>;
        if constexpr (kind == tree_kind::tuple || kind == tree_kind::aggregate) {
            add_all(tree_children_t<tree>{});
        } else {
            std::uint64_t const bit = leaf < 64 ? std::uint64_t{1} << leaf : 0;
            if constexpr (kind == tree_kind::array) {
                found.by_columns |= is_column_major_v<tree> ? bit : 0;
                found.contiguous |= is_always_contiguous_v<tree> ? bit : 0;
                found.are_all_contiguous &= is_always_contiguous_v<tree>;
            } else if constexpr (kind == tree_kind::family) {
                using form = typename calque::detail::family_of<std::remove_cvref_t<A>>::form;
                found.are_all_contiguous &= std::is_same_v<form, host>;
            } else {
                found.are_all_contiguous &=
                    kind == tree_kind::boolean || kind == tree_kind::number || kind == tree_kind::empty;
            }
            leaf += tree_size_v<A>;
        }
    }

    template <class... Trees>
    constexpr void add_all(type_list<Trees...>) {
        (add<Trees>(), ...);
    }
};

} // namespace detail

template <class... Args>
constexpr declared_layouts layouts_of() {
    detail::layout_collector collector;
    collector.add_all(type_list<Args...>{});
    return collector.found;
}

/// Where the words of each argument are in a key: its extents, then, unless its type says that it is contiguous, its
/// strides, which are zeros where it is contiguous all the same, as nearly all are.
template <class Leaves, std::uint64_t Contiguous>
struct argument_layout;
template <class... Leaf, std::uint64_t Contiguous>
struct argument_layout<type_list<Leaf...>, Contiguous> {
    static constexpr int count = static_cast<int>(sizeof...(Leaf));

    template <class L>
    static constexpr int rank_of() {
        if constexpr (array_spec<L>) {
            return L::rank;
        } else {
            return 0;
        }
    }

    struct table {
        int ranks[count == 0 ? 1 : count]{rank_of<Leaf>()...};
        bool has_strides[count == 0 ? 1 : count]{};
        int first_word[count + 1]{};

        constexpr table() {
            for (int i = 0; i < count; ++i) {
                has_strides[i] = i >= 64 || (Contiguous >> i & 1) == 0;
                first_word[i + 1] = first_word[i] + (has_strides[i] ? 2 : 1) * ranks[i];
            }
        }
    };
    static constexpr table of{};
    static constexpr std::size_t words = static_cast<std::size_t>(of.first_word[count]);
};

/// The extents and strides of argument `i` that a key stands for.
template <class Layout>
CALQUE_INLINE constexpr void read_argument(std::int64_t const* words, int i, shape& extents, strides& steps) {
    int const rank = Layout::of.ranks[i];
    std::int64_t const* const extent_words = words + Layout::of.first_word[i];
    std::int64_t const* const stride_words = extent_words + rank;
    std::int64_t contiguous = 1;
    bool is_strided = false;
    extents.rank = rank;
    for (int axis = rank - 1; axis >= 0; --axis) {
        extents[axis] = extent_words[axis];
        steps[axis] = contiguous;
        contiguous *= extent_words[axis];
        is_strided |= Layout::of.has_strides[i] && stride_words[axis] != 0;
    }
    for (int axis = 0; is_strided && axis < rank; ++axis) {
        steps[axis] = calque::detail::stride_of_word(stride_words[axis]);
    }
}

/// The extents and strides of all arguments.
template <class Layout>
constexpr void read_key(std::int64_t const* words, shape* extents, strides* steps) {
    [&]<int... Argument>(std::integer_sequence<int, Argument...>) {
        (read_argument<Layout>(words, Argument, extents[Argument], steps[Argument]), ...);
    }(std::make_integer_sequence<int, Layout::count>{});
}

template <class Code>
constexpr plan_needs needs_of_kernels(bool arguments_may_be_strided) {
    return needs_of(Code::view(), Code::schedule.view(), arguments_may_be_strided,
                    Code::is_ambiguous && !Code::relies_on_equal_extents);
}

/// What the calls of a program need of planner and executor; all, if it has regions, which see views of arrays.
template <class Code>
constexpr plan_needs find_needs(bool arguments_may_be_strided) {
    if constexpr (Code::has_regions()) {
        return {};
    } else if (is_register_program<Code> && !arguments_may_be_strided) {
        return plan_needs::none();
    } else {
        return needs_of_kernels<Code>(arguments_may_be_strided);
    }
}

/// `Args`: the types of a call's arguments (or their specs).
template <class F, class... Args>
struct program {
    using arguments = type_list<Args...>;
    /// What a call throws whose extents are not the declared ones.
    using mismatch = shape_error;
    static constexpr bool is_from_signature = false;

    using traced = calque::detail::program_of<F, Args...>;
    static constexpr declared_layouts layouts = layouts_of<Args...>();
    using code =
        compiled_for_orders<layouts.by_columns, std::remove_cvref_t<F>, calque::detail::argument_spec_t<Args>...>;
    using leaves = concatenate_t<tree_leaves_t<Args>...>;
    using execution = executor<code, find_needs<code>(!layouts.are_all_contiguous)>;
    /// Of calls whose outputs have gaps.
    using execution_of_gaps = executor<code, with_output_gaps(needs_of_kernels<code>(!layouts.are_all_contiguous))>;
    using layout = argument_layout<leaves, layouts.contiguous>;
    using key = cache_key<layout::words>;
    using result = typename traced::result;

    /// What a call needs: how to run, and where its arrays lie, so that those that share memory are seen.
    struct plan : execution::plan {
        memory_range arguments[layout::count == 0 ? 1 : layout::count];
        std::ptrdiff_t output_bytes[traced::output_count == 0 ? 1 : traced::output_count];
    };

    template <std::size_t... I>
    static auto list_outputs(std::index_sequence<I...>)
        -> type_list<typename decltype(calque::detail::output_spec<
                                       traced, I, type_of<traced::graph.nodes[traced::graph.outputs[I]].type>>(
            std::make_index_sequence<
                static_cast<std::size_t>(calque::detail::output_shape_v<traced, I>.rank)>{}))::type...>;
    /// The specs of the results, in order.
    using outputs = decltype(list_outputs(std::make_index_sequence<static_cast<std::size_t>(traced::output_count)>{}));

    static constexpr bool is_static = is_static_v<F, Args...>;

    template <class R>
    static constexpr int count_leaves() {
        if constexpr (std::is_void_v<R>) {
            return 0;
        } else {
            return static_cast<int>(tree_size_v<R>);
        }
    }
    /// The outputs that are the function's results; after them come the variables that it assigns to, then the
    /// violation of a check.
    static constexpr int result_count = count_leaves<result>();
    static constexpr int output_count = traced::output_count;
    /// Whether the last output says which of the function's checks has been violated.
    static constexpr bool has_requirements = traced::requirement_count != 0;
    static constexpr int assigned_count = output_count - result_count - (has_requirements ? 1 : 0);
    /// The argument that an output after the results is: a variable, which the call changes.
    static constexpr int assigned_argument(int output) {
        return static_cast<int>(traced::graph.nodes[traced::graph.outputs[output]].attribute);
    }

    template <class L>
    static constexpr dtype type_of_leaf() {
        if constexpr (array_spec<L>) {
            return dtype_of<typename L::value_type>;
        } else {
            return dtype_of<typename calque::detail::canonical<L>::type>;
        }
    }
    template <class... L>
    static constexpr dtype argument_type(int argument, type_list<L...>) {
        constexpr dtype types[] = {type_of_leaf<L>()..., dtype::bool_};
        return types[argument];
    }
    static constexpr dtype argument_type(int argument) { return argument_type(argument, leaves{}); }
    static constexpr std::size_t output_element_bytes(int output) {
        return size_of(code::optimized.nodes[code::optimized.outputs[output]].type);
    }

    /// Makes the plan of a call. Throws `shape_error` if the shapes do not suit, `Mismatch` if equal names are
    /// different extents; nothing has been written then.
    template <class Mismatch = shape_error>
    static constexpr void make(plan& p, std::int64_t const* words, std::string_view function_name) {
        shape extents[layout::count == 0 ? 1 : layout::count];
        strides steps[layout::count == 0 ? 1 : layout::count];
        read_key<layout>(words, extents, steps);
        if constexpr (has_names(leaves{})) {
            check_names<Mismatch>(extents, function_name, leaves{});
        }
        plan_shapes(p, extents, steps, function_name);
        for (int a = 0; a < layout::count; ++a) {
            p.arguments[a] = memory_range::of(extents[a], steps[a], size_of(argument_type(a)));
        }
    }

    /// Makes the plan of a call whose outputs lie as `output_steps` say, as far as kernels can write them so.
    static void make_for_gaps(typename execution_of_gaps::plan& p, std::int64_t const* words,
                              strides const* output_steps) {
        shape extents[layout::count == 0 ? 1 : layout::count];
        strides steps[layout::count == 0 ? 1 : layout::count];
        read_key<layout>(words, extents, steps);
        constexpr graph::graph_view g = code::optimized.view();
        node_shapes<g.node_count> shapes(g.node_count);
        infer<optimized_rules>(g, extents, shapes.data(), {});
        execution_of_gaps::make_plan(p, shapes.data(), steps, output_steps);
    }

    /// The shape of a node of the function as it was traced.
    CALQUE_COLD static shape shape_of_traced(graph::node_id id, std::int64_t const* words, std::string_view name) {
        shape extents[layout::count == 0 ? 1 : layout::count];
        strides steps[layout::count == 0 ? 1 : layout::count];
        read_key<layout>(words, extents, steps);
        sequence<shape> shapes(traced::graph.view().node_count);
        infer<traced_rules>(traced::graph.view(), extents, shapes.data(), name);
        return shapes[id];
    }

private:
    /// How a call of these shapes runs.
    static constexpr void plan_shapes(plan& p, shape const* extents, strides const* steps,
                                      std::string_view function_name) {
        constexpr graph::graph_view traced_graph = traced::graph.view();
        constexpr graph::graph_view g = code::optimized.view();
        if constexpr (code::relies_on_equal_extents) {
            node_shapes<traced_graph.node_count> shapes(traced_graph.node_count);
            infer<traced_rules>(traced_graph, extents, shapes.data(), function_name);
            if (broadcasts_dynamically(traced_graph, shapes.data())) {
                interpret(p, extents, function_name);
                return;
            }
        }
        node_shapes<g.node_count> shapes(g.node_count);
        infer<optimized_rules>(g, extents, shapes.data(), function_name);
        if constexpr (code::may_be_interpreted) {
            if (!execution::suits_fusion(shapes.data())) {
                if (!plan_wider_outputs(p, shapes.data(), steps)) {
                    interpret(p, extents, function_name);
                }
                return;
            }
        }
        execution::make_plan(p, shapes.data(), steps);
        set_output_bytes(p);
    }

    /// The kernels compute some outputs for more elements than they have, which are copied: how they lie among these is
    /// in the plan. False if that would not be the same.
    static constexpr bool plan_wider_outputs([[maybe_unused]] plan& p, [[maybe_unused]] shape* shapes,
                                             [[maybe_unused]] strides const* steps) {
        if constexpr (code::may_be_widened) {
            constexpr graph::graph_view g = code::optimized.view();
            shape extents[g.output_count];
            for (int o = 0; o < g.output_count; ++o) {
                extents[o] = shapes[g.outputs[o]];
            }
            if (code::checks::widen(shapes)) {
                execution::make_plan(p, shapes, steps);
                set_output_bytes(p);
                for (int o = 0; o < g.output_count; ++o) {
                    p.outputs[o].extents = extents[o];
                }
                p.mode = execution_mode::kernels_of_wider_outputs;
                return true;
            }
        }
        return false;
    }

    /// The bytes of what is computed of each output.
    static constexpr void set_output_bytes(plan& p) {
        for (int o = 0; o < output_count; ++o) {
            p.output_bytes[o] = p.outputs[o].extents.size() * static_cast<std::ptrdiff_t>(output_element_bytes(o));
        }
    }

    template <class L>
    static constexpr shape declared_shape() {
        if constexpr (array_spec<L>) {
            return L::shape;
        } else {
            return {};
        }
    }

    template <class... L>
    static constexpr bool has_names(type_list<L...>) {
        auto const has_name = [](shape const& declared) {
            return std::any_of(declared.extents, declared.extents + declared.rank, is_named);
        };
        return (has_name(declared_shape<L>()) || ...);
    }

    /// Equal names are equal extents, in all arguments.
    template <class Mismatch, class... L>
    static constexpr void check_names(shape const* extents, std::string_view function_name, type_list<L...>) {
        constexpr shape declared[] = {declared_shape<L>()..., shape{}};
        constexpr int count = static_cast<int>(sizeof...(L));
        for (int a = 0; a < count; ++a) {
            for (int i = 0; i < declared[a].rank; ++i) {
                for (int b = 0; is_named(declared[a][i]) && b <= a; ++b) {
                    for (int j = 0; j < declared[b].rank; ++j) {
                        if (declared[b][j] == declared[a][i] && extents[b][j] != extents[a][i]) {
                            throw_different<Mismatch>(function_name, declared[a][i], b, extents[b][j], a,
                                                      extents[a][i]);
                        }
                    }
                }
            }
        }
    }

    template <class Mismatch>
    [[noreturn]] CALQUE_COLD static void throw_different(std::string_view function_name, extent_t name, int a,
                                                         extent_t extent_a, int b, extent_t extent_b) {
        text message;
        message << "calque: " << function_name << ": `" << name_of_dim(name).view() << "` is " << extent_a
                << " in argument " << a << " and " << extent_b << " in argument " << b;
        throw Mismatch(message.string());
    }

    struct traced_graph_constant {
        static constexpr graph::graph_view view() { return traced::graph.view(); }
    };
    struct optimized_graph_constant {
        static constexpr graph::graph_view view() { return code::optimized.view(); }
    };
    using traced_rules = graph::rules_of<traced_graph_constant>;
    using optimized_rules = graph::rules_of<optimized_graph_constant>;

    [[noreturn]] CALQUE_COLD static void throw_failure(std::string_view name, graph::graph_view const& g,
                                                       shape const* shapes, graph::inference_failure const& failure) {
        text message;
        message << "calque: " << name << ": ";
        graph::describe(message, g, shapes, failure);
        throw shape_error(message.string());
    }

    /// Shapes of as many nodes, on the stack if they are few.
    template <int Count>
    using node_shapes = small_buffer<shape, std::clamp(Count, 1, 64)>;

    template <class Rules>
    static constexpr void infer(graph::graph_view const& g, shape const* extents, shape* shapes,
                                [[maybe_unused]] std::string_view name) {
        if constexpr (Rules::may_fail) {
            graph::inference_failure failure;
            if (!graph::infer_shapes<Rules>(g, extents, shapes, failure)) {
                throw_failure(name, g, shapes, failure);
            }
        } else {
            graph::copy_shapes<Rules>(g, extents, shapes);
        }
    }

    /// Whether an extent that is declared dynamic is 1 and stretches somewhere.
    static constexpr bool broadcasts_dynamically(graph::graph_view const& g, shape const* shapes) {
        for (graph::node_id id = 0; id < g.node_count; ++id) {
            graph::node const& n = g[id];
            bool const broadcasts = graph::info(n.op).kind == graph::op_kind::elementwise ||
                                    n.op == graph::code_of<graph::ops::broadcast_like>;
            for (int k = 0; broadcasts && k < n.input_count && !graph::is_shape_input(n, k); ++k) {
                shape const& input = shapes[g.input(n, k)];
                shape const& declared = g.input_shape(n, k);
                for (int i = 1; i <= input.rank; ++i) {
                    bool const stretches = input[input.rank - i] == 1 && shapes[id][shapes[id].rank - i] != 1;
                    if (stretches && declared[declared.rank - i] == dyn) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /// A plan that runs op by op: where dynamic extents broadcast although fusion relies on equal ones.
    static constexpr void interpret(plan& p, shape const* extents, std::string_view name) {
        constexpr graph::graph_view traced_graph = traced::graph.view();
        node_shapes<traced_graph.node_count> shapes(traced_graph.node_count);
        infer<traced_rules>(traced_graph, extents, shapes.data(), name);
        p.mode = execution_mode::op_by_op;
        for (int i = 0; i < traced::output_count; ++i) {
            p.outputs[i].extents = shapes[traced_graph.outputs[i]];
        }
        set_output_bytes(p);
    }
};

} // namespace runtime
} // namespace v0
} // namespace calque
