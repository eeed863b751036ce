// SPDX-License-Identifier: MIT
// error(g++): calque: vmap: a value made inside a mapped function is used outside it: return it from the function
// error(clang): is_returned_by_vmap<.*calque: a value made inside a mapped function is used outside it: return it
// first
#include <calque/trace/elementwise.hpp>
#include <calque/trace/reductions.hpp>
#include <calque/vmap.hpp>

inline constexpr auto body = [](auto x) {
    auto kept = sum(x);
    auto const y = calque::vmap([&](auto row) {
#ifdef CALQUE_POSITIVE_CONTROL
        return row * kept;
#else
        kept = sum(row);
        return row * kept;
#endif
    })(x);
    return y + kept;
};

inline constexpr auto graph = calque::trace<calque::spec<float, 4, 3>>(body);
