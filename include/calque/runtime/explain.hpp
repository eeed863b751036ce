// SPDX-License-Identifier: MIT
// Why a key is new: what differs from the closest earlier one, and what would have made one trace serve both.
#pragma once

#include <calque/runtime/function_options.hpp>
#include <calque/runtime/key.hpp>
#include <calque/runtime/key_description.hpp>

#include <cstdlib>
#include <limits>

namespace calque {
inline namespace v0 {

/// Whether a call would find its plan, and why (not).
struct explanation {
    bool hit;
    std::string reason; ///< "argument 0 `x`: extent 0 was 10, is 20; shapes = ... would avoid this trace"
};

namespace detail {

/// What two keys can differ in.
enum class aspect : std::uint8_t { structure, dtype, rank, kind, extent, declared, layout, stride };

/// The aspects in which two keys differ: each has its own remedy.
class key_differences {
public:
    void add(aspect what) { bits_ |= 1u << static_cast<unsigned>(what); }
    bool any() const { return bits_ != 0; }
    bool has(aspect what) const { return (bits_ >> static_cast<unsigned>(what) & 1u) != 0; }

private:
    unsigned bits_ = 0;
};

/// Compares a new key with an earlier one: how far they are from each other, and in words what differs.
class key_comparison {
public:
    /// Appends the differences to `out`, unless it is null, at most four of them: `argument 0: extent 0 was 10, is 20`.
    CALQUE_COLD key_comparison(described_key const& now, described_key const& before,
                               std::vector<std::string> const& names, text* out)
        : now_(now), before_(before), names_(names), out_(out) {
        key_description const& a = *now.description;
        key_description const& b = *before.description;
        if (a.leaf_count != b.leaf_count) {
            distance_ = 1e9 * (1 + std::abs(a.leaf_count - b.leaf_count));
            differences_.add(aspect::structure);
            if (out != nullptr) {
                *out << "the arguments hold " << b.leaf_count << " arrays and numbers, now " << a.leaf_count;
            }
            return;
        }
        for (int leaf = 0; leaf < a.leaf_count; ++leaf) {
            compare_leaf(leaf);
        }
        if (&a != &b) {
            distance_ += 1e-3;
        }
        if (!differences_.any()) {
            differences_.add(aspect::declared);
            if (out != nullptr) {
                *out << "the same dtypes and shapes, in arrays of another C++ type";
            }
        }
        if (out != nullptr && count_ > limit) {
            *out << "; and " << count_ - limit << " more";
        }
    }

    /// A dtype, rank or structure weighs more than any extents.
    double distance() const { return distance_; }
    key_differences differences() const { return differences_; }

private:
    static constexpr int limit = 4;
    static constexpr int no_axis = -1;

    CALQUE_COLD void compare_leaf(int leaf) {
        key_description const& a = *now_.description;
        key_description const& b = *before_.description;
        if (a.types[leaf] != b.types[leaf]) {
            note(aspect::dtype, 1e6, leaf, no_axis);
        }
        if (a.ranks[leaf] != b.ranks[leaf]) {
            note(aspect::rank, 1e6, leaf, no_axis);
            return;
        }
        if (a.is_number[leaf] != b.is_number[leaf]) {
            note(aspect::kind, 0.5, leaf, no_axis);
        }
        bool extents_differ = false;
        for (int axis = 0; axis < a.ranks[leaf]; ++axis) {
            if (!now_.has_extent_of(before_, leaf, axis)) {
                extents_differ = true;
                double const was = static_cast<double>(before_.extent(leaf, axis));
                double const is = static_cast<double>(now_.extent(leaf, axis));
                // An extent that differs counts as one; how much it differs decides between equals.
                note(aspect::extent, 1 + std::abs(was - is) / (1 + std::abs(was) + std::abs(is)) / 1e2, leaf, axis);
            }
        }
        if (!(a.declared[leaf] == b.declared[leaf])) {
            note(aspect::declared, 0, leaf, no_axis);
        }
        if (now_.class_words != nullptr) {
            return; // a class of keys serves all layouts
        }
        bool const is_strided = now_.is_strided(leaf);
        if (is_strided != before_.is_strided(leaf)) {
            note(aspect::layout, 0.5, leaf, no_axis);
        } else if (is_strided && !extents_differ) {
            for (int axis = 0; axis < a.ranks[leaf]; ++axis) {
                if (stride(now_, leaf, axis) != stride(before_, leaf, axis)) {
                    note(aspect::stride, 1e-2, leaf, axis);
                }
            }
        }
    }

    /// Counts a difference, and appends it: where, what, `was` and `is`.
    CALQUE_COLD void note(aspect what, double weight, int leaf, int axis) {
        differences_.add(what);
        distance_ += weight;
        if (out_ == nullptr || ++count_ > limit) {
            return;
        }
        static constexpr char const* subjects[] = {"",        "the dtype ", "the rank ", "",
                                                   "extent ", "the type ",  "",          "stride "};
        bool const is_said = what == aspect::declared;
        text& out = *out_;
        out << (count_ == 1 ? "" : "; ");
        append_place(out, *now_.description, leaf, names_);
        out << ": " << subjects[static_cast<int>(what)];
        if (axis != no_axis) {
            out << axis << ' ';
        }
        out << (is_said ? "said " : "was ");
        append_value(what, before_, leaf, axis);
        out << (is_said ? ", says " : ", is ");
        append_value(what, now_, leaf, axis);
    }

    CALQUE_COLD void append_value(aspect what, described_key const& key, int leaf, int axis) {
        key_description const& of = *key.description;
        switch (what) {
        case aspect::dtype: *out_ << of.types[leaf]; break;
        case aspect::rank: *out_ << of.ranks[leaf]; break;
        case aspect::kind: *out_ << (of.is_number[leaf] ? "a number" : "an array"); break;
        case aspect::extent: append_word(*out_, key.extent(leaf, axis), of.declared[leaf][axis]); break;
        case aspect::declared: *out_ << of.declared[leaf]; break;
        case aspect::layout: *out_ << (key.is_strided(leaf) ? "strided" : "contiguous"); break;
        default: *out_ << stride(key, leaf, axis); break;
        }
    }

    static std::int64_t stride(described_key const& key, int leaf, int axis) {
        return calque::detail::stride_of_word(key.extent(leaf, key.description->ranks[leaf] + axis));
    }

    described_key const& now_;
    described_key const& before_;
    std::vector<std::string> const& names_;
    text* out_;
    int count_ = 0; // of what is appended, or would be
    double distance_ = 0;
    key_differences differences_;
};

/// What makes one trace serve keys with these differences.
CALQUE_COLD inline std::string_view remedy_for(key_differences found, shape_policy policy) {
    if (found.has(aspect::structure) || found.has(aspect::kind)) {
        return "pass the same structure in every call";
    }
    if (found.has(aspect::dtype) || found.has(aspect::rank)) {
        return "cast to one dtype, and keep one rank, before the call";
    }
    bool const is_laid_out_differently = found.has(aspect::layout) || found.has(aspect::stride);
    if (found.has(aspect::declared) && !found.has(aspect::extent) && !is_laid_out_differently) {
        return "pass arrays of one type, or give the function a signature";
    }
    if (found.has(aspect::extent)) {
        switch (policy) {
        case shape_policy::exact:
            return "shapes = calque::shape_policy::relax, or a signature with calque::dyn, makes one trace serve all "
                   "extents";
        case shape_policy::bucket: return "larger buckets, or shapes = calque::shape_policy::relax";
        case shape_policy::relax: return "shapes = calque::shape_policy::dynamic makes the first trace serve all";
        default: return "a larger capacity";
        }
    }
    if (is_laid_out_differently) {
        return "pass contiguous arrays, or shapes = calque::shape_policy::relax";
    }
    return "a larger capacity";
}

} // namespace detail
} // namespace v0
} // namespace calque
