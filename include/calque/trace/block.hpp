// SPDX-License-Identifier: MIT
// `block`: a function that stays one node of the graphs of its callers, and is compiled once for all its calls.
#pragma once

#include <calque/trace/branches.hpp>
#include <calque/trace/kept_function.hpp>

namespace calque {
inline namespace v0 {
namespace detail {

template <class F>
class block_function {
public:
    constexpr explicit block_function(F const& fn) : fn_(fn) {}

    template <class... X>
    constexpr auto operator()(X const&... x) const {
        home_finder finder;
        (finder.consider(x), ...);
        region_home home = finder.find();
        graph::value const only{&home.owner(), home.owner().constant(dtype::int32, 0)};
        auto const body = [&] { return evaluate(fn_.get(), x...); };
        return branch_tracer<decltype(body)>(home).run(expr<std::int32_t>(only, home.shared()), body);
    }

private:
    template <class... X>
    static constexpr auto evaluate(F fn, X... x) {
        return fn(x...);
    }

    [[no_unique_address]] kept_function<F> fn_;
};

} // namespace detail

/// `fn` as a block: calls of it stay one node each, a `cond` with one branch, where other functions become part of
/// their caller. Blocks of one graph that are alike, in dtypes and declared shapes too, share their kernels: a network
/// of 48 equal layers compiles like one of a few.
///
/// At least one argument is traced. Nothing fuses across the border of a block, and the gradient computes its values
/// again (as `checkpoint` does), so that a block should be worth some kernels.
///
/// ```cpp
/// inline constexpr auto layer = calque::block([](auto x, auto w, auto b) { return x + relu(matmul(x, w) + b); });
/// ```
template <class F>
constexpr auto block(F const& fn) {
    return detail::block_function<F>(fn);
}

} // namespace v0
} // namespace calque
