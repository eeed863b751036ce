// SPDX-License-Identifier: MIT
// Copies of elements, against a loop: runs of every length, rows that go backwards, apart, or by every second element,
// of elements of every size; and nothing else is written.
#include <calque/kernels/cpu/movement.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace {

using calque::extent_t;
using calque::shape;
using calque::strides;

/// A matrix in the middle of memory: the place of its first element, and the steps of its axes.
struct placed {
    std::ptrdiff_t first;
    std::ptrdiff_t row, element;
};

/// Whether `copy_strided` of `rows` x `columns` elements does what two loops do.
template <class T>
bool copies(extent_t rows, extent_t columns, placed to, placed from, std::size_t size) {
    std::vector<T> source(size), copied(size, T(7)), expected(size, T(7));
    for (std::size_t i = 0; i < size; ++i) {
        source[i] = static_cast<T>(i * 37 + i / 251 + 1);
    }
    for (extent_t i = 0; i < rows; ++i) {
        for (extent_t j = 0; j < columns; ++j) {
            expected[static_cast<std::size_t>(to.first + i * to.row + j * to.element)] =
                source[static_cast<std::size_t>(from.first + i * from.row + j * from.element)];
        }
    }
    shape extents;
    extents.push_back(rows);
    extents.push_back(columns);
    strides to_steps, from_steps;
    to_steps[0] = to.row, to_steps[1] = to.element;
    from_steps[0] = from.row, from_steps[1] = from.element;
    calque::kernels::copy_strided(extents, {reinterpret_cast<std::byte*>(copied.data() + to.first), to_steps},
                                  {reinterpret_cast<std::byte const*>(source.data() + from.first), from_steps},
                                  sizeof(T));
    return copied == expected;
}

} // namespace

TEST_CASE_TEMPLATE("rows of every length, between others", T, std::uint8_t, std::uint16_t, std::uint32_t,
                   std::uint64_t) {
    for (extent_t const columns : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200,
                                   255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 1100}) {
        for (extent_t const rows : {1, 2, 5}) {
            CAPTURE(columns);
            CAPTURE(rows);
            auto const size = static_cast<std::size_t>(2 * rows * (columns + 5) + 20);
            CHECK(copies<T>(rows, columns, {3, columns + 2, 1}, {5, columns + 3, 1}, size));
            CHECK(copies<T>(rows, columns, {3, columns + 2, 1}, {5 + columns, columns + 3, -1}, size)); // backwards
            CHECK(copies<T>(rows, columns, {3, columns + 2, 1}, {5, 2 * columns + 1, 2}, size));        // every second
            CHECK(copies<T>(rows, columns, {3, columns + 2, 1}, {5, 1, 0}, size));                      // repeated
            CHECK(copies<T>(rows, columns, {3, 2 * columns + 2, 2}, {5, columns, 1}, size));            // apart
            CHECK(copies<T>(rows, columns, {3, columns, 1}, {5, columns, 1}, size));                    // one run
        }
    }
}

TEST_CASE_TEMPLATE("elements that stand apart, up to the last one of an array", T, std::uint8_t, std::uint16_t,
                   std::uint32_t, std::uint64_t) {
    for (extent_t const n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 18, 31, 32, 33, 34, 64, 65, 100}) {
        for (std::ptrdiff_t const step : {-2, -1, 2, 3, 4, 5, 6, 7, 8, 10}) {
            CAPTURE(n);
            CAPTURE(step);
            auto const size = static_cast<std::size_t>((n - 1) * (step < 0 ? -step : step) + 1);
            std::ptrdiff_t const first = step < 0 ? static_cast<std::ptrdiff_t>(size) - 1 : 0;
            CHECK(copies<T>(1, n, {0, 0, 1}, {first, 0, step}, size));
            CHECK(copies<T>(1, n, {first, 0, step}, {0, 0, 1}, size));
        }
    }
}

TEST_CASE_TEMPLATE("columns of a few become rows, and rows columns", T, std::uint8_t, std::uint16_t, std::uint32_t,
                   std::uint64_t) {
    for (extent_t const rows : {1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 33, 64, 65, 100}) {
        for (extent_t const columns : {2, 3, 4, 5}) {
            CAPTURE(rows);
            CAPTURE(columns);
            auto const size = static_cast<std::size_t>(rows * columns);
            CHECK(copies<T>(rows, columns, {0, 1, rows}, {0, columns, 1}, size));
            CHECK(copies<T>(rows, columns, {0, columns, 1}, {0, 1, rows}, size));
            CHECK(copies<T>(rows, columns, {0, 1, rows + 1}, {1, columns, 1}, size + 5)); // with gaps between them
            for (extent_t const fewer : {columns - 1, columns - 2}) {
                CHECK(copies<T>(rows, fewer, {0, 1, rows}, {columns - fewer, columns, 1}, size));
            }
        }
    }
}

