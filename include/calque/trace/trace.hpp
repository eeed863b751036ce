// SPDX-License-Identifier: MIT
// Traces a function: runs its body in constant evaluation, on handles, and keeps the graph as a constant.
//
// An evaluation of the body finds the first error, which is reported before anything else is instantiated, and gives
// the graph, in arrays that most graphs fit in; it is copied from there into a constant of its exact size. g++
// remembers what a call without arguments returned, so that both are one evaluation; clang repeats it.
#pragma once

#include <calque/graph/print.hpp>
#include <calque/interop/tree_build.hpp>
#include <calque/trace/apply.hpp>
#include <calque/trace/diagnostics.hpp>
#include <calque/trace/variables.hpp>

#include <array>
#include <bit>
#include <string>

namespace calque {
inline namespace v0 {
namespace detail {

struct empty_class {};

/// The one value of an empty class. A lambda that may capture by default has no default constructor.
template <class F>
constexpr F instance() {
    if constexpr (std::is_default_constructible_v<F>) {
        return F();
    } else {
        return std::bit_cast<F>(empty_class{});
    }
}

/// Makes the handles of a function's arguments: each leaf is the next argument of the graph.
class argument_source {
public:
    constexpr explicit argument_source(graph::builder& owner) : owner_(owner) {}

    template <class Leaf, class Handle>
    constexpr auto next() {
        if constexpr (is_spec<Leaf>) {
            using T = typename Leaf::value_type;
            return Handle({&owner_, owner_.argument(dtype_of<T>, Leaf::shape, next_++)}, nullptr);
        } else {
            return Handle({&owner_, owner_.argument(dtype_of<Leaf>, {}, next_++)}, nullptr);
        }
    }

private:
    graph::builder& owner_;
    int next_ = 0;
};

/// Adds a leaf of a function's result to the outputs of its graph.
template <class X>
constexpr void add_output(graph::builder& owner, X const& x) {
    if constexpr (handle<X>) {
        if (x.value().owner != &owner) {
            x.shared()->move_to(owner, nullptr);
        }
        owner.add_output(x.value().id);
    } else {
        using T = typename canonical<X>::type;
        owner.add_output(owner.constant(dtype_of<T>, graph::to_bits<T>(static_cast<T>(x))));
    }
}

template <class F, class... Specs>
using body_result_t = decltype(std::declval<F&>()(std::declval<traced_t<Specs>&>()...));

/// One run of a body. A constructor, because braces evaluate its arguments in order. (std::apply and std::invoke would
/// add pages of notes to every error in the body.)
template <class F, class... Specs>
struct body_run {
    constexpr body_run(graph::builder& owner, F fn, traced_t<Specs>... x) {
        if constexpr (std::is_void_v<body_result_t<F, Specs...>>) {
            fn(x...);
        } else {
            auto const result = fn(x...);
            for_each_leaf(result, [&owner](auto const& leaf) { add_output(owner, leaf); });
        }
        add_assigned_variables(owner);
        if (owner.watches_requirements()) {
            owner.add_output(owner.variable(graph::builder::violation_variable));
        }
    }
};

/// `has_requirements`: whether the body has checks, as an earlier evaluation found.
template <class F, class... Specs>
constexpr void run_body(graph::builder& owner, bool has_requirements) {
    if (has_requirements) {
        owner.expect_requirements();
    }
    [[maybe_unused]] argument_source source(owner);
    [[maybe_unused]] body_run<F, Specs...> const run{owner, instance<F>(), unflatten<Specs>(source)...};
    if (graph::node_id const id = graph::find_escaped_example(owner.view()); id >= 0) {
        owner.fail(graph::reason::escapes_vmap, owner[id].op, &id, 1, "vmap");
    }
}

/// What an evaluation says of a body.
struct measurement {
    graph::graph_size size;
    graph::reason why = graph::reason::none;
    std::size_t operands = 0; // of the error
    std::size_t requirements = 0;
};

/// The same, and the graph.
struct first_trace {
    static constexpr graph::graph_size capacity{
        .nodes = 256, .inputs = 512, .shapes = 32, .regions = 8, .outputs = 16, .user_operations = 4};

    measurement measured;
    graph::graph_within<capacity> traced;
};

template <class F, bool HasRequirements, class... Specs>
constexpr first_trace trace_first() {
    graph::builder owner;
    run_body<F, Specs...>(owner, HasRequirements);
    if (!HasRequirements && !owner.requirements().empty()) {
        return trace_first<F, true, Specs...>();
    }
    return {{owner.size(), owner.error().why, static_cast<std::size_t>(owner.error().operands),
             static_cast<std::size_t>(owner.requirements().size())},
            graph::freeze_within<first_trace::capacity>(owner)};
}

template <class F, class... Specs>
constexpr measurement measure() {
    return trace_first<F, false, Specs...>().measured;
}

template <measurement M>
struct measured {
    static constexpr bool is_constant = true;
    static constexpr measurement value = M;
};
struct not_measured {
    static constexpr bool is_constant = false;
};

template <class F, class... Specs>
constexpr auto try_to_measure(int) -> measured<measure<F, Specs...>()>;
template <class F, class... Specs>
constexpr auto try_to_measure(...) -> not_measured;

/// What one evaluation says of a function: its size and whether it failed, or that it cannot be evaluated.
template <class F, class... Specs>
struct evaluation : decltype(try_to_measure<F, Specs...>(0)) {
    static constexpr graph::failure error() {
        graph::builder owner;
        run_body<F, Specs...>(owner, evaluation::value.requirements != 0);
        return owner.error();
    }
};

template <class R>
constexpr bool is_result();

template <class... Children>
constexpr bool are_results(type_list<Children...>) {
    return (is_result<std::remove_cvref_t<Children>>() && ... && true);
}

/// Whether a function may return an `R`: handles, numbers, and trees of them.
template <class R>
constexpr bool is_result() {
    constexpr tree_kind kind = tree_kind_v<R>;
    if constexpr (std::is_void_v<R> || kind == tree_kind::handle || kind == tree_kind::number ||
                  kind == tree_kind::boolean || kind == tree_kind::empty) {
        return true;
    } else if constexpr (kind == tree_kind::unsupported || is_leaf(kind)) {
        return false;
    } else {
        return are_results(tree_children_t<R>{});
    }
}

/// Reports, once, why a function cannot be traced; returns whether it can.
template <class F, class... Specs>
consteval bool check() {
    static_assert(std::is_empty_v<F>, "calque: the traced function captures something: pass it in as an argument (a "
                                      "constexpr object with members: calque::function<object>())");
    if constexpr (std::is_empty_v<F>) {
        constexpr bool takes_arguments = requires(F& fn, traced_t<Specs>&... x) { fn(x...); };
        static_assert(takes_arguments, "calque: the traced function does not take these arguments");
        if constexpr (!takes_arguments) {
            return false;
        } else if constexpr (!is_result<std::remove_cvref_t<body_result_t<F, Specs...>>>()) {
            static_assert(never<F>, "calque: the traced function returns what is no result: return traced arrays, "
                                    "numbers, or tuples, pairs, std::arrays and structs of these");
        } else {
            using evaluated = evaluation<F, Specs...>;
            static_assert(evaluated::is_constant,
                          "calque: the traced function is not usable in constant evaluation: it runs while it is "
                          "compiled, so that std::rand, I/O, run-time variables, calque::variables that it makes and "
                          "helpers that are not constexpr cannot be in it; pass values in as arguments, variables "
                          "too, mark helpers constexpr (or, if it is very long, raise -fconstexpr-steps or "
                          "-fconstexpr-ops-limit)");
            if constexpr (!evaluated::is_constant) {
                using names_the_line [[maybe_unused]] = std::bool_constant<measure<F, Specs...>().size.nodes == 0>;
            } else if constexpr (evaluated::value.why != graph::reason::none) {
                using reported [[maybe_unused]] =
                    decltype(diagnostics::report<evaluated>(std::make_index_sequence<evaluated::value.operands>{}));
            } else {
                return true;
            }
        }
    }
    return false;
}

/// A function traced for some specs, if `check` has nothing to report; else an empty graph, so that one error is all.
template <bool IsValid, class F, class... Specs>
struct checked_program {
    static constexpr bool is_valid = true;
    using result = std::remove_cvref_t<body_result_t<F, Specs...>>;

    /// What its checks demand. The last output of the graph says which was violated first.
    static constexpr std::size_t requirement_count = evaluation<F, Specs...>::value.requirements;

    static constexpr graph::graph_size size = evaluation<F, Specs...>::value.size;
    static constexpr graph::static_graph<size> make_graph() {
        if constexpr (size.fits_in(first_trace::capacity)) {
            return graph::resized<size>(trace_first<F, false, Specs...>().traced.graph);
        } else {
            graph::builder owner;
            run_body<F, Specs...>(owner, requirement_count != 0);
            return graph::freeze<size>(owner);
        }
    }
    static constexpr graph::static_graph<size> graph = make_graph(); // g++ 12 would evaluate a lambda twice
    static constexpr auto requirements = [] {
        std::array<graph::requirement, requirement_count> all{};
        if constexpr (requirement_count != 0) {
            graph::builder owner;
            run_body<F, Specs...>(owner, true);
            for (std::size_t i = 0; i < requirement_count; ++i) {
                all[i] = owner.requirements()[static_cast<int>(i)];
            }
        }
        return all;
    }();
};
template <class F, class... Specs>
struct checked_program<false, F, Specs...> {
    static constexpr bool is_valid = false;
    using result = void;

    static constexpr graph::static_graph<graph::graph_size{.regions = 1}> graph{}; // of no nodes, in the body
    static constexpr std::size_t requirement_count = 0;
};

/// A function traced for some specs: what the runtime compiles.
///
/// Argument leaf k, over all arguments in order, is argument k of the graph; so it is with the leaves of the result.
template <class F, class... Specs>
struct program : checked_program<check<F, Specs...>(), F, Specs...> {
    static constexpr int argument_count = static_cast<int>((tree_size_v<Specs> + ... + 0));
    static constexpr int output_count = program::graph.view().output_count;
};

/// What stands for an argument in the specs of a program: the spec of an array; any other type for itself.
template <class A>
constexpr auto argument_spec() {
    using plain = std::remove_cvref_t<A>;
    if constexpr (tree_kind_v<plain> == tree_kind::array) {
        return std::type_identity<array_spec_t<plain>>{};
    } else {
        return std::type_identity<plain>{};
    }
}

template <class A>
using argument_spec_t = typename decltype(argument_spec<A>())::type;

template <class F, class... Args>
using program_of = program<std::remove_cvref_t<F>, argument_spec_t<Args>...>;

} // namespace detail

/// The graph of a function for some specs, as `trace` returns it. An empty object: the graph is in its type.
template <class F, class... Specs>
class traced_graph : detail::program<F, Specs...> {
public:
    static constexpr graph::graph_view view() { return traced_graph::graph.view(); }

    /// The number of nodes.
    static constexpr int size() { return view().node_count; }

    /// One line a node, for people.
    static std::string text() { return graph::to_text(view()); }

    /// The same in the language of Graphviz.
    static std::string dot() { return graph::to_dot(view()); }

    /// The kernels that the graph becomes, in order: what runs in each, what it reads, and why what it stores is
    /// stored. (Defined in runtime/schedule_text.hpp, which is part of calque.hpp.)
    static std::string schedule();
};

/// Traces a function for arguments of some specs (or host types) in constant evaluation:
///
/// ```cpp
/// constexpr auto g = calque::trace<calque::spec<float, 4>>(cube);
/// static_assert(g.size() == 3);
/// ```
template <class... Args, class F>
constexpr auto trace(F const&) {
    return traced_graph<F, detail::argument_spec_t<Args>...>{};
}

/// A constexpr object with members as a function without captures: what `calque::function<object>()` traces.
template <auto const& Object>
struct object_function {
    template <class... X>
    constexpr auto operator()(X&... x) const {
        return Object(x...);
    }
};

} // namespace v0
} // namespace calque
