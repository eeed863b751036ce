// SPDX-License-Identifier: MIT
// `with_rank` and `with_shape`: what the type of an array does not say about its shape, said at the call.
#pragma once

#include <calque/interop/span.hpp>
#include <calque/interop/xtensor.hpp>

namespace calque {
inline namespace v0 {

namespace detail {

/// Memory access to any array, whatever is known of its rank.
template <class A>
struct array_access : array_adaptor<A> {
    static constexpr bool contiguous = is_always_contiguous_v<A>;
    static constexpr bool column_major = is_column_major_v<A>;
    static constexpr int run_time_rank(A const& /*array*/) { return array_adaptor<A>::rank; }
};
template <class A>
    requires is_array_of_run_time_rank_v<A>
struct array_access<A> : xtensor_access<A> {};

template <class A>
concept array_of_any_rank = array_argument<A> || is_array_of_run_time_rank_v<std::remove_cvref_t<A>>;

/// The spec that `with_rank<Rank>` gives: all that the type knows, else only the rank.
template <class A, int Rank>
struct spec_of_rank {
    using type = dynamic_spec_t<typename array_access<A>::value_type, static_cast<std::size_t>(Rank)>;
};
template <array_argument A, int Rank>
struct spec_of_rank<A, Rank> {
    static_assert(array_spec_t<A>::rank == Rank, "calque: with_rank: the array's type has another rank");
    using type = array_spec_t<A>;
};

template <class A, int Rank>
constexpr bool allows_rank() {
    if constexpr (array_argument<A>) {
        return array_spec_t<A>::rank == Rank;
    } else {
        return true;
    }
}

} // namespace detail

/// A view of an array that knows more of its shape than the array's type does; made by `with_rank` and `with_shape`.
///
/// `Array` is a reference, or the array itself if that was a temporary. The shape is checked when a function binds it.
template <class Array, array_spec Spec>
class shaped_array {
public:
    using array_type = std::remove_cvref_t<Array>;

    constexpr explicit shaped_array(Array&& array) : array_(static_cast<Array&&>(array)) {}

    constexpr std::remove_reference_t<Array>& array() { return array_; }
    constexpr array_type const& array() const { return array_; }

private:
    Array array_;
};

template <class Array, class Spec>
struct array_adaptor<shaped_array<Array, Spec>> {
    using view = shaped_array<Array, Spec>;
    using access = detail::array_access<typename view::array_type>;
    using value_type = typename access::value_type;
    using spec = Spec;
    static constexpr int rank = Spec::rank;
    static constexpr bool contiguous = access::contiguous;
    static constexpr bool column_major = access::column_major;
    static constexpr bool resizable = [] {
        if constexpr (requires { access::resizable; }) {
            return access::resizable;
        } else {
            return false;
        }
    }();

    static constexpr auto data(view const& v) { return access::data(v.array()); }
    static constexpr auto data(view& v) { return access::data(v.array()); }
    static constexpr extent_t extent(view const& v, int axis) {
        return is_static(Spec::shape[axis]) ? Spec::shape[axis] : access::extent(v.array(), axis);
    }
    static constexpr std::int64_t stride(view const& v, int axis) { return access::stride(v.array(), axis); }

    static constexpr void resize(view& v, shape const& wanted)
        requires requires { access::resize(v.array(), wanted); }
    {
        for (int axis = 0; axis < rank; ++axis) {
            if (is_static(Spec::shape[axis]) && Spec::shape[axis] != wanted[axis]) {
                throw_not_resizable(Spec::shape, wanted);
            }
        }
        access::resize(v.array(), wanted);
    }

    /// The shape of the array itself: what binding checks the spec against.
    static constexpr shape actual_shape(view const& v) {
        shape actual;
        for (int axis = 0; axis < access::run_time_rank(v.array()); ++axis) {
            actual.push_back(access::extent(v.array(), axis));
        }
        return actual;
    }

    /// Whether the array has the rank and the static extents that the view claims.
    static constexpr bool matches(view const& v) {
        if (access::run_time_rank(v.array()) != rank) {
            return false;
        }
        for (int axis = 0; axis < rank; ++axis) {
            if (is_static(Spec::shape[axis]) && access::extent(v.array(), axis) != Spec::shape[axis]) {
                return false;
            }
        }
        return true;
    }
};

/// A view of `array` with the rank `Rank`: `f(with_rank<2>(x))`, where `x` may be an `xt::xarray`.
template <int Rank, detail::array_of_any_rank A>
constexpr auto with_rank(A&& array) {
    using spec = typename detail::spec_of_rank<std::remove_cvref_t<A>, Rank>::type;
    return shaped_array<A, spec>(static_cast<A&&>(array));
}

/// A view of `array` with these extents, each static, named or `dyn`: `f(with_shape<dim("batch"), 784>(x))`.
template <extent_t... Extents, detail::array_of_any_rank A>
constexpr auto with_shape(A&& array) {
    using plain = std::remove_cvref_t<A>;
    static_assert(detail::allows_rank<plain, static_cast<int>(sizeof...(Extents))>(),
                  "calque: with_shape: as many extents as the array's type has axes");
    return shaped_array<A, spec<typename detail::array_access<plain>::value_type, Extents...>>(static_cast<A&&>(array));
}

} // namespace v0
} // namespace calque
