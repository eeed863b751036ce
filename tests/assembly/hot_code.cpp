// SPDX-License-Identifier: MIT
// What users write, all in one function: the loops that come after a use of calque, and the kernels that only such a
// function calls, must not be taken for cold code, which compilers make small instead of fast. hot_code.sh looks at
// the sections in which they are.
#include <calque/calque.hpp>

#include <string>

namespace {

using vector = xt::xtensor<float, 1>;

void work(vector& y) {
    for (float& element : y) {
        element = element * 1.5f + 1;
    }
}

__attribute__((noinline, cold)) void do_cold_things() {
    __asm__ volatile("");
}

} // namespace

extern "C" {

void user_makes_and_calls(vector& y, vector const& x) {
    auto const f = calque::function([](auto a) { return tanh(a) * 2.f; });
    for (int i = 0; i < 100; ++i) {
        f.into(y, x);
        work(y);
    }
}

void user_gets_new_arrays(vector& y, vector const& x) {
    auto const f = calque::function([](auto a) { return sum(a) + a; });
    for (int i = 0; i < 100; ++i) {
        y = f(x);
        work(y);
    }
}

void user_returns_an_argument(vector& y, vector const& x) {
    auto const f = calque::function([](auto a) { return std::make_tuple(a, a * 2.f); });
    vector z;
    f.into(std::tie(y, z), x);
    work(y);
}

std::size_t user_asks_for_counts(vector& y, vector const& x) {
    auto const f = calque::function([](auto a) { return a + 1.f; });
    f.into(y, x);
    std::size_t const count = f.trace_count() + f.hit_count() + f.signatures().size();
    work(y);
    return count;
}

std::string user_asks_why(vector& y, vector const& x) {
    auto const f = calque::function([](auto a) { return a + 2.f; });
    std::string const reason = f.explain(x).reason;
    work(y);
    return reason;
}

std::string user_prints(vector& y, vector const& x) {
    auto const f = calque::function([](auto a) { return a + 3.f; });
    std::string const text = f.plan(x).text() + calque::report().text();
    work(y);
    return text;
}

std::string user_prints_a_graph(vector& y) {
    auto const g = calque::trace<calque::spec<float, calque::dyn>>([](auto a) { return a + 4.f; });
    std::string const text = g.text() + g.dot() + g.schedule();
    work(y);
    return text;
}

// Must be found in the section of cold code: else the test sees nothing.
void control_is_cold(vector& y) {
    do_cold_things();
    work(y);
}
}
