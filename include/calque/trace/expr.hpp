// SPDX-License-Identifier: MIT
// `expr<T>`: the array that a traced function body sees. Its dtype is in its type; its shape is a value in the graph.
#pragma once

#include <calque/graph/copy.hpp>
#include <calque/graph/value.hpp>

#include <concepts>
#include <type_traits>

namespace calque {
inline namespace v0 {

template <class T>
class expr;
template <class T>
class weak_expr;

class axis_extent;

namespace detail {

template <class>
inline constexpr bool never = false;

/// The graph of values that no argument has met yet (`zeros<float>(3)`): shared by the handles that point into it.
///
/// When one of its values meets another graph's, that graph absorbs it for good: however often a value is used then, it
/// is one node. (`grad` relies on it: a value and what it is differentiated by must not be copies.)
class shared_builder : public graph::builder {
public:
    constexpr shared_builder() = default;
    constexpr ~shared_builder() {
        if (next_ != nullptr) {
            next_->release();
        }
    }

    constexpr void retain() { ++references_; }
    constexpr void release() {
        if (--references_ == 0) {
            destroy();
        }
    }

    /// Copies everything to `host`, where its handles point from now on. `shared` is the same, if it is shared as well.
    ///
    /// What was in the body goes to the host's body: it can be used everywhere. A branch or loop that is being traced
    /// here goes on in the host, where that is.
    constexpr void move_to(graph::builder& host, shared_builder* shared) {
        host_ = &host;
        next_ = shared;
        if (next_ != nullptr) {
            next_->retain();
        }
        std::uint16_t const host_region = host.current_region();
        host.set_region(0);
        graph::node_map images(view(), host);
        if (current_region() != 0) {
            images.set_region(outermost_open_region(), host.add_region(host_region));
        }
        for (graph::node_id id = 0; id < node_count(); ++id) {
            images_.push_back(images.copy(id));
        }
        for (int r = 0; r < view().region_count; ++r) {
            regions_.push_back(images.region(static_cast<std::uint16_t>(r)));
        }
        host.set_region(current_region() == 0 ? host_region : regions_[current_region()]);
        host.fail(error());
    }

    constexpr bool has_moved() const { return host_ != nullptr; }
    /// Where a region is now.
    constexpr std::uint16_t locate_region(std::uint16_t r) const {
        return host_ == nullptr ? r : next_ == nullptr ? regions_[r] : next_->locate_region(regions_[r]);
    }

    /// Where the value of a handle is now, and the share that it has there.
    constexpr graph::value locate(graph::node_id id) {
        if (host_ == nullptr) {
            return {this, id};
        }
        return next_ == nullptr ? graph::value{host_, images_[id]} : next_->locate(images_[id]);
    }
    constexpr shared_builder* last() { return host_ == nullptr ? this : next_ == nullptr ? nullptr : next_->last(); }

private:
    // Not inlined: g++ 12 would warn of a handle that is released after another one of the same graph.
    CALQUE_COLD constexpr void destroy() { delete this; }

    constexpr std::uint16_t outermost_open_region() const {
        std::uint16_t r = current_region();
        while (view().regions[r].parent != 0) {
            r = view().regions[r].parent;
        }
        return r;
    }

    int references_ = 0;
    graph::builder* host_ = nullptr;
    shared_builder* next_ = nullptr;
    sequence<graph::node_id> images_;
    sequence<std::uint16_t> regions_;
};

/// A value, and a share in its graph if that is not the graph of the trace.
class handle_base {
public:
    constexpr handle_base(graph::value v, shared_builder* shared) : value_(v), shared_(shared) {
        if (shared_ != nullptr) {
            shared_->retain();
        }
    }
    constexpr handle_base(handle_base const& other) : handle_base(other.value_, other.shared_) {}
    constexpr handle_base& operator=(handle_base const& other) {
        if (other.shared_ != nullptr) {
            other.shared_->retain(); // first: it may be the same
        }
        if (shared_ != nullptr) {
            shared_->release();
        }
        value_ = other.value_;
        shared_ = other.shared_;
        return *this;
    }
    constexpr ~handle_base() {
        if (shared_ != nullptr) {
            shared_->release();
        }
    }

    constexpr graph::value value() const { return shared_ == nullptr ? value_ : shared_->locate(value_.id); }
    constexpr shared_builder* shared() const { return shared_ == nullptr ? nullptr : shared_->last(); }

    /// The number of axes.
    constexpr int rank() const { return value().rank(); }
    /// The extent of an axis, from the end if negative.
    constexpr axis_extent extent(int axis) const;
    constexpr calque::shape const& shape() const { return value().shape(); }

    template <std::same_as<bool> B>
    constexpr explicit operator B() const {
        static_assert(
            never<B>,
            "calque: a traced value has no bool: use calque::where(c, a, b), or calque::cond(c, then, otherwise)");
        return false;
    }
    template <std::same_as<double> D>
    constexpr operator D() const {
        static_assert(never<D>, "calque: a traced array is not a number, and std:: functions do not take it: write "
                                "exp(x) or calque::exp(x)");
        return 0;
    }

private:
    graph::value value_;
    shared_builder* shared_;
};

} // namespace detail

/// The extent of an axis of a traced array.
///
/// Where the compiler knows it, it is a number. Where only the call does, it is a traced integer beside a traced value,
/// `sum(x) / x.extent(0)`, and itself in a list of extents, `reshape(x, x.extent(0), 2, 3)`; to use it as a number, in
/// a C++ loop, say, is then a compile error.
class axis_extent {
public:
    constexpr axis_extent(detail::handle_base const& array, int axis) : array_(array), axis_(axis) {}

    /// What the trace knows: the number, `dyn`, or the code of a name.
    constexpr extent_t declared() const { return array_.shape().extent(axis_); }

    constexpr operator extent_t() const {
        extent_t const known = declared();
        if (!is_static(known)) {
            graph::value const v = array_.value();
            v.owner->fail(graph::reason::extent_as_a_number, graph::code_of<graph::ops::element_count>, &v.id, 1,
                          "extent");
            return 0;
        }
        return known;
    }

    /// Whether the compiler knows it to be `number`; `x.extent(0) == dyn` asks whether only the call knows it.
    template <std::integral N>
    constexpr bool operator==(N number) const {
        return declared() == static_cast<extent_t>(number);
    }
    constexpr bool operator==(axis_extent const& other) const {
        extent_t const known = declared();
        return (is_named(known) && known == other.declared()) || extent_t{*this} == extent_t{other};
    }

    /// The array that it is an extent of, and the axis, counted from the first.
    constexpr detail::handle_base const& array() const { return array_; }
    constexpr int axis() const { return axis_ < 0 ? axis_ + array_.rank() : axis_; }

private:
    detail::handle_base array_;
    int axis_;
};

constexpr axis_extent detail::handle_base::extent(int axis) const {
    return {*this, axis};
}

/// What functions take that make arrays of some extents: a number, or the extent of another array.
template <class X>
concept extent_argument = std::integral<X> || std::same_as<X, axis_extent>;

namespace detail {

/// An extent in a list: one that only the call knows stays what it is.
template <extent_argument X>
constexpr extent_t listed_extent(X const& extent) {
    if constexpr (std::integral<X>) {
        return static_cast<extent_t>(extent);
    } else {
        return extent.declared();
    }
}

} // namespace detail

/// A traced array with elements of type `T`. It lives only while its function is traced, in constant evaluation.
template <class T>
class expr : public detail::handle_base {
public:
    using value_type = T;
    using handle_base::handle_base;

    /// A part, by ranges and indices as `view` takes them, to assign to: `x.at(0).set(v)` is an array that is `x` but
    /// for row 0, and `x.at(0).add(v)` one to which v is added there. `x` stays what it is. (trace/arranging.hpp)
    template <class... Ranges>
    constexpr auto at(Ranges... ranges) const {
        return make_part(*this, ranges...);
    }
};

/// A traced scalar that came from an arithmetic argument: like a literal, it takes the dtype of the array it meets.
template <class T>
class weak_expr : public detail::handle_base {
public:
    using value_type = T;
    using handle_base::handle_base;
};

namespace detail {

template <class X>
inline constexpr bool is_expr = false;
template <class T>
inline constexpr bool is_expr<expr<T>> = true;

template <class X>
inline constexpr bool is_weak_expr = false;
template <class T>
inline constexpr bool is_weak_expr<weak_expr<T>> = true;

} // namespace detail

/// A traced array or scalar.
template <class X>
concept handle = detail::is_expr<X> || detail::is_weak_expr<X>;

/// What an operation takes: a handle, a number, or the extent of an array.
template <class X>
concept operand = handle<X> || arithmetic<X> || std::same_as<X, axis_extent>;

} // namespace v0
} // namespace calque
