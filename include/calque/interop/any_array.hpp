// SPDX-License-Identifier: MIT
// `any_array`: an array whose dtype and rank only the run knows, as it comes from a file or from another program.
#pragma once

#include <calque/interop/with_shape.hpp>

#include <cstring>
#include <memory>
#include <span>

namespace calque {
inline namespace v0 {

namespace detail {

/// A copy of strided elements, in row-major order.
template <class T>
std::shared_ptr<T[]> copy_by_rows(shape const& extents, strides const& steps, T const* from) {
    auto const count = static_cast<std::size_t>(extents.size());
    std::shared_ptr<T[]> copy(new T[count == 0 ? 1 : count]);
    T* to = copy.get();
    shape index = extents; // counts down, the last axis first
    std::ptrdiff_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
        *to++ = from[at];
        for (int axis = extents.rank - 1; axis >= 0; --axis) {
            at += steps[axis];
            if (--index[axis] != 0) {
                break;
            }
            at -= extents[axis] * steps[axis];
            index[axis] = extents[axis];
        }
    }
    return copy;
}

} // namespace detail

/// A contiguous row-major array of any dtype and rank. Its elements do not change, so copies share them.
///
/// A traced function takes one through `dispatch`, which names the dtypes and ranks that are instantiated.
class any_array {
public:
    /// Keeps a copy of an array's elements; of a container that is passed as a temporary, the container itself.
    template <detail::array_of_any_rank A>
        requires(!std::same_as<std::remove_cvref_t<A>, any_array>)
    explicit any_array(A&& array) : type_(dtype_of<typename detail::array_access<std::remove_cvref_t<A>>::value_type>) {
        using plain = std::remove_cvref_t<A>;
        using access = detail::array_access<plain>;
        for (int axis = 0; axis < access::run_time_rank(array); ++axis) {
            extents_.push_back(access::extent(array, axis));
        }
        if constexpr (array_argument<plain> && std::is_same_v<A, plain>) {
            if constexpr (is_always_contiguous_v<plain> && is_resizable_v<plain>) {
                auto kept = std::make_shared<plain const>(std::move(array));
                data_ = array_adaptor<plain>::data(*kept);
                owner_ = std::move(kept);
                return;
            }
        }
        copy_elements(access::data(array), [&](int axis) { return access::stride(array, axis); });
    }

    /// A scalar.
    template <class T>
        requires(arithmetic<T> && element<typename detail::canonical<T>::type>)
    explicit any_array(T number) : type_(dtype_of<typename detail::canonical<T>::type>) {
        copy_elements(&number, [](int) { return std::int64_t{0}; });
    }

    /// Refers to elements that somebody else keeps for as long as this array and its copies are used.
    static any_array refer_to(dtype type, shape const& extents, void const* elements) {
        return any_array(type, extents, elements, nullptr);
    }

    /// The same, with `owner` keeping them.
    static any_array keep(dtype type, shape const& extents, void const* elements, std::shared_ptr<void const> owner) {
        return any_array(type, extents, elements, std::move(owner));
    }

    /// A copy of elements that lie `steps` apart.
    template <element T>
    static any_array copy_of(shape const& extents, T const* elements, strides const& steps) {
        std::shared_ptr<T[]> copy = detail::copy_by_rows(extents, steps, elements);
        T const* const first = copy.get();
        return any_array(dtype_of<T>, extents, first, std::move(copy));
    }

    dtype type() const { return type_; }
    shape const& extents() const { return extents_; }
    int rank() const { return extents_.rank; }
    void const* data() const { return data_; }

    /// The elements in row-major order. Throws `dtype_error` if they are not of the type `T`.
    template <element T>
    std::span<T const> elements() const {
        if (type_ != dtype_of<T>) {
            throw_other_dtype(dtype_of<T>);
        }
        return {static_cast<T const*>(data_), static_cast<std::size_t>(extents_.size())};
    }

    /// A copy in another container, `a.as<xt::xtensor<float, 2>>()`. Throws `dtype_error` or `shape_error` if dtype or
    /// rank are not those of the container.
    template <array_output A>
    A as() const {
        auto const from = elements<array_value_t<A>>();
        if (extents_.rank != array_spec_t<A>::rank) {
            throw_other_rank(array_spec_t<A>::rank);
        }
        A result;
        if (!(shape_of(result) == extents_)) {
            detail::resize(result, extents_);
        }
        static_assert(is_always_contiguous_v<A>, "calque: any_array::as makes row-major containers");
        std::memcpy(array_adaptor<A>::data(result), from.data(), from.size_bytes());
        return result;
    }

    /// The number that a scalar is, `double(a)`. Throws `shape_error` if it is no scalar.
    template <class T>
        requires arithmetic<T>
    explicit operator T() const {
        if (extents_.rank != 0) {
            throw_other_rank(0);
        }
        return with_type_of(type_, [this]<class E>() { return static_cast<T>(*static_cast<E const*>(data_)); });
    }

private:
    any_array(dtype type, shape const& extents, void const* elements, std::shared_ptr<void const> owner)
        : type_(type), extents_(extents), data_(elements), owner_(std::move(owner)) {}

    template <class T, class StrideOf>
    void copy_elements(T const* from, StrideOf const& stride_of) {
        strides steps;
        for (int axis = 0; axis < extents_.rank; ++axis) {
            steps[axis] = extents_[axis] == 1 ? 0 : stride_of(axis);
        }
        std::shared_ptr<T[]> copy = detail::copy_by_rows(extents_, steps, from);
        data_ = copy.get();
        owner_ = std::move(copy);
    }

    [[noreturn]] CALQUE_COLD void throw_other_dtype(dtype wanted) const {
        text message;
        message << "calque: an any_array of " << type_ << extents_ << " was read as " << wanted;
        throw dtype_error(message.string());
    }
    [[noreturn]] CALQUE_COLD void throw_other_rank(int wanted) const {
        text message;
        message << "calque: an any_array of " << type_ << extents_ << " was read with " << wanted << " axes";
        throw shape_error(message.string());
    }

    dtype type_;
    shape extents_;
    void const* data_ = nullptr;
    std::shared_ptr<void const> owner_;
};

namespace detail {

/// An `any_array` whose dtype and rank are known: what a traced function binds.
template <class T, int Rank>
struct typed_array {
    T const* data;
    shape const* extents;
};

} // namespace detail

template <class T, int Rank>
struct array_adaptor<detail::typed_array<T, Rank>> {
    using array = detail::typed_array<T, Rank>;
    using value_type = T;
    using spec = detail::dynamic_spec_t<T, static_cast<std::size_t>(Rank)>;
    static constexpr int rank = Rank;
    static constexpr bool contiguous = true;

    static T const* data(array const& a) { return a.data; }
    static extent_t extent(array const& a, int axis) { return (*a.extents)[axis]; }
    static std::int64_t stride(array const& a, int axis) {
        std::int64_t step = 1;
        for (int i = Rank - 1; i > axis; --i) {
            step *= (*a.extents)[i];
        }
        return step;
    }
};

} // namespace v0
} // namespace calque
