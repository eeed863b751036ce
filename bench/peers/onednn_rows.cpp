// SPDX-License-Identifier: MIT
// Products, softmax and layer norm as primitives that are made once. (On one thread: see scripts/bench.)
#include <oneapi/dnnl/dnnl.hpp>

#include "rows.hpp"

#include <unordered_map>

namespace {

using dnnl::memory;

dnnl::engine& engine() {
    static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
    return cpu;
}

memory::desc row_major(rows::extents n) {
    return {{static_cast<memory::dim>(n.rows), static_cast<memory::dim>(n.columns)},
            memory::data_type::f32,
            memory::format_tag::ab};
}

/// An array of its own.
struct table {
    std::vector<float> elements;
    memory::desc layout;

    table(rows::extents n, unsigned seed) : elements(rows::numbers_in_order(n.size(), seed)), layout(row_major(n)) {}
    memory in_place() { return memory(layout, engine(), elements.data()); }
};

/// Times a primitive on arrays, by what they are to it.
void add(std::string const& name, std::size_t items, dnnl::primitive primitive, std::vector<int> roles,
         std::vector<table> arrays) {
    rows::add(name, items,
              [primitive, roles, arrays, stream = dnnl::stream(engine()),
               bound = std::unordered_map<int, memory>()]() mutable {
                  for (std::size_t i = bound.size(); i < roles.size(); ++i) { // once: the arrays stay where they are
                      bound.emplace(roles[i], arrays[i].in_place());
                  }
                  primitive.execute(stream, bound);
                  stream.wait();
              });
}

void add_product(std::string const& name, rows::extents a, std::size_t columns) {
    rows::extents const b{a.columns, columns}, c{a.rows, columns};
    dnnl::matmul const product({{row_major(a), row_major(b), row_major(c)}, engine()});
    add(name, 2 * a.size() * columns, product, {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
        {table(a, 0), table(b, 1), table(c, 2)});
}

void add_rows() {
    for (rows::extents const n : rows::softmax_sizes) {
        dnnl::softmax_forward const softmax({{dnnl::prop_kind::forward_inference, row_major(n), 1}, engine()});
        add(rows::name_of("softmax", n), n.size(), softmax, {DNNL_ARG_SRC, DNNL_ARG_DST}, {table(n, 0), table(n, 1)});
    }
    for (rows::extents const n : rows::square) {
        dnnl::layer_normalization_forward const norm(
            {{dnnl::prop_kind::forward_inference, row_major(n), 1e-5f, dnnl::normalization_flags::none}, engine()});
        add(rows::name_of("layer norm", n), n.size(), norm, {DNNL_ARG_SRC, DNNL_ARG_DST}, {table(n, 0), table(n, 1)});
    }
}

} // namespace

int main(int argc, char** argv) {
    add_rows();
    for (std::size_t const n : rows::product_sizes) {
        add_product(rows::name_of("matmul", n), {n, n}, n);
    }
    add_product("matmul/30x784x128", {30, 784}, 128);
    return rows::run(argc, argv);
}
