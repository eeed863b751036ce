// SPDX-License-Identifier: MIT
// The products, on one thread.
#include <cblas.h>

#include "rows.hpp"

namespace {

void add_product(std::string const& name, rows::extents a, std::size_t columns) {
    auto const m = static_cast<int>(a.rows), k = static_cast<int>(a.columns), n = static_cast<int>(columns);
    rows::add(name, 2 * a.size() * columns,
              [=, x = rows::numbers_in_order(a.size(), 0), y = rows::numbers_in_order(a.columns * columns, 1),
               out = std::vector<float>(a.rows * columns)]() mutable {
                  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.f, x.data(), k, y.data(), n, 0.f,
                              out.data(), n);
              });
}

} // namespace

int main(int argc, char** argv) {
    openblas_set_num_threads(1);
    for (std::size_t const n : rows::product_sizes) {
        add_product(rows::name_of("matmul", n), {n, n}, n);
    }
    add_product("matmul/30x784x128", {30, 784}, 128);
    return rows::run(argc, argv);
}
