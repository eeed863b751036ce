// SPDX-License-Identifier: MIT
// The definitions of graph/math.hpp for packs. Errors are at most 2 ULP, of tan and erfc at most 4, over the whole
// range: denormals, infinities, NaN and signed zeros included (tests/math_test.cpp measures them, docs/accuracy.md).
#pragma once

#include <calque/kernels/cpu/math_arcs.hpp>
#include <calque/kernels/cpu/math_cbrt.hpp>
#include <calque/kernels/cpu/math_erf.hpp>
#include <calque/kernels/cpu/math_erfc.hpp>
#include <calque/kernels/cpu/math_exp.hpp>
#include <calque/kernels/cpu/math_fmod.hpp>
#include <calque/kernels/cpu/math_hyperbolic.hpp>
#include <calque/kernels/cpu/math_log.hpp>
#include <calque/kernels/cpu/math_pow.hpp>
#include <calque/kernels/cpu/math_quotients.hpp>
#include <calque/kernels/cpu/math_random.hpp>
#include <calque/kernels/cpu/math_roots.hpp>
#include <calque/kernels/cpu/math_tanh.hpp>
#include <calque/kernels/cpu/math_trigonometric.hpp>

namespace calque {
inline namespace v0 {
namespace math {

template <class V>
CALQUE_INLINE V abs(V x) {
    return simd::abs(x);
}

template <class V>
CALQUE_INLINE V minimum(V x, V y) {
    return simd::minimum(x, y);
}

template <class V>
CALQUE_INLINE V maximum(V x, V y) {
    return simd::maximum(x, y);
}

template <class V>
CALQUE_INLINE V minimum(V x, typename V::value_type y) {
    return simd::minimum(x, y);
}

template <class V>
CALQUE_INLINE V maximum(V x, typename V::value_type y) {
    return simd::maximum(x, y);
}

template <class V>
CALQUE_INLINE V minimum(typename V::value_type x, V y) {
    return simd::minimum(x, y);
}

template <class V>
CALQUE_INLINE V maximum(typename V::value_type x, V y) {
    return simd::maximum(x, y);
}

template <class V>
CALQUE_INLINE V fma(V x, V y, V z) {
    return simd::fma(x, y, z);
}

template <class V>
CALQUE_INLINE V fnma(V x, V y, V z) {
    return simd::fnma(x, y, z);
}

template <class V>
CALQUE_INLINE V fms(V x, V y, V z) {
    return simd::fms(x, y, z);
}

template <class V>
CALQUE_INLINE V sign(V x) {
    using T = typename V::value_type;
    V const zero(T(0)), one(T(1));
    V const negative_or_not = simd::select_if<simd::comparison::less>(x, zero, zero - one, x);
    return simd::select_if<simd::comparison::greater>(x, zero, one, negative_or_not);
}

template <class V>
CALQUE_INLINE V floor(V x) {
    return simd::floor(x);
}

template <class V>
CALQUE_INLINE V ceil(V x) {
    return simd::ceil(x);
}

template <class V>
CALQUE_INLINE V trunc(V x) {
    return simd::trunc(x);
}

template <class V>
CALQUE_INLINE V round(V x) {
    return simd::round_even(x);
}

} // namespace math
} // namespace v0
} // namespace calque
