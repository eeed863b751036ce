// SPDX-License-Identifier: MIT
// Matrix products: every variant, layout and kind of size against a triple loop; nothing outside is read or written.
#include <calque/kernels/cpu/matmul.hpp>
#include <calque/kernels/cpu/matmul_short_rows.hpp>
#include <calque/kernels/cpu/matmul_small.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace {

using namespace calque::kernels;
using std::ptrdiff_t;

// The value of everything that is not an element: a kernel that reads it, or writes over it, is found out.
template <class T>
T const untouchable = std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN() : T(77);

template <class T>
bool same_bits(T x, T y) {
    return std::memcmp(&x, &y, sizeof(T)) == 0;
}

std::uint32_t random_state = 1;

template <class T>
T random_element() {
    random_state = random_state * 1664525u + 1013904223u;
    int const value = static_cast<int>(random_state >> 16) % 2001 - 1000;
    return std::is_floating_point_v<T> ? static_cast<T>(value) / T(512) : static_cast<T>(value);
}

// Memory with a margin of untouchable elements on both sides; `offset` moves it off its alignment.
template <class T>
class guarded {
public:
    explicit guarded(ptrdiff_t size, ptrdiff_t offset = 0)
        : size_(size), offset_(offset),
          memory_(static_cast<T*>(::operator new(total() * sizeof(T), std::align_val_t(64)))) {
        std::fill_n(memory_.get(), total(), untouchable<T>);
    }

    T* data() const { return memory_.get() + margin + offset_; }

    bool margins_are_intact() const {
        auto const intact = [](T x) { return same_bits(x, untouchable<T>); };
        return std::all_of(memory_.get(), data(), intact) &&
               std::all_of(data() + size_, memory_.get() + total(), intact);
    }

private:
    static constexpr ptrdiff_t margin = 64;

    struct release {
        void operator()(T* p) const { ::operator delete(p, std::align_val_t(64)); }
    };

    std::size_t total() const { return static_cast<std::size_t>(size_ + offset_ + 2 * margin); }

    ptrdiff_t size_;
    ptrdiff_t offset_;
    std::unique_ptr<T[], release> memory_;
};

enum class layout { rows, columns, padded_rows, padded_columns, strided };
constexpr layout all_layouts[] = {layout::rows, layout::columns, layout::padded_rows, layout::padded_columns,
                                  layout::strided};

// A matrix in memory of its own; what lies between its elements is untouchable.
template <class T>
class matrix {
public:
    matrix(ptrdiff_t rows, ptrdiff_t columns, layout l, ptrdiff_t offset = 0)
        : rows_(rows), columns_(columns), row_stride_(l == layout::rows          ? columns
                                                      : l == layout::padded_rows ? columns + 3
                                                      : l == layout::strided     ? 2 * columns + 3
                                                                                 : 1),
          column_stride_(l == layout::columns          ? rows
                         : l == layout::padded_columns ? rows + 5
                         : l == layout::strided        ? 2
                                                       : 1),
          memory_(std::max<ptrdiff_t>(0, (rows - 1) * row_stride_ + (columns - 1) * column_stride_ + 1), offset) {}

    T& operator()(ptrdiff_t i, ptrdiff_t j) const { return memory_.data()[i * row_stride_ + j * column_stride_]; }
    matrix_ref<T> ref() const { return {memory_.data(), row_stride_, column_stride_}; }
    matrix_strides strides() const { return ref().strides(); }
    ptrdiff_t rows() const { return rows_; }
    ptrdiff_t columns() const { return columns_; }
    T* data() const { return memory_.data(); }
    ptrdiff_t row_stride() const { return row_stride_; }
    bool margins_are_intact() const { return memory_.margins_are_intact(); }

    matrix const& randomize() const {
        for (ptrdiff_t i = 0; i < rows_; ++i) {
            for (ptrdiff_t j = 0; j < columns_; ++j) {
                (*this)(i, j) = random_element<T>();
            }
        }
        return *this;
    }

