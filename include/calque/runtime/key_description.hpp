// SPDX-License-Identifier: MIT
// What the words of a key mean, as data: signatures and explanations are one piece of code for all functions.
#pragma once

#include <calque/core/text.hpp>
#include <calque/interop/tree_walk.hpp>

#include <string>
#include <vector>

namespace calque {
inline namespace v0 {
namespace detail {

/// Where the extents of each leaf stand in a key, and what the types say of it.
///
/// A key has, leaf by leaf, the extents and then, unless its type says that it is contiguous, the strides, which are
/// zeros for a contiguous array.
struct key_description {
    int leaf_count;
    int word_count;
    int argument_count;
    int const* ranks;
    bool const* has_strides;
    int const* first_words;
    dtype const* types;
    shape const* declared; // static extents, names and `dyn`, as the types have them
    bool const* is_number;
    bool is_from_signature;
    /// Appends the path of a leaf in its argument, `.layers[1].w`, and returns the argument.
    int (*append_path)(text&, int leaf);
};

/// A key or the key of a class of calls (plan_classes.hpp), and what it means.
struct described_key {
    key_description const* description;
    std::int64_t const* words;
    std::int64_t const* class_words = nullptr; // of the class that a call is in, where a policy has classes

    std::int64_t extent(int leaf, int axis) const { return words[description->first_words[leaf] + axis]; }

    /// Whether an earlier key, or class of keys, has this extent too.
    CALQUE_COLD bool has_extent_of(described_key const& before, int leaf, int axis) const {
        std::int64_t const was = before.extent(leaf, axis);
        return extent(leaf, axis) == was ||
               (class_words != nullptr && class_words[description->first_words[leaf] + axis] == was);
    }

    CALQUE_COLD bool is_strided(int leaf) const {
        int const rank = description->ranks[leaf];
        bool strided = false;
        for (int axis = 0; description->has_strides[leaf] && axis < rank; ++axis) {
            strided |= extent(leaf, rank + axis) != 0;
        }
        return strided;
    }
};

/// In the key of a class: an extent of at most `end`, which is how buckets stand there.
constexpr std::int64_t up_to(extent_t end) {
    return end == dyn ? dyn : -end - 2;
}
constexpr bool is_up_to(std::int64_t word) {
    return word < dyn;
}
constexpr extent_t end_of_bucket(std::int64_t word) {
    return -(word + 2);
}

/// An extent of a key as people read it: `64`, `batch`, `dyn`, `<=128`.
CALQUE_COLD inline void append_word(text& out, std::int64_t word, extent_t declared) {
    if (is_up_to(word)) {
        out << "<=" << end_of_bucket(word);
    } else {
        out.append_extent(word == dyn ? declared : word);
    }
}

/// The signature of a key: `float[64,784], float[784,10]`.
CALQUE_COLD inline std::string signature_of(described_key const& k, std::vector<std::string> const& names) {
    text out;
    for (int leaf = 0; leaf < k.description->leaf_count; ++leaf) {
        text path;
        auto const argument = static_cast<std::size_t>(k.description->append_path(path, leaf));
        out << (leaf == 0 ? "" : ", ");
        if (argument < names.size()) {
            out << names[argument] << path.view() << ": ";
        }
        out << k.description->types[leaf];
        int const rank = k.description->ranks[leaf];
        out << '[';
        for (int axis = 0; axis < rank; ++axis) {
            out << (axis == 0 ? "" : ",");
            append_word(out, k.extent(leaf, axis), k.description->declared[leaf][axis]);
        }
        out << ']' << (k.is_strided(leaf) ? " strided" : "");
    }
    return out.string();
}

/// How messages call a leaf: "argument 0.layers[1].w", with a name "argument 0 `model.layers[1].w`".
CALQUE_COLD inline void append_place(text& out, key_description const& d, int leaf,
                                     std::vector<std::string> const& names) {
    text path;
    auto const argument = static_cast<std::size_t>(d.append_path(path, leaf));
    out << "argument " << argument;
    if (argument < names.size()) {
        out << " `" << names[argument] << path.view() << '`';
    } else {
        out << path.view();
    }
}

template <class List>
struct leaf_table;
template <class... Leaf>
struct leaf_table<type_list<Leaf...>> {
    template <class L>
    static constexpr shape declared_of() {
        if constexpr (array_spec<L>) {
            return L::shape;
        } else {
            return {};
        }
    }
    template <class L>
    static constexpr dtype type_of_leaf() {
        if constexpr (array_spec<L>) {
            return dtype_of<typename L::value_type>;
        } else {
            return dtype_of<typename canonical<L>::type>;
        }
    }

    static constexpr dtype types[] = {type_of_leaf<Leaf>()..., dtype::bool_};
    static constexpr shape declared[] = {declared_of<Leaf>()..., shape{}};
    static constexpr bool is_number[] = {!array_spec<Leaf>..., false};
};

template <class List>
struct leaf_paths;
template <class... Args>
struct leaf_paths<type_list<Args...>> {
    static int append(text& path, int leaf) {
        int result = 0;
        int argument = 0;
        int first = 0;
        auto const look = [&]<class A>(std::type_identity<A>) {
            int const size = static_cast<int>(tree_size_v<A>);
            if (first <= leaf && leaf < first + size) {
                result = argument;
                append_leaf_path<A>(path, static_cast<std::size_t>(leaf - first));
            }
            first += size;
            ++argument;
        };
        (look(std::type_identity<Args>{}), ...);
        return result;
    }
};

/// What the keys of the program `P` mean.
template <class P>
inline constexpr key_description description_of{
    P::layout::count,
    static_cast<int>(P::layout::words),
    static_cast<int>(P::arguments::size),
    P::layout::of.ranks,
    P::layout::of.has_strides,
    P::layout::of.first_word,
    leaf_table<typename P::leaves>::types,
    leaf_table<typename P::leaves>::declared,
    leaf_table<typename P::leaves>::is_number,
    P::is_from_signature,
    &leaf_paths<typename P::arguments>::append,
};

} // namespace detail
} // namespace v0
} // namespace calque
