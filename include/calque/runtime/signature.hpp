// SPDX-License-Identifier: MIT
// Signatures: what a function is traced for, said once instead of read from each call.
#pragma once

#include <calque/interop/array_view.hpp>
#include <calque/runtime/plans.hpp>

#include <algorithm>
#include <array>

namespace calque {
inline namespace v0 {

/// The specs of all arguments: extents static, `calque::dyn` or named. Host types stand for their specs.
///
/// `calque::function(fn, calque::signature<calque::spec<float, calque::dyn, 784>>{})` traces once, whatever comes. What
/// types can tell is checked by the compiler; a call with other extents throws `signature_error`.
template <class... Specs>
struct signature {};

/// Several signatures: a call takes the most specific one that it fits, the first of equals.
template <class... Signatures>
struct signatures {};

/// Static signatures whose kernels are made for these very shapes; all other calls take the general kernels.
template <class... Signatures>
struct specialize {};

/// What stands in `traced_function` where there is no signature.
struct no_signature {};

namespace detail {

template <class T>
inline constexpr bool is_declaration = false;
template <class... Specs>
inline constexpr bool is_declaration<signature<Specs...>> = true;
template <class... Signatures>
inline constexpr bool is_declaration<signatures<Signatures...>> = true;
template <class... Signatures>
inline constexpr bool is_declaration<specialize<Signatures...>> = true;

} // namespace detail

namespace runtime {

/// A program for the specs of a signature.
template <class F, class... Specs>
struct signature_program : program<F, Specs...> {
    static constexpr bool is_from_signature = true;
    using mismatch = signature_error;
};

/// How much a program's leaves say: static extents first, then names.
template <class... Leaves>
constexpr int specificity_of(type_list<Leaves...>) {
    int sum = 0;
    auto const add = [&]<class L>(std::type_identity<L>) {
        if constexpr (array_spec<L>) {
            for (int axis = 0; axis < L::rank; ++axis) {
                sum += is_static(L::shape[axis]) ? 1000 : is_named(L::shape[axis]) ? 1 : 0;
            }
        }
    };
    (add(std::type_identity<Leaves>{}), ...);
    return sum;
}

template <class Leaf, class Declared>
constexpr bool leaf_suits() {
    if constexpr (array_spec<Leaf> && array_spec<Declared>) {
        return are_compatible<Leaf, Declared>();
    } else {
        return std::is_same_v<Leaf, Declared>;
    }
}

/// Whether arguments with some leaves may have those of a signature, as far as types tell.
template <class... Leaf, class... Declared>
constexpr bool leaves_suit(type_list<Leaf...>, type_list<Declared...>) {
    if constexpr (sizeof...(Leaf) != sizeof...(Declared)) {
        return false;
    } else {
        return (leaf_suits<Leaf, Declared>() && ...);
    }
}

template <class Signature, class... Args>
inline constexpr bool suits = false;
template <class... Specs, class... Args>
    requires(sizeof...(Specs) == sizeof...(Args))
inline constexpr bool suits<signature<Specs...>, Args...> =
    (leaves_suit(tree_leaves_t<Args>{}, tree_leaves_t<Specs>{}) && ...);

template <class F, class Signature>
struct program_of_signature;
template <class F, class... Specs>
struct program_of_signature<F, signature<Specs...>> {
    using type = signature_program<F, Specs...>;
    using leaves = concatenate_t<tree_leaves_t<Specs>...>;
    static constexpr bool is_static = (is_static_v<F, Specs...>);
};

/// Whether the extents of a call are those of a program: static ones, and equal ones for equal names.
template <class Leaves, class... Args>
CALQUE_INLINE bool extents_suit(Args const&... args) {
    constexpr std::size_t count = Leaves::size;
    shape actual[count == 0 ? 1 : count];
    std::size_t leaf = 0;
    auto const read = [&](auto const& argument) {
        for_each_leaf(argument, [&](auto const& x) {
            using A = std::remove_cvref_t<decltype(x)>;
            if constexpr (!arithmetic<A>) {
                for (int axis = 0; axis < array_adaptor<A>::rank; ++axis) {
                    actual[leaf].push_back(array_adaptor<A>::extent(x, axis));
                }
            }
            ++leaf;
        });
    };
    (read(args), ...);
    return [&]<class... L>(type_list<L...>) {
        constexpr shape declared[] = {calque::detail::leaf_table<type_list<L>>::declared[0]..., shape{}};
        for (std::size_t a = 0; a < count; ++a) {
            for (int i = 0; i < declared[a].rank; ++i) {
                if (is_static(declared[a][i]) && declared[a][i] != actual[a][i]) {
                    return false;
                }
                for (std::size_t b = 0; is_named(declared[a][i]) && b <= a; ++b) {
                    for (int j = 0; j < declared[b].rank; ++j) {
                        if (declared[b][j] == declared[a][i] && actual[b][j] != actual[a][i]) {
                            return false;
                        }
                    }
                }
            }
        }
        return true;
    }(Leaves{});
}

/// The signatures that arguments of some types may fit, the most specific first.
template <class F, class... Signatures>
struct signature_list {
    static constexpr std::size_t size = sizeof...(Signatures);

    template <class... Args>
    static constexpr std::array<bool, size> fitting{suits<Signatures, Args...>...};

    template <class... Args>
    static constexpr std::size_t count = (std::size_t{suits<Signatures, Args...>} + ... + 0);

    template <class... Args>
    static constexpr auto order = [] {
        std::array<std::size_t, count<Args...>> result{};
        int const specificity[] = {specificity_of(typename program_of_signature<F, Signatures>::leaves{})...};
        std::size_t next = 0;
        for (std::size_t i = 0; i < size; ++i) {
            if (fitting<Args...>[i]) {
                std::size_t at = next++;
                while (at > 0 && specificity[result[at - 1]] < specificity[i]) {
                    result[at] = result[at - 1];
                    --at;
                }
                result[at] = i;
            }
        }
        return result;
    }();

    template <std::size_t Rank, class... Args>
    using at = program_of_signature<F, type_at_t<type_list<Signatures...>, order<Args...>[Rank]>>;
};

template <class... Args>
[[noreturn]] CALQUE_COLD void throw_no_signature(std::string const& name, Args const&... args) {
    text message;
    message << "calque: " << name << " has no signature for";
    int argument = 0;
    auto const append = [&](auto const& x) {
        text where;
        where << "argument " << argument;
        for_each_leaf_with_path(x, where.string(), [&](std::string const& path, auto const& leaf) {
            if constexpr (!arithmetic<std::remove_cvref_t<decltype(leaf)>>) {
                message << (message.view().back() == 'r' ? " " : ", ") << path << " of shape " << shape_of(leaf);
            }
        });
        ++argument;
    };
    (append(args), ...);
    throw signature_error(message.string());
}

/// Chooses the program of a call. `Declared`: what was given to `calque::function` beside the function.
template <class F, class Declared>
struct program_choice;

/// The type that stands for an argument's in a program: one for all contiguous arrays of a spec, one for all that lie
/// by columns, and one for all others, so that calls with a std::vector, a span and a tensor of the same shape share a
/// trace, and views of any type one.
template <class A>
struct program_argument {
    using type = A;
};
template <class A>
    requires(tree_kind_v<A> == tree_kind::array && is_column_major_v<A>)
struct program_argument<A> {
    using type = array_by_columns<array_spec_t<A>>;
};
template <class A>
    requires(tree_kind_v<A> == tree_kind::array && array_spec_t<A>::rank != 0 && !is_column_major_v<A>)
struct program_argument<A> {
    using spec = array_spec_t<A>;
    using any_of_spec = std::conditional_t<is_always_contiguous_v<A>, output_array_t<spec>,
                                           array_view<typename spec::value_type, spec::rank, false>>;
    using type = std::conditional_t<std::is_same_v<array_spec_t<any_of_spec>, spec>, any_of_spec, A>;
};

/// The program of a function for the types of a call's arguments.
template <class F, class... Args>
using program_of_call = program<F, typename program_argument<Args>::type...>;

/// No signature: the types of the arguments say it.
template <class F>
struct program_choice<F, no_signature> {
    template <class... Args>
    using general = program_of_call<F, Args...>;

    template <class Fn, class... Args>
    CALQUE_INLINE static decltype(auto) choose(calque::detail::function_state const&, Fn&& fn, Args const&...) {
        return fn.template operator()<program_of_call<F, Args...>>();
    }
};

template <class F, class... Specs>
struct program_choice<F, signature<Specs...>> {
    template <class... Args>
    static constexpr bool require() {
        static_assert(sizeof...(Args) == sizeof...(Specs), "calque: as many arguments as the signature has");
        return true;
    }
    template <class... Args>
    using general = signature_program<F, Specs...>;

    template <class Fn, class... Args>
    CALQUE_INLINE static decltype(auto) choose(calque::detail::function_state const&, Fn&& fn, Args const&...) {
        if constexpr (require<Args...>()) {
            return fn.template operator()<signature_program<F, Specs...>>();
        }
    }
};

template <class F, class... Signatures>
struct program_choice<F, signatures<Signatures...>> {
    using list = signature_list<F, Signatures...>;

    /// The least specific signature that the types fit: its result can hold those of the others.
    template <class... Args>
    struct last {
        static_assert(list::template count<Args...> != 0,
                      "calque: no signature of this function has arguments of these dtypes, ranks and static extents");
        using type = typename list::template at<list::template count<Args...> - 1, Args...>::type;
    };
    template <class... Args>
    using general = typename last<Args...>::type;

    template <class Fn, class... Args>
    CALQUE_INLINE static decltype(auto) choose(calque::detail::function_state const& state, Fn&& fn,
                                               Args const&... args) {
        return choose_from<0>(state, fn, args...);
    }

private:
    template <std::size_t Rank, class Fn, class... Args>
    CALQUE_INLINE static auto choose_from(calque::detail::function_state const& state, Fn&& fn, Args const&... args)
        -> decltype(fn.template operator()<general<Args...>>()) {
        if constexpr (Rank == list::template count<Args...>) {
            throw_no_signature(state.options().name, args...);
        } else {
            using candidate = typename list::template at<Rank, Args...>;
            if (extents_suit<typename candidate::leaves>(args...)) {
                return fn.template operator()<typename candidate::type>();
            }
            return choose_from<Rank + 1>(state, fn, args...);
        }
    }
};

template <class F, class... Signatures>
struct program_choice<F, specialize<Signatures...>> {
    using list = signature_list<F, Signatures...>;
    static_assert((program_of_signature<F, Signatures>::is_static && ...),
                  "calque: a specialization has static extents only");

    template <class... Args>
    using general = program_of_call<F, Args...>;

    template <class Fn, class... Args>
    CALQUE_INLINE static decltype(auto) choose(calque::detail::function_state const&, Fn&& fn, Args const&... args) {
        return choose_from<0>(fn, args...);
    }

private:
    template <std::size_t Rank, class Fn, class... Args>
    CALQUE_INLINE static auto choose_from(Fn&& fn, Args const&... args)
        -> decltype(fn.template operator()<program_of_call<F, Args...>>()) {
        if constexpr (Rank == list::template count<Args...>) {
            return fn.template operator()<program_of_call<F, Args...>>();
        } else {
            using candidate = typename list::template at<Rank, Args...>;
            if (extents_suit<typename candidate::leaves>(args...)) {
                return fn.template operator()<typename candidate::type>();
            }
            return choose_from<Rank + 1>(fn, args...);
        }
    }
};

} // namespace runtime
} // namespace v0
} // namespace calque
