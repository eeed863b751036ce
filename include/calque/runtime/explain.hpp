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

/// The kinds of differences between two keys: each has its own remedy.
struct key_differences {
    bool structure = false;
    bool types = false; // dtype or rank
    bool declared = false;
    bool extents = false;
    bool layout = false;

    bool any() const { return structure || types || declared || extents || layout; }
};

/// Compares a new key with an earlier one, and writes what differs.
class key_comparison {
public:
    key_comparison(described_key const& now, described_key const& before, std::vector<std::string> const& names)
        : now_(now), before_(before), names_(names) {}

    /// Appends the differences, at most four of them: `argument 0: extent 0 was 10, is 20; ...`.
    CALQUE_COLD key_differences describe(text& out) {
        key_differences found;
        if (now_.description->leaf_count != before_.description->leaf_count) {
            found.structure = true;
            begin_difference(out) << "the arguments hold " << before_.description->leaf_count
                                  << " arrays and numbers, now " << now_.description->leaf_count;
            return found;
        }
        text ignored;
        for (int leaf = 0; leaf < now_.description->leaf_count; ++leaf) {
            compare_leaf(count_ < limit ? out : ignored, leaf, found);
        }
        if (!found.any()) {
            found.declared = true;
            begin_difference(out) << "the same dtypes and shapes, in arrays of another C++ type";
        }
        if (count_ > limit) {
            out << "; and " << count_ - limit << " more";
        }
        return found;
    }

    /// How far the keys are from each other. A dtype, rank or structure weighs more than any extents.
    CALQUE_COLD double distance() const {
        key_description const& a = *now_.description;
        key_description const& b = *before_.description;
        if (a.leaf_count != b.leaf_count) {
            return 1e9 * (1 + std::abs(a.leaf_count - b.leaf_count));
        }
        double sum = &a == &b ? 0 : 1e-3;
        for (int leaf = 0; leaf < a.leaf_count; ++leaf) {
            if (a.types[leaf] != b.types[leaf] || a.ranks[leaf] != b.ranks[leaf]) {
                sum += 1e6;
                continue;
            }
            for (int axis = 0; axis < a.ranks[leaf]; ++axis) {
                double const was = static_cast<double>(before_.extent(leaf, axis));
                double const is = static_cast<double>(now_.extent(leaf, axis));
                // An extent that differs counts as one; how much it differs decides between equals.
                sum += now_.has_extent_of(before_, leaf, axis)
                           ? 0
                           : 1 + std::abs(was - is) / (1 + std::abs(was) + std::abs(is)) / 1e2;
            }
            sum += is_laid_out_differently(leaf) ? 0.5 : 0;
        }
        return sum;
    }

private:
    static constexpr int limit = 4;

    /// A class of keys serves all layouts.
    CALQUE_COLD bool is_laid_out_differently(int leaf) const {
        return now_.class_words == nullptr && now_.is_strided(leaf) != before_.is_strided(leaf);
    }

    text& begin_difference(text& out) { return out << (count_++ == 0 ? "" : "; "); }

    CALQUE_COLD text& begin_difference(text& out, int leaf) {
        begin_difference(out);
        append_place(out, *now_.description, leaf, names_);
        return out << ": ";
    }

    /// (No text of its own, which every call that may throw would have to end.)
    CALQUE_COLD void compare_leaf(text& to, int leaf, key_differences& found) {
        key_description const& a = *now_.description;
        key_description const& b = *before_.description;
        if (a.types[leaf] != b.types[leaf]) {
            found.types = true;
            begin_difference(to, leaf) << "the dtype was " << b.types[leaf] << ", is " << a.types[leaf];
        }
        if (a.ranks[leaf] != b.ranks[leaf]) {
            found.types = true;
            begin_difference(to, leaf) << "the rank was " << b.ranks[leaf] << ", is " << a.ranks[leaf];
            return;
        }
        if (a.is_number[leaf] != b.is_number[leaf]) {
            found.structure = true;
            begin_difference(to, leaf) << (a.is_number[leaf] ? "was an array, is a number"
                                                             : "was a number, is an array");
        }
        for (int axis = 0; axis < a.ranks[leaf]; ++axis) {
            if (!now_.has_extent_of(before_, leaf, axis)) {
                found.extents = true;
                begin_difference(to, leaf) << "extent " << axis << " was ";
                append_word(to, before_.extent(leaf, axis), b.declared[leaf][axis]);
                append_word(to << ", is ", now_.extent(leaf, axis), a.declared[leaf][axis]);
            }
        }
        if (!(a.declared[leaf] == b.declared[leaf])) {
            found.declared = true;
            begin_difference(to, leaf) << "the type said " << b.declared[leaf] << ", says " << a.declared[leaf];
        }
        bool const is_strided = now_.is_strided(leaf);
        if (is_laid_out_differently(leaf)) {
            found.layout = true;
            begin_difference(to, leaf) << (is_strided ? "was contiguous, is strided" : "was strided, is contiguous");
        } else if (is_strided && !found.extents && now_.class_words == nullptr) {
            for (int axis = 0; axis < a.ranks[leaf]; ++axis) {
                std::int64_t const was = calque::detail::stride_of_word(before_.extent(leaf, a.ranks[leaf] + axis));
                std::int64_t const is = calque::detail::stride_of_word(now_.extent(leaf, a.ranks[leaf] + axis));
                if (was != is) {
                    found.layout = true;
                    begin_difference(to, leaf) << "stride " << axis << " was " << was << ", is " << is;
                }
            }
        }
    }

    described_key const& now_;
    described_key const& before_;
    std::vector<std::string> const& names_;
    int count_ = 0;
};

/// What makes one trace serve keys with these differences.
CALQUE_COLD inline std::string_view remedy_for(key_differences const& found, shape_policy policy) {
    if (found.structure) {
        return "pass the same structure in every call";
    }
    if (found.types) {
        return "cast to one dtype, and keep one rank, before the call";
    }
    if (found.declared && !found.extents && !found.layout) {
        return "pass arrays of one type, or give the function a signature";
    }
    if (found.extents) {
        switch (policy) {
        case shape_policy::exact:
            return "shapes = calque::shape_policy::relax, or a signature with calque::dyn, makes one trace serve all "
                   "extents";
        case shape_policy::bucket: return "larger buckets, or shapes = calque::shape_policy::relax";
        case shape_policy::relax: return "shapes = calque::shape_policy::dynamic makes the first trace serve all";
        default: return "a larger capacity";
        }
    }
    if (found.layout) {
        return "pass contiguous arrays, or shapes = calque::shape_policy::relax";
    }
    return "a larger capacity";
}

} // namespace detail
} // namespace v0
} // namespace calque
