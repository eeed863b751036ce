// SPDX-License-Identifier: MIT
// `dispatch`: a traced function for arrays whose dtype and rank only the run knows, from a set that is compiled.
#pragma once

#include <calque/interop/any_array.hpp>
#include <calque/runtime/function.hpp>

#include <optional>
#include <tuple>
#include <utility>

namespace calque {
inline namespace v0 {

/// The dtypes of a dispatch: `dtypes<float, double, std::int32_t>`.
template <element... T>
struct dtypes {};

/// The ranks of a dispatch: `ranks<1, 2>`.
template <int... Rank>
struct ranks {};

namespace detail {

/// Whether a function can be traced for these arguments. Quiet about what the graph does not allow, such as ranks that
/// do not fit; what C++ does not allow, such as two dtypes in one sum, is an error of the compiler all the same.
template <class F, class... Args>
constexpr bool is_traceable() {
    if constexpr (requires(F& fn, traced_t<Args>&... x) { fn(x...); }) {
        using evaluated = evaluation<F, argument_spec_t<Args>...>;
        if constexpr (evaluated::is_constant) {
            return evaluated::value.why == graph::reason::none;
        }
    }
    return false;
}

template <class R>
auto to_any(R&& result) {
    using plain = std::remove_cvref_t<R>;
    if constexpr (array_argument<plain> || arithmetic<plain>) {
        return any_array(std::forward<R>(result));
    } else {
        static_assert(is_positional_v<plain>,
                      "calque: dispatch returns arrays, numbers and tuples of these: their dtypes are not types");
        return std::apply([](auto&... x) { return std::tuple{to_any(std::move(x))...}; }, result);
    }
}

/// The combinations of a call, numbered: the dtype, then the rank of each any_array, the first of them fastest.
template <std::size_t RankCount, bool... IsAny>
struct combination_numbers {
    static constexpr std::size_t per_type = ((IsAny ? RankCount : 1) * ... * 1);

    /// Which rank an argument has in a combination.
    static constexpr std::size_t rank_index(std::size_t combination, std::size_t argument) {
        constexpr bool is_any[] = {IsAny...};
        combination %= per_type;
        for (std::size_t i = 0; i < argument; ++i) {
            combination /= is_any[i] ? RankCount : 1;
        }
        return combination % RankCount;
    }
};

} // namespace detail

/// A traced function that takes `any_array`s beside other arguments and returns them; made by
/// `calque::function(fn).dispatch<dtypes<...>, ranks<...>>()`. It shares counts and plans with that.
///
/// All any_arrays of a call have one dtype; their ranks may differ. What the body does not allow among the
/// combinations of ranks is not instantiated.
template <class F, class Declared, class... T, int... Rank>
class dispatched_function<traced_function<F, Declared>, dtypes<T...>, ranks<Rank...>>
    : public traced_function<F, Declared> {
    using base = traced_function<F, Declared>;

    static constexpr std::size_t rank_count = sizeof...(Rank);
    static constexpr dtype type_list_[sizeof...(T)] = {dtype_of<T>...};
    static constexpr int rank_list_[rank_count] = {Rank...};

public:
    explicit dispatched_function(base function) : base(std::move(function)) {}

    /// Throws `dtype_error` for a dtype or rank outside the set.
    template <class... Args>
    auto operator()(Args const&... args) const {
        using set = combinations<Args...>;
        static_assert((std::is_same_v<Args, any_array> || ...), "calque: dispatch is for calls with any_arrays");
        static_assert(set::first < set::count,
                      "calque: the function cannot be traced for any of these dtypes and ranks");
        any_array const* const arrays[] = {pointer_to(args)...};
        std::size_t const wanted = set::find(arrays);
        std::optional<typename set::result> result;
        run_one<set>(std::make_index_sequence<set::count>{}, wanted, result, args...);
        if (!result) {
            reject(arrays, sizeof...(Args));
        }
        return std::move(*result);
    }

private:
    static any_array const* pointer_to(any_array const& a) { return &a; }
    template <class A>
    static any_array const* pointer_to(A const&) {
        return nullptr;
    }

    template <class Typed, class A>
    static decltype(auto) typed(A const& argument) {
        if constexpr (std::is_same_v<A, any_array>) {
            using element = array_value_t<Typed>;
            return Typed{static_cast<element const*>(argument.data()), &argument.extents()};
        } else {
            return (argument);
        }
    }

    template <class Set, std::size_t... C, class Result, class... Args>
    void run_one(std::index_sequence<C...>, std::size_t wanted, Result& result, Args const&... args) const {
        ((wanted == C ? run<Set, C>(typename Set::template arguments<C>{}, result, args...) : void()), ...);
    }

    template <class Set, std::size_t C, class... Typed, class Result, class... Args>
    void run(type_list<Typed...>, Result& result, Args const&... args) const {
        if constexpr (Set::template is_valid<C>()) {
            result.emplace(detail::to_any(base::operator()(typed<Typed>(args)...)));
        }
    }

    /// The combinations for a call with such arguments.
    template <class... Args>
    struct combinations {
        using numbers = detail::combination_numbers<rank_count, std::is_same_v<Args, any_array>...>;
        static constexpr std::size_t count = sizeof...(T) * numbers::per_type;

        template <std::size_t C, std::size_t Argument, class A>
        struct typed_as {
            using type = A;
        };
        template <std::size_t C, std::size_t Argument>
        struct typed_as<C, Argument, any_array> {
            using type = detail::typed_array<type_at_t<type_list<T...>, C / numbers::per_type>,
                                             rank_list_[numbers::rank_index(C, Argument)]>;
        };

        template <std::size_t C, class Indices>
        struct listed;
        template <std::size_t C, std::size_t... I>
        struct listed<C, std::index_sequence<I...>> {
            using type = type_list<typename typed_as<C, I, type_at_t<type_list<Args...>, I>>::type...>;
        };
        template <std::size_t C>
        using arguments = typename listed<C, std::index_sequence_for<Args...>>::type;

        template <class... Typed>
        static constexpr bool is_traceable(type_list<Typed...>) {
            return detail::is_traceable<F, Typed...>();
        }
        template <std::size_t C>
        static constexpr bool is_valid() {
            return is_traceable(arguments<C>{});
        }

        static constexpr std::size_t first = []<std::size_t... C>(std::index_sequence<C...>) {
            std::size_t at = 0;
            static_cast<void>(((is_valid<C>() || (++at, false)) || ...));
            return at;
        }(std::make_index_sequence<count>{});

        template <class... Typed>
        static auto call(type_list<Typed...>)
            -> decltype(detail::to_any(std::declval<base const&>()(std::declval<Typed const&>()...)));
        /// Arrays have no dtype, so that it is the same for all combinations.
        using result = decltype(call(arguments<first>{}));

        /// The combination of a call; `count` if it is not in the set.
        static std::size_t find(any_array const* const* arrays) {
            std::size_t index = 0;
            std::size_t step = 1;
            dtype type{};
            bool is_first = true;
            for (std::size_t i = 0; i < sizeof...(Args); ++i) {
                if (arrays[i] == nullptr) {
                    continue;
                }
                std::size_t rank = 0;
                while (rank < rank_count && rank_list_[rank] != arrays[i]->rank()) {
                    ++rank;
                }
                if (rank == rank_count || (!is_first && arrays[i]->type() != type)) {
                    return count;
                }
                type = arrays[i]->type();
                is_first = false;
                index += rank * step;
                step *= rank_count;
            }
            std::size_t t = 0;
            while (t < sizeof...(T) && type_list_[t] != type) {
                ++t;
            }
            return t == sizeof...(T) ? count : t * numbers::per_type + index;
        }
    };

    [[noreturn]] CALQUE_COLD void reject(any_array const* const* arrays, std::size_t count) const {
        text message;
        message << "calque: " << this->name() << " has no kernel for ";
        bool is_first = true;
        for (std::size_t i = 0; i < count; ++i) {
            if (arrays[i] != nullptr) {
                message << (is_first ? "" : ", ") << arrays[i]->type() << arrays[i]->extents();
                is_first = false;
            }
        }
        message << ": dispatch has";
        ((message << ' ' << dtype_of<T>), ...);
        message << " with rank";
        ((message << ' ' << Rank), ...);
        message << ", one dtype in a call";
        throw dtype_error(message.string());
    }
};

} // namespace v0
} // namespace calque
