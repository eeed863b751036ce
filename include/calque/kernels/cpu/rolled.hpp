// SPDX-License-Identifier: MIT
// Loops that stay as they are written.
#pragma once

/// Before a loop over packs, which are unrolled as far as they gain by it: clang unrolls such loops 4 to 8 times more,
/// and short rows spend their time in the loop for what remains.
#ifdef __clang__
#define CALQUE_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define CALQUE_ROLLED
#endif
