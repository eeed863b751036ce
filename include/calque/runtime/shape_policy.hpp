// SPDX-License-Identifier: MIT
// Shape policies: which extents share a plan.
#pragma once

#include <calque/core/shape.hpp>

#include <initializer_list>
#include <utility>
#include <vector>

namespace calque {
inline namespace v0 {

/// Which extents share a trace.
///
/// Kernels always run over the real extents, nothing is padded: a policy says for which keys a function promises that
/// one trace is enough.
enum class shape_policy : std::uint8_t {
    exact,   ///< a trace for each shape
    relax,   ///< the first shape is traced as it is; the first that differs in extents only makes all extents dynamic:
             ///< at most two traces for each dtype and rank
    dynamic, ///< one trace for each dtype and rank
    bucket,  ///< one trace for all extents up to the next of `function_options::buckets`
};

/// The ends of buckets: powers of two, multiples of a number, or a list.
///
/// ```cpp
/// .buckets = calque::bucket_list::multiples_of(16)
/// .buckets = {16, 64, 256} // and one bucket for what is larger
/// ```
class bucket_list {
public:
    /// 1, 2, 4, 8, ...
    bucket_list() = default;
    bucket_list(std::initializer_list<extent_t> ends) : bucket_list(std::vector<extent_t>(ends)) {}
    explicit bucket_list(std::vector<extent_t> ends) : ends_(std::move(ends)) {}

    static bucket_list powers_of_two() { return {}; }

    /// `step`, 2 `step`, 3 `step`, ...; `step` must be positive.
    static bucket_list multiples_of(extent_t step) {
        bucket_list result;
        result.step_ = step;
        return result;
    }

    /// The largest extent in the bucket of `extent`; `dyn` if the bucket has no end.
    extent_t end_of(extent_t extent) const {
        if (step_ != 0) {
            return extent < step_ ? step_ : (extent + step_ - 1) / step_ * step_;
        }
        if (!ends_.empty()) {
            extent_t best = dyn;
            for (std::size_t i = 0; i != ends_.size(); ++i) { // iterators are eight functions more to compile
                extent_t const end = ends_[i];
                best = end >= extent && (best == dyn || end < best) ? end : best;
            }
            return best;
        }
        extent_t end = 1;
        while (end < extent) {
            end *= 2;
        }
        return end;
    }

private:
    extent_t step_ = 0;
    std::vector<extent_t> ends_; // in any order: there are a few
};

} // namespace v0
} // namespace calque
