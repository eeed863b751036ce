// SPDX-License-Identifier: MIT
// A graph under construction whose arguments number themselves: how tests build graphs without a traced function.
#pragma once

#include <calque/graph/value.hpp>

namespace tests {

struct sketch : calque::graph::builder {
    int arguments = 0;

    constexpr calque::graph::value argument(calque::shape const& s, calque::dtype type = calque::dtype::float32) {
        return {this, builder::argument(type, s, arguments++)};
    }
    constexpr calque::shape const& shape_of(calque::graph::value v) const { return builder::shape(v.id); }
};

} // namespace tests