    // Whether the elements between rows, in a padded result, were left alone.
    bool padding_is_intact() const {
        for (ptrdiff_t i = 0; i + 1 < rows_; ++i) {
            for (ptrdiff_t j = columns_; j < row_stride_; ++j) {
                if (!same_bits(memory_.data()[i * row_stride_ + j], untouchable<T>)) {
                    return false;
                }
            }
        }
        return true;
    }

private:
    ptrdiff_t rows_, columns_, row_stride_, column_stride_;
    guarded<T> memory_;
};

template <class T>
guarded<T> workspace_for(matmul_variant variant, matrix<T> const& a, matrix<T> const& b) {
    std::size_t const bytes =
        matmul_workspace<T>(variant, a.rows(), b.columns(), a.columns(), a.strides(), b.strides());
    return guarded<T>(static_cast<ptrdiff_t>(bytes / sizeof(T)));
}

template <class T>
matrix<T> stored(matmul_variant variant, matrix<T> const& a, matrix<T> const& b) {
    guarded<T> const workspace = workspace_for(variant, a, b);
    matrix<T> c(a.rows(), b.columns(), layout::padded_rows);
    matmul<T>(variant, a.rows(), b.columns(), a.columns(), a.ref(), b.ref(), c.data(), c.row_stride(),
              workspace.data());
    CHECK(workspace.margins_are_intact());
    CHECK(c.margins_are_intact());
    CHECK(c.padding_is_intact());
    return c;
}

// The product as a sink receives it, and whether each element came exactly once.
template <class T>
struct collected {
    matrix<T> elements;
    std::vector<int> deliveries;

    static void consume(void const* context, T const* tile, ptrdiff_t tile_stride, ptrdiff_t i, ptrdiff_t j,
                        ptrdiff_t rows, ptrdiff_t columns) {
        auto& self = *static_cast<collected*>(const_cast<void*>(context));
        REQUIRE((i >= 0 && j >= 0 && rows > 0 && columns > 0));
        REQUIRE((i + rows <= self.elements.rows() && j + columns <= self.elements.columns()));
        for (ptrdiff_t r = 0; r < rows; ++r) {
            for (ptrdiff_t c = 0; c < columns; ++c) {
                self.elements(i + r, j + c) = tile[r * tile_stride + c];
                ++self.deliveries[static_cast<std::size_t>((i + r) * self.elements.columns() + j + c)];
            }
        }
    }
};

template <class T>
matrix<T> delivered(matmul_variant variant, matrix<T> const& a, matrix<T> const& b) {
    guarded<T> const workspace = workspace_for(variant, a, b);
    collected<T> result{matrix<T>(a.rows(), b.columns(), layout::rows),
                        std::vector<int>(static_cast<std::size_t>(a.rows() * b.columns()))};
    matmul<T>(variant, a.rows(), b.columns(), a.columns(), a.ref(), b.ref(),
              tile_sink<T>{&collected<T>::consume, &result}, workspace.data());
    CHECK(workspace.margins_are_intact());
    CHECK(std::all_of(result.deliveries.begin(), result.deliveries.end(), [](int n) { return n == 1; }));
    return std::move(result.elements);
}

// The greatest error, as a multiple of eps * sum |a| |b|.
template <class T>
double greatest_error(matrix<T> const& a, matrix<T> const& b, matrix<T> const& c) {
    using wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;
    wide greatest = 0;
    for (ptrdiff_t i = 0; i < c.rows(); ++i) {
        for (ptrdiff_t j = 0; j < c.columns(); ++j) {
            wide sum = 0, magnitude = 0;
            for (ptrdiff_t k = 0; k < a.columns(); ++k) {
                wide const term = wide(a(i, k)) * wide(b(k, j));
                sum += term;
                magnitude += std::abs(term);
            }
            wide const error = std::abs(wide(c(i, j)) - sum);
            if (!(error <= magnitude * wide(1e9))) {
                return std::numeric_limits<double>::infinity(); // a NaN, above all
            }
            greatest = std::max(greatest, magnitude == 0 ? wide(0) : error / magnitude);
        }
    }
    return static_cast<double>(greatest / wide(std::numeric_limits<T>::epsilon()));
}