TEST_CASE_TEMPLATE("arrays in turn, to everywhere in a line", T, std::uint8_t, std::uint16_t, std::uint32_t,
                   std::uint64_t) {
    for (extent_t const n : {2, 3, 4}) {
        for (extent_t const each : {15, 16, 17, 64, 255, 256, 257, 300, 1000}) {
            for (std::ptrdiff_t first = 0; first < 17; ++first) {
                CAPTURE(n);
                CAPTURE(each);
                CAPTURE(first);
                auto const size = static_cast<std::size_t>(n * (each + 1) + 20);
                CHECK(copies<T>(each, n, {first, n, 1}, {16 - first, 1, each + 1}, size));
                CHECK(copies<T>(each, n, {16 - first, 1, each + 1}, {first, n, 1}, size));
            }
        }
    }
}

TEST_CASE_TEMPLATE("short runs behind each other, up to the last byte of an array", T, std::uint8_t, std::uint32_t,
                   std::uint64_t) {
    for (extent_t const columns : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 33, 63, 64, 65}) {
        for (extent_t const rows : {2, 3, 7, 20}) {
            for (extent_t const gap : {1, 2, 3, 30}) {
                CAPTURE(columns);
                CAPTURE(rows);
                CAPTURE(gap);
                auto const size = static_cast<std::size_t>((rows - 1) * (columns + gap) + columns);
                CHECK(copies<T>(rows, columns, {0, columns, 1}, {0, columns + gap, 1}, size));
                CHECK(copies<T>(rows, columns, {0, columns, 1}, {0, columns - 1, 1}, size)); // closer than they are long
            }
            CHECK(copies<T>(rows, columns, {0, columns, 1}, {2, 2 * columns, 1},
                            static_cast<std::size_t>(2 * rows * columns + 2)));
        }
    }
}

TEST_CASE("many short rows, a few at once") {
    for (extent_t const columns : {1, 2, 3, 4, 5, 8, 9}) {
        for (extent_t const rows : {100, 512, 513, 1100}) {
            CAPTURE(columns);
            CAPTURE(rows);
            auto const size = static_cast<std::size_t>(2 * rows * (columns + 3) + 20);
            CHECK(copies<std::uint32_t>(rows, columns, {1, columns, 1}, {9, columns, -1}, size));
            CHECK(copies<std::uint64_t>(rows, columns, {1, columns + 2, 1}, {0, columns + 1, 1}, size));
            CHECK(copies<std::uint16_t>(rows, columns, {1, 2 * columns, 2}, {0, columns, 1}, size));
        }
    }
}

TEST_CASE("runs of bytes from and to everywhere in a line, as registers and as memcpy") {
    for (std::size_t const bytes : {1u, 63u, 64u, 65u, 1000u, 1023u, 1024u, 1025u, 5000u, 32767u, 32768u, 32769u}) {
        for (std::size_t const offset : {0u, 1u, 16u, 63u}) {
            CAPTURE(bytes);
            CAPTURE(offset);
            std::vector<std::byte> source(bytes + 200), copied(bytes + 200), expected(bytes + 200);
            for (std::size_t i = 0; i < source.size(); ++i) {
                source[i] = static_cast<std::byte>(i * 7 + i / 256);
            }
            for (std::size_t i = 0; i < bytes; ++i) {
                expected[offset + i] = source[i + 5];
            }
            calque::kernels::copy_bytes(copied.data() + offset, source.data() + 5, bytes);
            CHECK(copied == expected);
        }
    }
    calque::kernels::copy_bytes(nullptr, nullptr, 0);
    // Places a few bytes behind a multiple of 4 KiB from the source, in one array: how far apart two of them are,
    // nobody knows.
    constexpr std::size_t bytes = 40'003, apart = 45'056;
    for (std::size_t past : {0u, 1u, 16u, 63u, 64u}) {
        CAPTURE(past);
        std::vector<std::byte> both(apart + past + bytes + 1);
        for (std::size_t i = 0; i < bytes; ++i) {
            both[i] = static_cast<std::byte>(i * 37 + i / 251);
        }
        std::vector<std::byte> expected = both;
        for (std::size_t i = 0; i < bytes; ++i) {
            expected[apart + past + i] = both[i];
        }
        calque::kernels::copy_bytes(both.data() + apart + past, both.data(), bytes);
        CHECK(both == expected);
    }
}
