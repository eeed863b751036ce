// SPDX-License-Identifier: MIT
// The functions that operations are written in, declared for any value `V` that an executor computes with.
//
// The graph knows their names only. Each executor defines these templates for its own values: kernels/cpu/math.hpp for
// packs of SIMD registers. One definition serves every lane, tail and pack size, so that a value has the same result
// wherever it stands in an array.
#pragma once

#include <calque/core/config.hpp>

#include <cstdint>

namespace calque {
inline namespace v0 {
namespace math {

/// e to the power x.
template <class V>
V exp(V x);

/// 2 to the power x.
template <class V>
V exp2(V x);

/// exp(x) - 1, accurate near 0.
template <class V>
V expm1(V x);

/// The natural logarithm: NaN below 0, -infinity at 0.
template <class V>
V log(V x);

/// The logarithm to base 2: that of a power of two is exact.
template <class V>
V log2(V x);

/// log(1 + x), accurate near 0.
template <class V>
V log1p(V x);

template <class V>
V sinh(V x);
template <class V>
V cosh(V x);
template <class V>
V tanh(V x);

/// The inverses of these: of cosh that which is not negative.
template <class V>
V asinh(V x);
template <class V>
V acosh(V x);
template <class V>
V atanh(V x);

/// 1 / (1 + exp(-x)).
template <class V>
V sigmoid(V x);

/// Sine, cosine and tangent of radians, right for huge ones as well.
template <class V>
V sin(V x);
template <class V>
V cos(V x);
template <class V>
V tan(V x);

/// Their inverses: from -pi/2 to pi/2, of cos from 0 to pi.
template <class V>
V asin(V x);
template <class V>
V acos(V x);
template <class V>
V atan(V x);

/// The angle of the point (x, y), from -pi to pi, with the special cases of C's atan2.
template <class V>
V atan2(V y, V x);

/// The error function, and 1 minus it without cancellation.
template <class V>
V erf(V x);
template <class V>
V erfc(V x);

/// x to the power y, with the special cases of C's pow.
template <class V>
V pow(V x, V y);

template <class V>
V sqrt(V x);

/// The same, `OfFour` of four registers by the divider, so that it and other units work side by side.
template <int OfFour, class V>
V sqrt_in_turns(V x);

/// x / y, `OfFour` of four registers by the divider.
template <int OfFour, class V>
V divide_in_turns(V x, V y);

/// x / divisor, which is one number in all lanes.
template <class V>
V divide_by_uniform(V x, V divisor);

/// The cube root, negative of negative x.
template <class V>
V cbrt(V x);

/// 1 / sqrt(x).
template <class V>
V rsqrt(V x);

/// -1, 0 or 1; a zero keeps its sign, NaN stays NaN.
template <class V>
V sign(V x);

/// The absolute value; that of the most negative integer is itself.
template <class V>
V abs(V x);

/// The lesser and the greater of two numbers; NaN if one of them is NaN.
template <class V>
V minimum(V x, V y);
template <class V>
V maximum(V x, V y);
template <class V>
V minimum(V x, typename V::value_type y);
template <class V>
V maximum(V x, typename V::value_type y);
template <class V>
V minimum(typename V::value_type x, V y);
template <class V>
V maximum(typename V::value_type x, V y);

/// x * y + z, z - x * y and x * y - z, rounded once where the hardware can.
template <class V>
V fma(V x, V y, V z);
template <class V>
V fnma(V x, V y, V z);
template <class V>
V fms(V x, V y, V z);

/// To an integer: down, up, towards zero, and to the nearest, halves to even.
template <class V>
V floor(V x);
template <class V>
V ceil(V x);
template <class V>
V trunc(V x);
template <class V>
V round(V x);

/// What truncated division of x by y leaves, exactly: of the sign of x; of floats NaN where y is 0 or x infinite.
template <class V>
V fmod(V x, V y);

/// As many words of a key as `V` holds, from place `first` on; `V` holds uint32 or uint64.
template <class V>
V random_bits(std::uint64_t key, std::uint64_t first);

/// The word of 32 or of 64 bits at each place under each key, which are uint64.
template <class V>
auto random_word32(V key, V place);
template <class V>
V random_word64(V key, V place);

/// The key of each number under each key.
template <class V>
V derive_key(V key, V number);

/// Numbers of a distribution from random words, of which 32 bits become a float and 64 a double: uniform in [0, 1),
/// uniform in (0, 1], standard normal.
template <class V>
auto uniform_of_bits(V bits);
template <class V>
auto positive_uniform_of_bits(V bits);
template <class V>
auto normal_of_bits(V bits);

} // namespace math
} // namespace v0
} // namespace calque
