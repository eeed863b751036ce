// SPDX-License-Identifier: MIT
// The function inside of a transformed function (`grad(f)`, `vmap(f)`): it is kept so that the result can be traced.
#pragma once

#include <calque/trace/trace.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

/// A function that is kept in an object if it captures something, and else made where it is called, so that what is
/// made of it can be traced.
template <class F>
class kept_function {
public:
    constexpr explicit kept_function(F const& fn) : fn_(fn) {}
    constexpr F get() const { return fn_; }

private:
    F fn_;
};
template <class F>
    requires std::is_empty_v<F>
class kept_function<F> {
public:
    constexpr explicit kept_function(F const& /*fn*/) {}
    static constexpr F get() { return instance<F>(); }
};

} // namespace detail
} // namespace v0
} // namespace calque
