// SPDX-License-Identifier: MIT
// Arrays in NumPy's file format, .npy. (The format: numpy.lib.format, versions 1.0 to 3.0.)
#pragma once

#include <calque/interop/any_array.hpp>

#include <bit>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace calque {
inline namespace v0 {
namespace detail {

[[noreturn]] CALQUE_COLD inline void throw_not_read(std::string const& path, std::string_view why) {
    throw error("calque: " + path + ": " + std::string(why));
}

/// What follows `'key':` in the header of a file.
inline std::string_view npy_value(std::string_view header, std::string_view key, std::string const& path) {
    auto const at = header.find("'" + std::string(key) + "'");
    auto const colon = at == std::string_view::npos ? at : header.find(':', at);
    if (colon == std::string_view::npos) {
        throw_not_read(path, "the header of the .npy file has no " + std::string(key));
    }
    std::string_view value = header.substr(colon + 1);
    return value.substr(std::min(value.find_first_not_of(' '), value.size()));
}

inline dtype npy_dtype(std::string_view code, std::string const& path) {
    struct name {
        std::string_view code;
        dtype type;
    };
    constexpr name names[] = {{"b1", dtype::bool_},   {"i1", dtype::int8},   {"i2", dtype::int16},
                              {"i4", dtype::int32},   {"i8", dtype::int64},  {"u1", dtype::uint8},
                              {"u2", dtype::uint16},  {"u4", dtype::uint32}, {"u8", dtype::uint64},
                              {"f4", dtype::float32}, {"f8", dtype::float64}};
    if (code.size() >= 4 && (code[1] == '<' || code[1] == '|')) {
        for (name const& n : names) {
            if (code.substr(2, 2) == n.code) {
                return n.type;
            }
        }
    }
    throw dtype_error("calque: " + path + ": the dtype " + std::string(code.substr(0, code.find(','))) +
                      " is none of calque's, or not little-endian");
}

inline shape npy_shape(std::string_view value, std::string const& path) {
    shape extents;
    extent_t extent = -1;
    for (char const c : value.substr(0, value.find(')'))) {
        if (c >= '0' && c <= '9') {
            extent = (extent < 0 ? 0 : extent * 10) + (c - '0');
            continue;
        }
        if (extent >= 0) {
            if (extents.rank == max_rank) {
                throw_not_read(path, "the array has more than 8 axes");
            }
            extents.push_back(extent);
        }
        extent = -1;
    }
    if (extent >= 0) {
        extents.push_back(extent);
    }
    return extents;
}

} // namespace detail

/// Reads an array from a .npy file. Throws `calque::error` if that cannot be done, `dtype_error` for other dtypes.
inline any_array load_npy(std::string const& path) {
    static_assert(std::endian::native == std::endian::little);
    std::ifstream file(path, std::ios::binary);
    unsigned char start[12]{};
    if (!file.read(reinterpret_cast<char*>(start), 10) || std::memcmp(start, "\x93NUMPY", 6) != 0) {
        detail::throw_not_read(path, "is not there, or is no .npy file");
    }
    std::size_t length = start[8] + 256u * start[9];
    if (start[6] >= 2) {
        file.read(reinterpret_cast<char*>(start + 10), 2);
        length += 65536u * start[10] + 16777216u * start[11];
    }
    std::string header(length, ' ');
    if (!file.read(header.data(), static_cast<std::streamsize>(length))) {
        detail::throw_not_read(path, "the .npy file is cut off in its header");
    }
    if (detail::npy_value(header, "fortran_order", path).starts_with("True")) {
        detail::throw_not_read(path, "the array is in Fortran order: save numpy.ascontiguousarray(x)");
    }
    dtype const type = detail::npy_dtype(detail::npy_value(header, "descr", path), path);
    shape const extents = detail::npy_shape(detail::npy_value(header, "shape", path), path);
    auto elements = std::make_shared<std::vector<std::uint64_t>>(
        (static_cast<std::size_t>(extents.size()) * size_of(type) + 7) / 8 + 1);
    auto const bytes = static_cast<std::streamsize>(static_cast<std::size_t>(extents.size()) * size_of(type));
    if (bytes != 0 && !file.read(reinterpret_cast<char*>(elements->data()), bytes)) {
        detail::throw_not_read(path, "the .npy file is shorter than its header says");
    }
    return any_array::keep(type, extents, elements->data(), elements);
}

} // namespace v0
} // namespace calque
