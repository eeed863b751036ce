// SPDX-License-Identifier: MIT
// Programs whose machine code count.sh looks at (bounds.txt says what it must find), through the public interface; and
// two functions that it must reject, which the self-test shows.
#include <calque/calque.hpp>

#include <cstddef>

namespace assembly {

struct cheap_chain {
    constexpr auto operator()(auto a, auto b, auto c) const { return a * b + c - 0.5f * a; }
};
struct costly_chain {
    constexpr auto operator()(auto a, auto b, auto c) const { return tanh(a * b + c) * sigmoid(a) - 0.5f * c; }
};
struct row_softmax {
    constexpr auto operator()(auto x) const { return calque::softmax<-1>(x); }
};
struct total {
    constexpr auto operator()(auto x) const { return sum(x); }
};
struct column_sums {
    constexpr auto operator()(auto x) const { return calque::sum<0>(x); }
};
struct row_sums {
    constexpr auto operator()(auto x) const { return calque::sum<1>(x); }
};
struct product {
    constexpr auto operator()(auto x, auto y) const { return matmul(x, y); }
};

using vector = xt::xtensor<float, 1>;
using matrix = xt::xtensor<float, 2>;

void run(vector& out, vector const& a, vector const& b, vector const& c) {
    calque::function(cheap_chain{}).into(out, a, b, c);
    calque::function(costly_chain{}).into(out, a, b, c);
}
void run(float& out, vector& row, matrix const& x) {
    calque::function(total{}).into(out, x);
    calque::function(column_sums{}).into(row, x);
    calque::function(row_sums{}).into(row, x);
}
void run(matrix& out, matrix const& x, matrix const& y) {
    calque::function(row_softmax{}).into(out, x);
    calque::function(product{}).into(out, x, y);
}
void run(xt::xtensor<double, 2>& out, xt::xtensor<double, 2> const& x, xt::xtensor<double, 2> const& y) {
    calque::function(product{}).into(out, x, y);
}

/// No compiler may add these in another order, so that there are no vectors.
float scalar_sum(float const* x, std::size_t n) {
    float sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        sum += x[i];
    }
    return sum;
}

/// The total is in memory, as if no register were left for it.
float spilled_sum(float const* x, std::size_t n) {
    float volatile sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        sum = sum + x[i];
    }
    return sum;
}

} // namespace assembly
