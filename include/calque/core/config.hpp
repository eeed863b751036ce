// SPDX-License-Identifier: MIT
// The version, and the few macros that every layer shares.
#pragma once

#define CALQUE_VERSION_MAJOR 0
#define CALQUE_VERSION_MINOR 1
#define CALQUE_VERSION_PATCH 0
#define CALQUE_VERSION (CALQUE_VERSION_MAJOR * 10000 + CALQUE_VERSION_MINOR * 100 + CALQUE_VERSION_PATCH)

/// For a lambda that must vanish into its caller: `[&](auto x) CALQUE_INLINE_LAMBDA { ... }`. Not without optimization:
/// a copy of a body for each caller takes a compiler twice the time then, and a debugger could not step into it.
#ifdef __OPTIMIZE__
#define CALQUE_INLINE_LAMBDA __attribute__((always_inline))
#else
#define CALQUE_INLINE_LAMBDA
#endif

/// The same for a function: kernels are built of thousands of these.
#define CALQUE_INLINE inline CALQUE_INLINE_LAMBDA

/// Kept out of line, so that the common path stays short, and yet made to be fast: what each new shape takes.
#define CALQUE_NOINLINE __attribute__((noinline))

/// A path that is taken rarely: out of line, and small rather than fast. Only behind a condition: g++ takes what always
/// leads to a cold function, or comes after it, for cold as well, through all callers and up to the loops in `main`.
#define CALQUE_COLD __attribute__((noinline, cold))

/// What users call, and what always leads to cold functions: g++ looks no further than this for what else is cold.
#ifdef __clang__
#define CALQUE_FENCE __attribute__((noinline))
#else
#define CALQUE_FENCE __attribute__((noinline, noipa))
#endif

namespace calque {
// Every public name lives in the namespace of the version.
inline namespace v0 {} // namespace v0
} // namespace calque
