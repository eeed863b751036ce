// SPDX-License-Identifier: MIT
// The order of a block's instructions. clang mixes those of all groups of a block before it assigns registers, so that
// the more work a block has, the more it keeps on the stack; g++ 12 leaves them as they are written.
#pragma once

namespace calque {
inline namespace v0 {
namespace kernels {

#ifdef __clang__
inline constexpr bool compiler_mixes_groups = true;
#else
inline constexpr bool compiler_mixes_groups = false;
#endif

} // namespace kernels
} // namespace v0
} // namespace calque