template <class T>
bool same_elements(matrix<T> const& x, matrix<T> const& y) {
    for (ptrdiff_t i = 0; i < x.rows(); ++i) {
        for (ptrdiff_t j = 0; j < x.columns(); ++j) {
            if (!same_bits(x(i, j), y(i, j))) {
                return false;
            }
        }
    }
    return true;
}

template <class T>
void check(matmul_variant variant, matrix<T> const& a, matrix<T> const& b) {
    CAPTURE(name_of(variant));
    CAPTURE(a.rows());
    CAPTURE(b.columns());
    CAPTURE(a.columns());
    matrix<T> const c = stored(variant, a, b);
    CHECK(greatest_error(a, b, c) <= 4.0 * static_cast<double>(a.columns()));
    CHECK(same_elements(c, delivered(variant, a, b)));
}

template <class T>
void check_chosen(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, layout of_a, layout of_b) {
    CAPTURE(static_cast<int>(of_a));
    CAPTURE(static_cast<int>(of_b));
    matrix<T> const a(m, k, of_a), b(k, n, of_b);
    check(choose_matmul<T>(m, n, k, a.strides(), b.strides()), a.randomize(), b.randomize());
}

template <class T>
std::vector<matmul_variant> tiled_variants() {
    std::vector<matmul_variant> variants{matmul_variant::direct, matmul_variant::transposed, matmul_variant::packed};
    if (detail::has_panels<T>) {
        variants.push_back(matmul_variant::panels);
    }
    return variants;
}

} // namespace

