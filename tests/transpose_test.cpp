// SPDX-License-Identifier: MIT
// Transposition: whole tiles, those that are cut off, rows of a few columns, and lanes that have no row. Nothing around
// the elements is written.
#include <calque/kernels/cpu/row_tiles.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using namespace calque::kernels;
using std::ptrdiff_t;

// Rows apart from each other, with a margin on both sides. What is no element is 99.
template <class T>
class matrix {
public:
    matrix(ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t gap = 0)
        : rows_(rows), columns_(columns), stride_(columns + gap),
          elements_(static_cast<std::size_t>(rows * stride_ + 2 * margin), T(99)) {}

    T* data() { return elements_.data() + margin; }
    T const* data() const { return elements_.data() + margin; }
    ptrdiff_t stride() const { return stride_; }
    T& operator()(ptrdiff_t i, ptrdiff_t j) { return data()[i * stride_ + j]; }
    T operator()(ptrdiff_t i, ptrdiff_t j) const { return data()[i * stride_ + j]; }

    /// Values that are different from their neighbours', and none of which is 0 or 99.
    void count() {
        for (ptrdiff_t i = 0; i < rows_; ++i) {
            for (ptrdiff_t j = 0; j < columns_; ++j) {
                (*this)(i, j) = static_cast<T>(1 + (i * 37 + j) % 97);
            }
        }
    }

    /// Whether all but the elements is as it was.
    bool is_untouched_around() const {
        matrix around = *this;
        for (ptrdiff_t i = 0; i < rows_; ++i) {
            std::fill_n(&around(i, 0), columns_, T(99));
        }
        return std::all_of(around.elements_.begin(), around.elements_.end(), [](T x) { return x == T(99); });
    }

private:
    static constexpr ptrdiff_t margin = 64;

    ptrdiff_t rows_, columns_, stride_;
    std::vector<T> elements_;
};

// Whether row i of `a` is column i of `b`, or column `first` + i.
template <class T>
bool is_transposed(matrix<T> const& a, matrix<T> const& b, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t first = 0) {
    for (ptrdiff_t i = 0; i < rows; ++i) {
        for (ptrdiff_t j = 0; j < columns; ++j) {
            if (a(i, j) != b(j, first + i)) {
                return false;
            }
        }
    }
    return true;
}

template <cut_tiles Cut, class T>
void check_copies() {
    for (ptrdiff_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 70}) {
        for (ptrdiff_t columns : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 18, 20, 21, 24, 25, 31, 32, 64, 65}) {
            CAPTURE(rows);
            CAPTURE(columns);
            matrix<T> in(rows, columns, 3), out(columns, rows, 5);
            in.count();
            copy_transposed<Cut>(in.data(), rows, columns, in.stride(), out.data(), out.stride());
            CHECK(is_transposed(in, out, rows, columns));
            CHECK(out.is_untouched_around());
        }
    }
}

template <class T>
std::byte* bytes(T* p) {
    return reinterpret_cast<std::byte*>(p);
}

template <int Lanes, class T>
void check_lanes(ptrdiff_t gap) {
    for (ptrdiff_t rows = 1; rows <= Lanes; ++rows) {
        for (ptrdiff_t columns = 1; columns <= 41; ++columns) {
            CAPTURE(rows);
            CAPTURE(columns);
            matrix<T> in(rows, columns, gap), tile(columns, Lanes), out(rows, columns, gap);
            in.count();
            std::vector<T> exact(in.data(), &in(rows - 1, columns - 1) + 1); // with nothing behind it
            auto const fill = filling_of_row_tiles<Lanes, T>(columns, in.stride());
            fill(bytes(exact.data()), rows, columns, in.stride(), bytes(tile.data()));
            CHECK(is_transposed(in, tile, rows, columns));
            CHECK(tile.is_untouched_around());
            matrix<T> none(Lanes - rows, columns);
            std::fill_n(none.data(), (Lanes - rows) * columns, T());
            CHECK(is_transposed(none, tile, Lanes - rows, columns, rows));
            auto const write = writing_of_row_tiles<Lanes, T>(columns, out.stride());
            write(bytes(tile.data()), rows, columns, out.stride(), bytes(out.data()));
            CHECK(is_transposed(out, tile, rows, columns));
            CHECK(out.is_untouched_around());
        }
    }
}

template <int Lanes, class T>
void check_one_row_for_all() {
    for (ptrdiff_t columns = 1; columns <= 41; ++columns) {
        CAPTURE(columns);
        matrix<T> in(1, columns), all(Lanes, columns), tile(columns, Lanes);
        in.count();
        for (ptrdiff_t i = 0; i < Lanes; ++i) {
            std::copy_n(in.data(), columns, &all(i, 0));
        }
        filling_of_row_tiles<Lanes, T>(columns, 0)(bytes(in.data()), Lanes, columns, 0, bytes(tile.data()));
        CHECK(is_transposed(all, tile, Lanes, columns));
        CHECK(tile.is_untouched_around());
    }
}

TEST_CASE_TEMPLATE("copy_transposed", T, std::int8_t, std::int16_t, std::int32_t, float, std::int64_t, double) {
    check_copies<cut_tiles::alike, T>();
    check_copies<cut_tiles::along_one_side, T>();
}

TEST_CASE_TEMPLATE("copy_transposed of rows that crowd a set of L1", T, std::int16_t, float, double) {
    constexpr auto one_set = static_cast<ptrdiff_t>(4096 / sizeof(T));
    for (ptrdiff_t rows : {9, 10, 20, 131}) {
        for (ptrdiff_t columns : {7, 32, 33, 64, 129, 300}) {
            for (ptrdiff_t stride : {one_set - 1, one_set, one_set + 1, 3 * one_set / 2}) {
                CAPTURE(rows);
                CAPTURE(columns);
                CAPTURE(stride);
                matrix<T> in(rows, columns, stride - columns), out(columns, rows, 5),
                    crowded(columns, rows, one_set - rows);
                in.count();
                copy_transposed(in.data(), rows, columns, in.stride(), out.data(), out.stride());
                CHECK(is_transposed(in, out, rows, columns));
                CHECK(out.is_untouched_around());
                copy_transposed(in.data(), rows, columns, in.stride(), crowded.data(), crowded.stride());
                CHECK(is_transposed(in, crowded, rows, columns));
            }
        }
    }
}

TEST_CASE_TEMPLATE("rows become lanes and lanes rows", T, std::int8_t, std::int32_t, float, std::int64_t, double) {
    for (ptrdiff_t gap : {0, 1, 2}) {
        CAPTURE(gap);
        check_lanes<calque::simd::width, T>(gap);
        check_lanes<2 * calque::simd::width, T>(gap);
    }
    check_one_row_for_all<2 * calque::simd::width, T>();
}

} // namespace
