// SPDX-License-Identifier: MIT
// `variable`: state that lives outside traced functions, is passed to them, and that they change in place.
#pragma once

#include <calque/interop/leaf.hpp>
#include <calque/interop/tree_kind.hpp>

#include <algorithm>
#include <utility>

namespace calque {
inline namespace v0 {

/// An array that keeps its value from call to call: `calque::variable<float, calque::dyn> v(initial)`.
///
/// `f(v, x)` passes it to a traced function, which reads it as an array and may call `v.assign(x)`, `v.assign_add(x)`
/// and `v.assign_sub(x)`. Its extents stay what they are while a function runs; the host may assign other ones. Not
/// safe to use in two calls at once.
template <class T, extent_t... Extents>
class variable {
public:
    using array_type = output_array_t<spec<T, Extents...>>;

    variable() = default;
    /// Throws `shape_error` if the extents are not the declared ones.
    template <class A>
        requires(!std::is_same_v<std::remove_cvref_t<A>, variable>)
    explicit variable(A&& initial) {
        assign(std::forward<A>(initial));
    }

    array_type const& value() const { return value_; }

    /// Throws `shape_error` if the extents are not the declared ones; the variable is then what it was.
    template <class A>
    void assign(A&& x) {
        if constexpr (sizeof...(Extents) == 0) {
            value_ = static_cast<T>(x);
        } else {
            // Before the elements are read: arrays of fixed size would read as many as they have.
            if constexpr (requires { x.dimension(), x.shape(std::size_t{0}); }) {
                shape extents;
                for (std::size_t axis = 0; axis < std::min<std::size_t>(x.dimension(), max_rank); ++axis) {
                    extents.push_back(static_cast<extent_t>(x.shape(axis)));
                }
                require_declared(extents);
            }
            array_type next(std::forward<A>(x));
            require_declared(shape_of(next));
            value_ = std::move(next);
        }
    }

private:
    friend struct array_adaptor<variable>;

    static constexpr shape declared_{Extents...};

    static void require_declared(shape const& extents) {
        if (extents.rank != declared_.rank || detail::first_mismatch(extents, declared_) != declared_.rank) {
            throw_not_resizable(declared_, extents);
        }
    }

    mutable array_type value_{}; // a call writes to it
};

/// What the adaptor of a variable's array says, under the declared extents.
template <class T, extent_t... Extents>
struct array_adaptor<variable<T, Extents...>> {
    using value_type = T;
    using spec = calque::spec<T, Extents...>;
    static constexpr int rank = spec::rank;
    static constexpr bool contiguous = true;

    static T* data(variable<T, Extents...> const& v) {
        if constexpr (rank == 0) {
            return &v.value_;
        } else {
            return v.value_.data();
        }
    }
    static extent_t extent(variable<T, Extents...> const& v, int axis) {
        if constexpr (rank == 0) {
            return 1;
        } else {
            return array_adaptor<typename variable<T, Extents...>::array_type>::extent(v.value_, axis);
        }
    }
    static std::int64_t stride(variable<T, Extents...> const& v, int axis) {
        if constexpr (rank == 0) {
            return 1;
        } else {
            return array_adaptor<typename variable<T, Extents...>::array_type>::stride(v.value_, axis);
        }
    }
};

template <class T>
class variable_expr;

template <class T, extent_t... Extents>
struct leaf_traits<variable<T, Extents...>> {
    using leaf = spec<T, Extents...>;
    using handle = variable_expr<T>;
};

} // namespace v0
} // namespace calque