TEST_CASE_TEMPLATE("products of all small sizes and layouts are those of a triple loop", T, float, double) {
    constexpr ptrdiff_t sizes[] = {0, 1, 2, 13, 17, 33, 65};
    for (ptrdiff_t m : sizes) {
        for (ptrdiff_t n : sizes) {
            for (ptrdiff_t k : sizes) {
                for (layout of_a : {layout::rows, layout::columns}) {
                    for (layout of_b : {layout::rows, layout::columns}) {
                        check_chosen<T>(m, n, k, of_a, of_b);
                    }
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("products around the sizes of tiles are right", T, float, double) {
    for (ptrdiff_t size : {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 28, 29, 31, 32, 63, 64, 127, 128, 129}) {
        for (layout of_a : all_layouts) {
            for (layout of_b : all_layouts) {
                check_chosen<T>(size, 33, 17, of_a, of_b);
                check_chosen<T>(17, size, 33, of_a, of_b);
                check_chosen<T>(33, 17, size, of_a, of_b);
                check_chosen<T>(1, size, size, of_a, of_b);
                check_chosen<T>(size, 1, size, of_a, of_b);
            }
        }
    }
}

TEST_CASE_TEMPLATE("every tiled variant takes every layout and size", T, float, double) {
    struct {
        ptrdiff_t m, n, k;
    } const cases[] = {{1, 1, 1}, {2, 3, 4}, {15, 10, 20}, {40, 47, 19}, {31, 64, 400}, {190, 50, 385}};
    for (auto const [m, n, k] : cases) {
        for (layout of_a : all_layouts) {
            for (layout of_b : all_layouts) {
                matrix<T> const a(m, k, of_a), b(k, n, of_b);
                a.randomize();
                b.randomize();
                for (matmul_variant variant : tiled_variants<T>()) {
                    check(variant, a, b);
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("the tiled variants agree to the bit, in all their blocks", T, float, double) {
    struct {
        ptrdiff_t m, n, k;
    } const cases[] = {
        {20, 1100, 400},  // several blocks of columns
        {400, 70, 800},   // several blocks of rows and of the inner extent
        {45, 70, 1024},   // rows of A in one set of L1, so that it is copied
        {190, 1025, 4200} // B does not fit the budget of packed panels
    };
    for (auto const [m, n, k] : cases) {
        matrix<T> const a(m, k, layout::rows), b(k, n, layout::rows);
        a.randomize();
        b.randomize();
        matrix<T> const direct = stored(matmul_variant::direct, a, b);
        for (matmul_variant variant : tiled_variants<T>()) {
            CAPTURE(name_of(variant));
            CHECK(same_elements(direct, stored(variant, a, b)));
            CHECK(same_elements(direct, delivered(variant, a, b)));
        }
    }
}

TEST_CASE_TEMPLATE("panels have the bits of the others around their widths and depths", T, float, double) {
    if constexpr (detail::has_panels<T>) {
        constexpr ptrdiff_t width = detail::tile_columns<T>, depth = thresholds::panel_depth;
        constexpr ptrdiff_t rows = thresholds::panel_rows_bytes / static_cast<ptrdiff_t>(sizeof(T)) / depth;
        struct {
            ptrdiff_t m, n, k;
        } const cases[] = {{5, width - 1, 3},
                           {6, width, 7},
                           {7, width + 1, 8},
                           {13, 2 * width + width / 2, 9},
                           {48, 3 * width, 17},
                           {49, 3 * width + width / 2 + 1, 64},
                           {9, width + 1, depth - 1},
                           {12, 2 * width - 1, depth},
                           {11, width + 3, depth + 1},
                           {6, width / 2, 2 * depth},
                           {7, 2 * width, 2 * depth + 1},
                           {rows + 1, width + 1, depth},
                           {rows, width, depth + 1}};
        for (auto const [m, n, k] : cases) {
            for (layout of_a : all_layouts) {
                for (layout of_b : all_layouts) {
                    matrix<T> const a(m, k, of_a), b(k, n, of_b);
                    CAPTURE(a.rows());
                    CAPTURE(b.columns());
                    CAPTURE(a.columns());
                    a.randomize();
                    b.randomize();
                    matrix<T> const direct = stored(matmul_variant::direct, a, b);
                    CHECK(same_elements(direct, stored(matmul_variant::panels, a, b)));
                    CHECK(same_elements(direct, delivered(matmul_variant::panels, a, b)));
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("products of middle size go by panels where there are 16 registers", T, float, double) {
    for (layout of_a : all_layouts) {
        for (layout of_b : all_layouts) {
            matrix<T> const a(160, 500, of_a), b(500, 160, of_b);
            matmul_variant const variant = choose_matmul<T>(160, 160, 500, a.strides(), b.strides());
            CHECK((variant == matmul_variant::panels) == detail::has_panels<T>);
            check(variant, a.randomize(), b.randomize());
        }
    }
}

TEST_CASE_TEMPLATE("smaller ones do if rows of B are multiples of 2 KiB apart", T, float, double) {
    constexpr ptrdiff_t columns = 2048 / sizeof(T);
    for (layout of_a : {layout::rows, layout::padded_rows}) {
        matrix<T> const a(40, 101, of_a), b(101, columns, layout::rows), narrower(101, columns - 2, layout::rows);
        matmul_variant const variant = choose_matmul<T>(40, columns, 101, a.strides(), b.strides());
        CHECK((variant == matmul_variant::panels) == detail::has_panels<T>);
        CHECK(choose_matmul<T>(40, columns - 2, 101, a.strides(), narrower.strides()) != matmul_variant::panels);
        check(variant, a.randomize(), b.randomize());
    }
    // Rows that are nearly so far apart, if they do not come to be elsewhere.
    CHECK((choose_matmul<T>(64, columns + 1, 64, {64, 1}, {columns + 1, 1}) == matmul_variant::panels) ==
          detail::has_panels<T>);
    CHECK(choose_matmul<T>(64, columns + 1, 150, {150, 1}, {columns + 1, 1}) != matmul_variant::panels);
    // Many rows that are multiples of 512 bytes apart.
    CHECK((choose_matmul<T>(64, 512 / sizeof(T), 512, {512, 1}, {512 / sizeof(T), 1}) == matmul_variant::panels) ==
          detail::has_panels<T>);
    CHECK(choose_matmul<T>(64, 512 / sizeof(T), 500, {500, 1}, {512 / sizeof(T), 1}) != matmul_variant::panels);
}

TEST_CASE_TEMPLATE("joined rows have the bits of the others", T, float, double) {
    for (ptrdiff_t m : {128, 129, 143, 144, 145, 160, 255, 256, 300, 1000}) {
        for (ptrdiff_t n : {2, 3, 4}) {
            for (ptrdiff_t k : {1, 2, 3, 4}) {
                for (layout of_b : all_layouts) {
                    matrix<T> const a(m, k, layout::rows), b(k, n, of_b);
                    a.randomize();
                    b.randomize();
                    matmul_variant const variant = choose_matmul<T>(m, n, k, a.strides(), b.strides());
                    bool const is_joined = variant == matmul_variant::joined_rows;
                    CHECK((is_joined || !calque::simd::has_lookup_of_pairs<T> || (k == 4 && n == 2)));
                    check(variant, a, b);
                    matrix<T> const direct = stored(matmul_variant::direct, a, b);
                    CHECK(same_elements(direct, stored(variant, a, b)));
                    CHECK(same_elements(direct, delivered(variant, a, b)));
                }
            }
        }
    }
    matrix<T> const padded(200, 3, layout::padded_rows), b(3, 3, layout::rows);
    CHECK(choose_matmul<T>(200, 3, 3, padded.strides(), b.strides()) != matmul_variant::joined_rows);
}

template <class T, ptrdiff_t M, ptrdiff_t N, ptrdiff_t K>
void check_static() {
    for (layout of_a : all_layouts) {
        matrix<T> const a(M, K, of_a), b(K, N, layout::padded_rows), c(M, N, layout::padded_rows);
        a.randomize();
        b.randomize();
        multiply_known_tile<M, N, K>(a.ref(), b.ref(), c.data(), c.row_stride());
        CHECK(c.margins_are_intact());
        CHECK(c.padding_is_intact());
        CHECK(same_elements(c, stored(matmul_variant::direct, a, b)));
    }
    if constexpr (is_product_in_registers<T>(M, N, K)) {
        matrix<T> const a(M, K, layout::rows), b(K, N, layout::rows), c(M, N, layout::rows);
        a.randomize();
        b.randomize();
        multiply_in_registers<M, N, K>(a.data(), b.data(), c.data());
        CHECK(c.margins_are_intact());
        CHECK(same_elements(c, stored(matmul_variant::direct, a, b)));
    }
}

TEST_CASE_TEMPLATE("products of static extents have the bits of the others", T, float, double) {
    constexpr ptrdiff_t lanes = calque::simd::lanes<T>;
    check_static<T, 1, 1, 1>();
    check_static<T, 3, 3, 3>();
    check_static<T, 4, 4, 4>();
    check_static<T, 2, 2, 2>();
    check_static<T, 1, 2 * lanes, 1>();
    check_static<T, lanes, 1, 2>();
    check_static<T, 2, lanes - 1, 2>();
    check_static<T, 5, 2, 16>();
    check_static<T, matmul_tile_rows(1), lanes, 7>();
    check_static<T, matmul_tile_rows(2), 2 * lanes - 1, 9>();
    static_assert(!is_known_tile<T>(matmul_tile_rows(2) + 1, 2 * lanes, 4) && !is_known_tile<T>(3, 3, 17));
    static_assert(!is_known_tile<T>(3, calque::dyn, 3) && !is_known_tile<T>(3, 2 * lanes + 1, 3));
    static_assert(!is_known_tile<int>(3, 3, 3));
}

template <class T, ptrdiff_t N, ptrdiff_t K>
void check_lane_a_row() {
    constexpr ptrdiff_t lanes = calque::simd::lanes<T>;
    for (ptrdiff_t m : {lanes, lanes + 1, 2 * lanes - 1, 2 * lanes, 3 * lanes + 5, ptrdiff_t(200)}) {
        for (layout of_b : all_layouts) {
            matrix<T> const a(m, K, layout::rows), b(K, N, of_b), c(m, N, layout::rows);
            a.randomize();
            b.randomize();
            CHECK(suits_lane_a_row<T>(m, K, a.strides()));
            multiply_a_lane_a_row<N, K>(m, a.data(), b.ref(), c.data());
            CHECK(c.margins_are_intact());
            CHECK(same_elements(c, stored(matmul_variant::direct, a, b)));
        }
    }
    matrix<T> const padded(lanes, K, layout::padded_rows), columns(lanes, K, layout::columns);
    CHECK(!suits_lane_a_row<T>(lanes, K, padded.strides()));
    CHECK(!suits_lane_a_row<T>(lanes, K, columns.strides()));
    CHECK(!suits_lane_a_row<T>(lanes - 1, K, {K, 1}));
}

TEST_CASE_TEMPLATE("a lane a row has the bits of the others", T, float, double) {
    check_lane_a_row<T, 2, 2>();
    check_lane_a_row<T, 2, 3>();
    check_lane_a_row<T, 2, 4>();
    check_lane_a_row<T, 3, 2>();
    check_lane_a_row<T, 3, 3>();
    check_lane_a_row<T, 3, 4>();
    check_lane_a_row<T, 4, 2>();
    check_lane_a_row<T, 4, 3>();
    check_lane_a_row<T, 4, 4>();
    static_assert(!has_lane_a_row<T>(5, 3) && !has_lane_a_row<T>(3, 1) && !has_lane_a_row<T>(calque::dyn, 3));
    static_assert(!has_lane_a_row<int>(3, 3));
}

TEST_CASE_TEMPLATE("long vectors and wide matrices", T, float, double) {
    for (layout of_matrix : all_layouts) {
        check_chosen<T>(1, 2500, 150, layout::strided, of_matrix);
        check_chosen<T>(2500, 1, 150, of_matrix, layout::strided);
        check_chosen<T>(1, 3, 5000, layout::rows, of_matrix);
        check_chosen<T>(3, 1, 5000, of_matrix, layout::rows);
        check_chosen<T>(1, 1, 5000, of_matrix, of_matrix);
    }
    for (ptrdiff_t n = 1; n <= 140; ++n) { // strips of every width
        CAPTURE(n);
        check_chosen<T>(1, n, 37, layout::rows, n % 2 == 0 ? layout::rows : layout::padded_rows);
        check_chosen<T>(n, 1, 37, layout::columns, layout::rows);
    }
    for (ptrdiff_t n : {1023, 1024, 1025}) { // rows crowd a set of L1
        for (ptrdiff_t k : {9, 10, 37}) {
            check_chosen<T>(1, n, k, layout::rows, layout::rows);
        }
    }
    check_chosen<T>(1, 13, 7000, layout::rows, layout::rows); // not in L2
    check_chosen<T>(1, 64, 2500, layout::rows, layout::rows);
    check_chosen<T>(1, 133, 2500, layout::rows, layout::rows);
}

TEST_CASE_TEMPLATE("the same inputs give the same bits wherever they lie", T, float, double) {
    struct {
        ptrdiff_t m, n, k;
    } const cases[] = {{30, 40, 50}, {1, 70, 90}, {70, 1, 90}, {64, 10, 128}, {200, 250, 260}};
    for (auto const [m, n, k] : cases) {
        random_state = 5;
        matrix<T> const a(m, k, layout::rows), b(k, n, layout::rows);
        matmul_variant const variant = choose_matmul<T>(m, n, k, a.strides(), b.strides());
        matrix<T> const c = stored(variant, a.randomize(), b.randomize());
        for (ptrdiff_t offset : {1, 3, 7}) {
            random_state = 5;
            matrix<T> const moved_a(m, k, layout::rows, offset), moved_b(k, n, layout::rows, 2 * offset);
            CHECK(same_elements(c, stored(variant, moved_a.randomize(), moved_b.randomize())));
        }
    }
}

TEST_CASE_TEMPLATE("infinities and NaNs spread, also from zero factors", T, float, double) {
    T const infinity = std::numeric_limits<T>::infinity();
    struct {
        ptrdiff_t m, n, k;
    } const cases[] = {{20, 40, 30}, {1, 40, 30}, {20, 1, 30}, {64, 10, 30}, {100, 210, 600}};
    for (auto const [m, n, k] : cases) {
        for (layout of_b : {layout::rows, layout::columns}) {
            matrix<T> const a(m, k, layout::rows), b(k, n, of_b);
            a.randomize();
            b.randomize();
            for (ptrdiff_t i = 0; i < m; ++i) {
                a(i, k - 1) = T(0);
            }
            b(k - 1, n - 1) = infinity;                    // column n - 1: 0 * infinity
            a(0, 0) = std::numeric_limits<T>::quiet_NaN(); // row 0
            matrix<T> const c = stored(choose_matmul<T>(m, n, k, a.strides(), b.strides()), a, b);
            for (ptrdiff_t i = 0; i < m; ++i) {
                for (ptrdiff_t j = 0; j < n; ++j) {
                    CHECK(std::isnan(c(i, j)) == (i == 0 || j == n - 1));
                }
            }
        }
    }
}

TEST_CASE("an empty inner extent gives zeros, an empty result nothing") {
    matrix<float> const a(70, 0, layout::rows), b(0, 150, layout::rows);
    CHECK(choose_matmul<float>(70, 150, 0, a.strides(), b.strides()) == matmul_variant::zeros);
    matrix<float> const c = stored(matmul_variant::zeros, a, b);
    for (ptrdiff_t i = 0; i < 70; ++i) {
        for (ptrdiff_t j = 0; j < 150; ++j) {
            CHECK(same_bits(c(i, j), 0.f));
        }
    }
    delivered(matmul_variant::zeros, a, b);
    delivered(matmul_variant::nothing, matrix<float>(0, 3, layout::rows), matrix<float>(3, 4, layout::rows));
}

TEST_CASE_TEMPLATE("products of integers wrap around", T, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                   std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    for (layout of_a : all_layouts) {
        for (layout of_b : all_layouts) {
            matrix<T> const a(5, 33, of_a), b(33, 270, of_b);
            a.randomize();
            b.randomize();
            a(1, 2) = std::numeric_limits<T>::max();
            b(2, 3) = std::numeric_limits<T>::max();
            matmul_variant const variant = choose_matmul<T>(5, 270, 33, a.strides(), b.strides());
            CHECK(variant == matmul_variant::loops);
            matrix<T> const c = stored(variant, a, b);
            CHECK(same_elements(c, delivered(variant, a, b)));
            for (ptrdiff_t i = 0; i < 5; ++i) {
                for (ptrdiff_t j = 0; j < 270; ++j) {
                    std::uint64_t sum = 0;
                    for (ptrdiff_t k = 0; k < 33; ++k) {
                        sum += static_cast<std::uint64_t>(a(i, k)) * static_cast<std::uint64_t>(b(k, j));
                    }
                    CHECK(c(i, j) == static_cast<T>(sum));
                }
            }
        }
    }
}

TEST_CASE("the choice follows from sizes and strides") {
    using enum matmul_variant;
    constexpr auto choose = [](ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, bool a_is_transposed, bool b_is_transposed) {
        return choose_matmul<float>(m, n, k, a_is_transposed ? matrix_strides{1, m} : matrix_strides{k, 1},
                                    b_is_transposed ? matrix_strides{1, k} : matrix_strides{n, 1});
    };
    static_assert(choose(0, 4, 4, false, false) == nothing);
    static_assert(choose(4, 4, 0, false, false) == zeros);
    static_assert(choose(100, 1, 100, false, false) == dots);
    static_assert(choose(100, 1, 100, true, false) == combined_rows);
    static_assert(choose(1, 100, 100, false, false) == combined_rows);
    static_assert(choose(1, 100, 100, false, true) == dots);
    static_assert(choose(60, 128, 784, false, false) == direct);
    static_assert(choose(64, 128, 784, false, false) == (detail::has_panels<float> ? panels : direct));
    static_assert(choose(300, 300, 300, false, false) == (detail::has_panels<float> ? panels : direct));
    static_assert(choose(128, 10, 64, true, false) == transposed); // a narrow weight gradient: lanes along M
    static_assert(choose(2000, 2000, 2000, false, false) == packed);
    // With 32 registers few rows of A do not make up for packing, unless rows of B compete for the same sets of L2.
    static_assert(choose(512, 1000, 1000, false, false) == packed);
    static_assert(detail::has_panels<float> || choose(128, 1024, 1024, false, false) == packed);
    static_assert(detail::has_panels<float> || choose(128, 1000, 1000, false, false) != packed);
    static_assert(choose(12, 1024, 1024, false, false) != packed);
    static_assert(matmul_workspace<float>(60, 128, 784, {784, 1}, {128, 1}) == 0);
    CHECK(name_of(combined_rows) == "combined rows");
    CHECK(name_of(loops) == "loops");
    CHECK(name_of(panels) == "panels");
}
