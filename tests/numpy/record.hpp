// SPDX-License-Identifier: MIT
// Calls groups of operations with arrays of many shapes, layouts and values, and writes down what they were called with
// and what came out, for compare.py to compare with NumPy.
#pragma once

#include <calque/calque.hpp>
#include <calque/interop/npy.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace numpy {

using calque::dyn;
using calque::extent_t;

/// Which arrays a group is called with.
struct arguments {
    bool are_special = false; ///< NaN, infinities, zeros of both signs, the greatest and least numbers are among others
    extent_t least_rows = 0;  ///< shapes with fewer mean nothing to these operations: the maximum of no elements
    extent_t least_columns = 0;
};

inline constexpr std::array<std::array<extent_t, 2>, 9> shapes{
    {{0, 3}, {3, 0}, {1, 1}, {1, 7}, {7, 1}, {31, 32}, {33, 31}, {3, 33}, {32, 5}}};

enum class layout { contiguous, every_second, reversed, by_columns };

/// Those of the two arguments of a call.
inline constexpr std::array<std::array<layout, 2>, 5> layouts{{{layout::contiguous, layout::contiguous},
                                                               {layout::every_second, layout::every_second},
                                                               {layout::reversed, layout::reversed},
                                                               {layout::by_columns, layout::contiguous},
                                                               {layout::by_columns, layout::by_columns}}};

/// The body of an operation of two matrices, under the name that compare.py knows it by.
template <calque::fixed_string Name, class Body>
struct named {
    static constexpr auto name = Name;
    static constexpr Body body{};
};
template <calque::fixed_string Name, class Body>
constexpr named<Name, Body> operation(Body) {
    return {};
}

/// Operations that one function computes.
template <class... Operations>
struct group {
    constexpr explicit group(Operations...) {}

    static constexpr std::array<std::string_view, sizeof...(Operations)> names{Operations::name.view()...};

    constexpr auto operator()(auto x, auto y) const { return std::tuple{Operations::body(x, y)...}; }
};

/// The dtype of a traced array.
template <class X>
using element_of = typename X::value_type;

template <class T>
std::vector<T> special_values() {
    using limits = std::numeric_limits<T>;
    if constexpr (std::is_integral_v<T>) {
        return {limits::max(), limits::min(), T(0), T(1), T(-1), T(2), static_cast<T>(limits::min() + 1), T(31), T(33)};
    } else {
        std::vector<T> values{limits::quiet_NaN(), limits::infinity(), limits::denorm_min(),
                              limits::max(),       limits::min(),      limits::epsilon()};
        for (double const x : {0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 20.0, 100.0, 1e4}) {
            values.push_back(static_cast<T>(x));
        }
        std::size_t const positive = values.size();
        for (std::size_t i = 1; i < positive; ++i) {
            values.push_back(static_cast<T>(-values[i]));
        }
        return values;
    }
}

/// Numbers around 0, some of them equal; of special ones, one in twenty.
template <class T>
std::vector<T> random_values(extent_t count, bool are_special, std::mt19937& random) {
    std::vector<T> const special = special_values<T>();
    std::vector<T> values(static_cast<std::size_t>(count));
    for (T& value : values) {
        // Not by the standard's distributions, whose numbers differ between libraries. Multiples of 1/8, or any
        // numbers.
        double const uniform = static_cast<double>(random()) / 4294967296.0 * 12 - 6;
        bool const is_round = random() % 4 == 0;
        std::size_t const which = random() % (20 * special.size());
        if constexpr (std::is_integral_v<T>) {
            value = static_cast<T>(static_cast<std::int64_t>(uniform * 10));
        } else {
            value = static_cast<T>(is_round ? std::nearbyint(uniform * 8) / 8 : uniform);
        }
        if (are_special && which < special.size()) {
            value = special[which];
        }
    }
    return values;
}

