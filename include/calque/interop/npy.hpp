// SPDX-License-Identifier: MIT
// Arrays in NumPy's file format, .npy, read and written. (The format: numpy.lib.format, versions 1.0 to 3.0.)
#pragma once

#include <calque/interop/any_array.hpp>

#include <algorithm>
#include <bit>
#include <fstream>
#include <string>
#include <string_view>

namespace calque {
inline namespace v0 {
namespace detail {

static_assert(std::endian::native == std::endian::little, "calque: .npy files are read and written by machines that "
                                                          "are little-endian");

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

/// How the format names dtypes, less the order of bytes.
inline constexpr std::string_view npy_codes[] = {"b1", "i1", "i2", "i4", "i8", "u1", "u2",
                                                 "u4", "u8", "f4", "f8", "f2", "V2"};

/// The dtype of `'<f4'`, and whether the bytes of its elements are in the other order than ours.
inline dtype npy_dtype(std::string_view code, std::string const& path, bool& is_reversed) {
    if (code.size() >= 5 && (code[1] == '<' || code[1] == '>' || code[1] == '|' || code[1] == '=') &&
        code[4] == code[0]) {
        is_reversed = code[1] == '>';
        auto const* const found = std::find(std::begin(npy_codes), std::end(npy_codes), code.substr(2, 2));
        if (found != std::end(npy_codes)) {
            return static_cast<dtype>(found - std::begin(npy_codes));
        }
    }
    throw dtype_error("calque: " + path + ": the dtype " + std::string(code.substr(0, code.find(','))) +
                      " is none of calque's");
}

/// The extents of `(2, 3)`, which have at most `most` elements: so many the file may have.
inline shape npy_shape(std::string_view value, extent_t most, std::string const& path) {
    shape extents;
    bool is_empty = false;
    for (std::size_t i = 0; i < value.size() && value[i] != ')'; ++i) {
        if (value[i] < '0' || value[i] > '9') {
            continue;
        }
        extent_t extent = 0;
        for (; i < value.size() && value[i] >= '0' && value[i] <= '9'; ++i) {
            extent = std::min<extent_t>(extent, 1'000'000'000'000'000) * 10 + (value[i] - '0');
        }
        --i;
        if (extents.rank == max_rank) {
            throw_not_read(path, "the array has more than 8 axes");
        }
        extents.push_back(extent);
        is_empty |= extent == 0;
    }
    for (int axis = 0; axis < extents.rank && !is_empty; ++axis) {
        most /= extents[axis];
    }
    if (most == 0 && !is_empty) {
        throw_not_read(path, "the .npy file is shorter than its header says");
    }
    return extents;
}

} // namespace detail

/// Reads an array from a .npy file: of either order of bytes, stored by rows or by columns; it becomes row-major in
/// ours.
///
/// Throws `calque::error` if the file cannot be read, is cut off, or is of a version of the format above 3;
/// `dtype_error` for a dtype that is none of ours.
inline any_array load_npy(std::string const& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    auto const end = static_cast<std::streamoff>(file.tellg());
    file.seekg(0);
    unsigned char start[12]{};
    if (!file.read(reinterpret_cast<char*>(start), 10) || std::memcmp(start, "\x93NUMPY", 6) != 0) {
        detail::throw_not_read(path, "is not there, or is no .npy file");
    }
    if (start[6] == 0 || start[6] > 3) {
        detail::throw_not_read(path, "version " + std::to_string(start[6]) + " of the .npy format is not known");
    }
    std::size_t length = start[8] + 256u * start[9];
    if (start[6] >= 2) {
        file.read(reinterpret_cast<char*>(start + 10), 2);
        length += 65536u * start[10] + 16777216u * start[11];
    }
    auto const left = end - static_cast<std::streamoff>(file.tellg()) - static_cast<std::streamoff>(length);
    if (!file || left < 0) {
        detail::throw_not_read(path, "the .npy file is cut off in its header");
    }
    std::string header(length, ' ');
    file.read(header.data(), static_cast<std::streamsize>(length));
    bool const is_by_columns = detail::npy_value(header, "fortran_order", path).starts_with("True");
    bool is_reversed = false;
    dtype const type = detail::npy_dtype(detail::npy_value(header, "descr", path), path, is_reversed);
    auto const element_bytes = static_cast<extent_t>(size_of(type));
    shape const extents = detail::npy_shape(detail::npy_value(header, "shape", path), left / element_bytes, path);

    auto const count = static_cast<std::size_t>(extents.size());
    return with_type_of(type, [&]<class T>() {
        std::shared_ptr<T[]> elements(new T[count == 0 ? 1 : count]);
        auto* const bytes = reinterpret_cast<char*>(elements.get());
        file.read(bytes, static_cast<std::streamsize>(count * sizeof(T)));
        for (std::size_t i = 0; is_reversed && i < count; ++i) {
            std::reverse(bytes + i * sizeof(T), bytes + (i + 1) * sizeof(T));
        }
        if (is_by_columns) {
            strides steps;
            std::int64_t step = 1;
            for (int axis = 0; axis < extents.rank; ++axis) {
                steps[axis] = step;
                step *= extents[axis];
            }
            return any_array::copy_of<T>(extents, elements.get(), steps);
        }
        return any_array::keep(type, extents, elements.get(), elements);
    });
}

/// Writes an array to a .npy file, version 1.0, row-major. Throws `calque::error` if that cannot be done.
inline void save_npy(std::string const& path, any_array const& array) {
    auto const type = static_cast<std::size_t>(array.type());
    text header;
    header << "{'descr': '" << (size_of(array.type()) == 1 ? '|' : '<') << detail::npy_codes[type]
           << "', 'fortran_order': False, 'shape': (";
    for (int axis = 0; axis < array.rank(); ++axis) {
        header << array.extents()[axis] << (axis + 1 < array.rank() ? ", " : array.rank() == 1 ? "," : "");
    }
    header << "), }";
    std::size_t const length = (10 + header.view().size() + 1 + 63) / 64 * 64 - 10; // the elements begin at a multiple
    std::ofstream file(path, std::ios::binary);
    file << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(length % 256) << static_cast<char>(length / 256)
         << header.view() << std::string(length - header.view().size() - 1, ' ') << '\n';
    file.write(static_cast<char const*>(array.data()),
               static_cast<std::streamsize>(static_cast<std::size_t>(array.extents().size()) * size_of(array.type())));
    file.flush();
    if (!file) {
        throw error("calque: " + path + ": the .npy file could not be written");
    }
}

/// The same for arrays of other types, and numbers.
template <class A>
    requires(!std::same_as<A, any_array> && std::constructible_from<any_array, A const&>)
void save_npy(std::string const& path, A const& array) {
    save_npy(path, any_array(array));
}

} // namespace v0
} // namespace calque
