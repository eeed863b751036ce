// SPDX-License-Identifier: MIT
// Rows of any length in traced functions: ragged batches, their folds, what is padded, and what masks leave.
//
//     auto means = calque::function([](auto batch) { return row_mean(batch); });
//     auto y = means(calque::ragged<float>{{1, 2, 3}, {0, 2, 2, 3}}); // 1.5, NaN, 3
//
// docs/ragged.md shows it in use.
#pragma once

#include <calque/interop/buckets.hpp>
#include <calque/interop/ragged.hpp>
#include <calque/trace/masked.hpp>
#include <calque/trace/ragged_rows.hpp>
#include <calque/trace/segments.hpp>