/// A matrix that lies in some way in a larger block of memory.
template <class T>
class matrix {
public:
    matrix(std::vector<T> const& elements, extent_t rows, extent_t columns, layout how)
        : block_(static_cast<std::size_t>(4 * rows * columns + 1), T(77)), rows_(rows), columns_(columns) {
        switch (how) {
        case layout::contiguous: steps_ = {columns, 1}; break;
        case layout::every_second: steps_ = {4 * columns, 2}; break;
        case layout::by_columns: steps_ = {1, rows}; break;
        case layout::reversed:
            steps_ = {-columns, -1};
            first_ = rows * columns == 0 ? 0 : rows * columns - 1;
            break;
        }
        for (extent_t i = 0; i < rows * columns; ++i) {
            auto const place = first_ + i / columns * steps_[0] + i % columns * steps_[1];
            block_[static_cast<std::size_t>(place)] = elements[static_cast<std::size_t>(i)];
        }
    }

    calque::array_view<T const, 2, false> view() const { return {block_.data() + first_, {rows_, columns_}, steps_}; }

private:
    std::vector<T> block_;
    extent_t rows_;
    extent_t columns_;
    std::array<std::int64_t, 2> steps_{};
    std::int64_t first_ = 0;
};

/// Writes arrays, and a list of them: in each line an operation, its dtype, the files of its arguments and its result.
class recorder {
public:
    recorder(std::string const& folder, std::string const& program) : folder_(folder + "/" + program) {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
        list_.open(folder_ + "/list.txt");
    }

    /// Calls the operations of a group with arrays of `T`, and writes all down.
    template <class T, class Group>
    void call(Group const& operations, arguments with = {}) {
        using argument = calque::spec<T, dyn, dyn>;
        auto const f = calque::function(operations, calque::signature<argument, argument>{}, {.max_warnings = 0});
        auto const call_with = [&](std::vector<T> const& x, std::vector<T> const& y, std::array<extent_t, 2> extents) {
            auto const [rows, columns] = extents;
            std::string const x_file = write(calque::array_view(x.data(), {rows, columns}));
            std::string const y_file = write(calque::array_view(y.data(), {rows, columns}));
            for (auto const& [of_x, of_y] : layouts) {
                auto const results =
                    f(matrix<T>(x, rows, columns, of_x).view(), matrix<T>(y, rows, columns, of_y).view());
                std::apply(
                    [&](auto const&... result) {
                        auto name = Group::names.begin();
                        ((list_ << *name++ << ' ' << calque::name_of(calque::dtype_of<T>) << ' ' << x_file << ' '
                                << y_file << ' ' << write(result) << '\n'),
                         ...);
                    },
                    results);
            }
        };
        std::mt19937 random(1);
        for (auto const& [rows, columns] : shapes) {
            if (rows >= with.least_rows && columns >= with.least_columns) {
                auto const x = random_values<T>(rows * columns, with.are_special, random);
                auto const y = random_values<T>(rows * columns, with.are_special, random);
                call_with(x, y, {rows, columns});
            }
        }
        if (with.are_special) { // each with each
            std::vector<T> const values = special_values<T>();
            std::vector<T> x, y;
            for (T const a : values) {
                for (T const b : values) {
                    x.push_back(a);
                    y.push_back(b);
                }
            }
            auto const count = static_cast<extent_t>(values.size());
            call_with(x, y, {count, count});
        }
    }

    /// To be called last: a list without this line is not whole.
    void end() { list_ << "end\n"; }

private:
    template <class A>
    std::string write(A const& array) {
        std::string const name = std::to_string(files_++) + ".npy";
        calque::save_npy(folder_ + "/" + name, array);
        return name;
    }

    std::string folder_;
    std::ofstream list_;
    int files_ = 0;
};

/// `main` of a program that records into the folder its command line names.
inline int record(std::string const& program, int argument_count, char** arguments, void (*calls)(recorder&)) {
    if (argument_count != 2) {
        std::cerr << "usage: " << arguments[0] << " FOLDER\n";
        return 2;
    }
    recorder to(arguments[1], program);
    calls(to);
    to.end();
    return 0;
}

} // namespace numpy
