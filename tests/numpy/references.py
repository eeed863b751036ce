# SPDX-License-Identifier: MIT
"""What NumPy makes of the arguments of each operation, and how close to that a result has to be.

REFERENCES has by name a function of the two arguments. What it returns says by its type how close a result has to be:

- an array: the same dtype, shape and elements, NaN and the signs of zeros included;
- `EitherZero`: the same, but zeros may be of either sign;
- `Near`: elementary functions, within the bounds in ULP of docs/accuracy.md;
- `Rounded`: sums and what contains them, within a bound of their rounding errors whatever the order of summation.

The last two are computed in long double.
"""
import math
import pathlib
import re

import numpy as np

wide = np.longdouble
ACCURACY = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "accuracy.md"


class EitherZero:
    """The larger or smaller of 0 and -0: which one it is, NumPy says neither in words nor alike for all dtypes."""

    def __init__(self, value):
        self.value = value


class Near:
    """A value of which a result is at most some ULP off, of which there may be as many as elements."""

    def __init__(self, value, bound):
        self.value = value
        self.bound = np.broadcast_to(np.asarray(bound, wide), value.shape)


class Rounded:
    """A value of which a result is at most `bound` off. `depends` is true where the order of operations decides.

    There, the order says whether the numbers that are added or multiplied leave the dtype's range on the way: max +
    lowest + max is max or infinity, and 1e-30 * 1e-30 * 1e30 is 0 or 1e-30 in float. calque's order is not NumPy's.
    If it is a sum, a result that is finite must be near nevertheless.
    """

    def __init__(self, value, bound, depends=False, is_sum=True):
        self.value = np.asarray(value, wide)
        self.bound = np.nan_to_num(np.broadcast_to(np.asarray(bound, wide), self.value.shape), nan=0)
        self.depends = np.broadcast_to(depends, self.value.shape)
        self.is_sum = is_sum


def bounds_of_accuracy():
    """By function, the bounds of float and double."""
    text = ACCURACY.read_text()
    return {name: {"float32": float(single), "float64": float(double)}
            for name, single, double in re.findall(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)}


BOUNDS = bounds_of_accuracy()


def elementary(name, function):
    return lambda x, y: Near(function(x.astype(wide), y.astype(wide)), BOUNDS[name][str(x.dtype)])


def composed(bound, function):
    """A function made of elementary ones, whose errors add up; `bound` may be a function of x."""
    return lambda x, y: Near(function(x.astype(wide)), bound(x) if callable(bound) else bound)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu_bound(x):
    """Where the sigmoid is denormal, it is off by some of the least numbers, which are multiplied by x."""
    is_denormal = sigmoid(x.astype(wide)) < np.finfo(x.dtype).tiny
    return 3 + np.where(is_denormal, 2 * size(x), 0)


def gelu_bound(x):
    """The argument of `erfc` is off by up to 1 ULP, which its tail magnifies by x^2 (docs/accuracy.md)."""
    return 5 + np.where(x < 0, 2 * size(x) ** 2, 0)


def gelu_tanh_argument(x):
    return 2 * np.sqrt(2 / wide(np.pi)) * (x + wide("0.044715") * x ** 3)


def gelu_tanh_bound(x):
    """x times the sigmoid of a polynomial, whose rounding errors the exponential's tail magnifies."""
    return silu_bound(x) + 4 * np.abs(gelu_tanh_argument(size(x)))


def each(function):
    return lambda x: np.array([function(float(e)) for e in x.ravel()], wide).reshape(x.shape)


def erfc_wide(x):
    """By the double function of C, corrected for what x lacks of a double: an error of 1 ULP of double is left."""
    near = x.astype(np.float64)
    rest = np.where(np.isfinite(near), x - near, 0)
    return each(math.erfc)(near) - rest * 2 / np.sqrt(wide(np.pi)) * np.exp(-near.astype(wide) ** 2)


def by_c(name, function):
    """The same bound, and in double the ULP by which the reference may be off itself."""
    return lambda x, y: Near(function(x.astype(wide)), BOUNDS[name][str(x.dtype)] + (x.dtype == np.float64))


def eps(x):
    return wide(np.finfo(x.dtype).eps)


def most(x):
    return wide(np.finfo(x.dtype).max)


def size(x):
    """The magnitudes of the elements that are finite."""
    return np.where(np.isfinite(x), np.abs(x.astype(wide)), 0)


def is_integer(x):
    """Whether sums are exact: those of integers and bool, in int64, which wraps around."""
    return x.dtype.kind != "f"


def count(x, axis):
    return x.size if axis is None else x.shape[axis]


def total(axis, keepdims=False, of=lambda x, y: x):
    def reference(x, y):
        terms = of(x, y)
        if is_integer(terms):
            return np.asarray(np.sum(terms, axis, keepdims=keepdims))
        magnitude = np.sum(size(terms), axis, keepdims=keepdims)
        return Rounded(np.sum(terms.astype(wide), axis, keepdims=keepdims), count(terms, axis) * eps(x) * magnitude,
                       magnitude > most(x))
    return reference


def out_of_range(x, fold):
    """Whether a product of some of the elements is beyond the range, whatever the whole one is."""
    magnitude = np.where(size(x) == 0, 1, size(x))
    return (fold(np.maximum(magnitude, 1)) > most(x)) | (fold(np.minimum(magnitude, 1)) < np.finfo(x.dtype).tiny)


def product(fold):
    def reference(x, y):
        if is_integer(x):
            return fold(x)
        value = fold(x.astype(wide))
        return Rounded(value, x.size * eps(x) * np.abs(value), out_of_range(x, fold), is_sum=False)
    return reference


def running_sum(axis):
    def reference(x, y):
        if is_integer(x):
            return np.cumsum(x, axis)
        magnitude = np.cumsum(size(x), axis)
        return Rounded(np.cumsum(x.astype(wide), axis), count(x, axis) * eps(x) * magnitude, magnitude > most(x))
    return reference


def mean(axis):
    def reference(x, y):
        n, magnitude = max(count(x, axis), 1), np.sum(size(x), axis)
        return Rounded(np.mean(x.astype(wide), axis), (n + 1) * eps(x) * magnitude / n, magnitude > most(x))
    return reference


def variance(axis, is_root=False):
    """Two passes: an error of the mean adds its square."""
    def reference(x, y):
        n = max(count(x, axis), 1)
        value = np.var(x.astype(wide), axis)
        magnitude = np.sum(size(x), axis)
        bound = (n + 4) * eps(x) * value + ((n + 1) * eps(x) * magnitude / n) ** 2
        depends = (magnitude > most(x)) | (value * n > most(x))
        if is_root:
            with_tiny = bound + n * wide(np.finfo(x.dtype).smallest_subnormal)
            root = np.sqrt(value)
            bound = np.minimum(np.sqrt(with_tiny), with_tiny / (2 * np.where(root == 0, 1, root))) + eps(x) * root
            bound = np.where(root == 0, np.sqrt(with_tiny), bound)
            value = root
        return Rounded(value, bound, depends)
    return reference


def exponentials(x, axis):
    """x less its maximum, the exponentials of that, and the relative error of their sum: an argument's is magnified."""
    top = np.max(x.astype(wide), axis, keepdims=True)
    below = x - top
    powers = np.exp(below)
    whole = np.sum(powers, axis, keepdims=True)
    errors = np.sum(powers * size(below), axis, keepdims=True) / whole
    return top, below, powers, whole, (count(x, axis) + 4 + errors) * eps(x)


def softmax(axis):
    def reference(x, y):
        _, below, powers, whole, error = exponentials(x, axis)
        return Rounded(powers / whole, powers / whole * (error + (4 + size(below)) * eps(x)))
    return reference


def log_softmax(axis):
    def reference(x, y):
        _, below, _, whole, error = exponentials(x, axis)
        return Rounded(below - np.log(whole), error + (size(below) + 2 * np.abs(np.log(whole))) * eps(x))
    return reference


def logsumexp(axis):
    def reference(x, y):
        top, _, _, whole, error = exponentials(x, axis)
        value = np.where(np.isfinite(top), top + np.log(whole), top)
        bound = error + (np.abs(value) + 2 * np.abs(np.log(whole))) * eps(x)
        return Rounded(np.squeeze(value, axis), np.squeeze(bound, axis))
    return reference


def products(function, terms):
    """Sums of products; `terms` says of how many, given x."""
    def reference(x, y):
        if is_integer(x):
            return np.asarray(function(x, y))
        value, magnitude = function(x.astype(wide), y.astype(wide)), function(size(x), size(y))
        return Rounded(value, (terms(x) + 1) * eps(x) * magnitude, magnitude > most(x))
    return reference


def transposed(x):
    return np.swapaxes(x, -1, -2)


def quotient(x, y):
    """Integers truncate; x / 0 is 0, and the least number / -1 is itself: documented, where NumPy's `//` differs."""
    if x.dtype.kind == "f":
        return x / y
    a, b = x.astype(np.int64), np.where(y == 0, 1, y).astype(np.int64)
    return np.where(y == 0, 0, np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(x.dtype)


def remainder(x, y):
    """Of the sign of x, exact; of integers x % 0 is 0, as documented."""
    if x.dtype.kind == "f":
        return np.fmod(x, y)
    return np.where(y == 0, 0, np.fmod(x.astype(np.int64), np.where(y == 0, 1, y))).astype(x.dtype)


def changed(x, places, change):
    copy = x.copy()
    copy[places] = change(copy[places])
    return copy


def largest_first(x, axis):
    """Indices in descending order; NaN is the largest, and equal elements keep their order."""
    backwards = np.flip(x, axis)
    order = np.flip(np.argsort(backwards, axis, kind="stable"), axis)
    return x.shape[axis] - 1 - order


def scattered(x, y):
    places, updates = np.array([1, 0, 1]), np.ones((len(x), 3), x.dtype)
    value, magnitude = x.astype(x.dtype if is_integer(x) else wide), size(x)
    np.add.at(value, (slice(None), places), updates)
    np.add.at(magnitude, (slice(None), places), updates)
    return value if is_integer(x) else Rounded(value, 3 * eps(x) * magnitude, magnitude > most(x))


def one_hot(x, y):
    return (x[..., None] == np.arange(5)).astype(np.float64)


SQRT2 = np.sqrt(wide(2))

REFERENCES = {
    # Elementwise, exact or rounded once
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": quotient,
    "negative": lambda x, y: -x,
    "abs": lambda x, y: np.abs(x),
    "square": lambda x, y: np.square(x),
    "sign": lambda x, y: np.where(x == 0, x, np.sign(x)),  # a zero keeps its sign, as documented; in NumPy it is 0
    "fmod": remainder,
    "remainder": remainder,
    "minimum": lambda x, y: EitherZero(np.minimum(x, y)),
    "maximum": lambda x, y: EitherZero(np.maximum(x, y)),
    "clip": lambda x, y: np.clip(x, -1, 2),
    "relu": lambda x, y: EitherZero(np.maximum(x, 0)),
    "where": lambda x, y: np.where(x > y, x, y),
    "add_row": lambda x, y: x + y[0:1],
    "add_column": lambda x, y: x + y[:, 0:1],
    "number": lambda x, y: 3 - x * 2,
    "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y,
    "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
    "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y,
    "logical_and": lambda x, y: np.logical_and(x > 0, y > 0),
    "logical_or": lambda x, y: np.logical_or(x > 0, y > 0),
    "logical_not": lambda x, y: np.logical_not(x > y),
    "bool_xor": lambda x, y: (x > 0) ^ (y > 0),
    "floor": lambda x, y: np.floor(x),
    "ceil": lambda x, y: np.ceil(x),
    "trunc": lambda x, y: np.trunc(x),
    "round": lambda x, y: np.round(x),
    "reciprocal": lambda x, y: np.reciprocal(x),
    "sqrt": lambda x, y: np.sqrt(x),
    "isnan": lambda x, y: np.isnan(x),
    "isinf": lambda x, y: np.isinf(x),
    "isfinite": lambda x, y: np.isfinite(x),
    "leaky_relu": lambda x, y: np.where(x > 0, x, x * x.dtype.type(0.25)),
    "to_float": lambda x, y: x.astype(np.float32),
    "to_double": lambda x, y: x.astype(np.float64),
    "to_int64": lambda x, y: x.astype(np.int64),
    "to_uint8": lambda x, y: x.astype(np.uint8),
    "bitwise_and": lambda x, y: x & y,
    "bitwise_or": lambda x, y: x | y,
    "bitwise_xor": lambda x, y: x ^ y,
    "bitwise_not": lambda x, y: ~x,
    # calque takes the count modulo the width, as documented; NumPy's result is 0 or -1 beyond it.
    "shift_left": lambda x, y: x << (y & (8 * y.itemsize - 1)),
    "shift_right": lambda x, y: x >> (y & (8 * y.itemsize - 1)),
    "one_hot": one_hot,
    # Elementary functions and activations
    "exp": elementary("exp", lambda x, y: np.exp(x)),
    "exp2": elementary("exp2", lambda x, y: np.exp2(x)),
    "expm1": elementary("expm1", lambda x, y: np.expm1(x)),
    "log": elementary("log", lambda x, y: np.log(x)),
    "log2": elementary("log2", lambda x, y: np.log2(x)),
    "log1p": elementary("log1p", lambda x, y: np.log1p(x)),
    "pow": elementary("pow", lambda x, y: np.power(x, y)),
    "rsqrt": elementary("rsqrt", lambda x, y: 1 / np.sqrt(x)),
    "cbrt": elementary("cbrt", lambda x, y: np.cbrt(x)),
    "erf": by_c("erf", each(math.erf)),
    "erfc": by_c("erfc", each(math.erfc)),
    "sin": elementary("sin", lambda x, y: np.sin(x)),
    "cos": elementary("cos", lambda x, y: np.cos(x)),
    "tan": elementary("tan", lambda x, y: np.tan(x)),
    "asin": elementary("asin", lambda x, y: np.arcsin(x)),
    "acos": elementary("acos", lambda x, y: np.arccos(x)),
    "atan": elementary("atan", lambda x, y: np.arctan(x)),
    "atan2": elementary("atan2", lambda x, y: np.arctan2(x, y)),
    "sinh": elementary("sinh", lambda x, y: np.sinh(x)),
    "cosh": elementary("cosh", lambda x, y: np.cosh(x)),
    "tanh": elementary("tanh", lambda x, y: np.tanh(x)),
    "asinh": elementary("asinh", lambda x, y: np.arcsinh(x)),
    "acosh": elementary("acosh", lambda x, y: np.arccosh(x)),
    "atanh": elementary("atanh", lambda x, y: np.arctanh(x)),
    "sigmoid": elementary("sigmoid", lambda x, y: sigmoid(x)),
    "softplus": composed(3, lambda x: np.logaddexp(x, 0)),
    "silu": composed(silu_bound, lambda x: x * sigmoid(x)),
    "gelu": composed(gelu_bound, lambda x: 0.5 * x * erfc_wide(-x / SQRT2)),
    "gelu_tanh": composed(gelu_tanh_bound, lambda x: x * sigmoid(gelu_tanh_argument(x))),
    "elu": composed(2, lambda x: np.where(x > 0, x, np.expm1(x))),
    # Reductions
    "sum": total(None),
    "sum_0": total(0),
    "sum_1": total(1),
    "sum_1_keepdims": total(1, keepdims=True),
    "sum_of_product": products(lambda x, y: np.sum(x * y, -1, **({"dtype": np.int64} if is_integer(x) else {})),
                               lambda x: x.shape[1]),
    "sum_of_bool": lambda x, y: np.sum(x > y, 0),
    "prod_0": product(lambda x: np.prod(x, 0)),
    "prod_1": product(lambda x: np.prod(x, 1)),
    "any_0": lambda x, y: np.any(x, 0),
    "any_1": lambda x, y: np.any(x, 1),
    "all_0": lambda x, y: np.all(x, 0),
    "all_1": lambda x, y: np.all(x, 1),
    "cumsum_0": running_sum(0),
    "cumsum_1": running_sum(1),
    "cumprod_0": product(lambda x: np.cumprod(x, 0)),
    "cumprod_1": product(lambda x: np.cumprod(x, 1)),
    "mean": mean(None),
    "mean_0": mean(0),
    "mean_1": mean(1),
    "var_0": variance(0),
    "var_1": variance(1),
    "std_0": variance(0, is_root=True),
    "std_1": variance(1, is_root=True),
    "max_0": lambda x, y: EitherZero(np.max(x, 0)),
    "max_1": lambda x, y: EitherZero(np.max(x, 1)),
    "min_0": lambda x, y: EitherZero(np.min(x, 0)),
    "min_1": lambda x, y: EitherZero(np.min(x, 1)),
    "argmax_0": lambda x, y: np.argmax(x, 0),
    "argmax_1": lambda x, y: np.argmax(x, 1),
    "argmin_0": lambda x, y: np.argmin(x, 0),
    "argmin_1": lambda x, y: np.argmin(x, 1),
    "logsumexp_0": logsumexp(0),
    "logsumexp_1": logsumexp(1),
    "softmax_0": softmax(0),
    "softmax_1": softmax(1),
    "log_softmax_0": log_softmax(0),
    "log_softmax_1": log_softmax(1),
    # Shapes and places
    "reshape": lambda x, y: x.reshape(1, x.size),
    "transpose": lambda x, y: x.T,
    "transpose_021": lambda x, y: np.transpose(np.stack([x, y]), (0, 2, 1)),
    "expand_dims": lambda x, y: np.expand_dims(x, 1),
    "swapaxes": lambda x, y: np.swapaxes(np.stack([x, y], 1), 0, 2),
    "squeeze": lambda x, y: np.squeeze(x[None], 0),
    "split_first": lambda x, y: np.split(np.concatenate([x, y, y, x], 1), 2, 1)[0],
    "split_last": lambda x, y: np.split(np.concatenate([x, y, y, x], 0), 2, 0)[1],
    "flip": lambda x, y: np.flip(x),
    "flip_0": lambda x, y: np.flip(x, 0),
    "flip_1": lambda x, y: np.flip(x, 1),
    "view_range": lambda x, y: x[1:20:3, 0:5],
    "view_step": lambda x, y: x[:, 1:100:2],
    "view_index": lambda x, y: x[-2],
    "view_column": lambda x, y: x[:, 2],
    "broadcast_to": lambda x, y: np.broadcast_to(x, (2, *x.shape)),
    "tril": lambda x, y: np.tril(x),
    "triu": lambda x, y: np.triu(x, 1),
    "zeros_like": lambda x, y: np.zeros_like(x),
    "ones_like": lambda x, y: np.ones_like(x),
    "full_like": lambda x, y: np.full_like(x, 7),
    "concatenate_0": lambda x, y: np.concatenate([x, y], 0),
    "concatenate_1": lambda x, y: np.concatenate([x, y, x], 1),
    "stack_0": lambda x, y: np.stack([x, y], 0),
    "stack_1": lambda x, y: np.stack([x, y], 1),
    "stack_2": lambda x, y: np.stack([x, y], 2),
    "roll_0": lambda x, y: np.roll(x, -1, 0),
    "roll_1": lambda x, y: np.roll(x, 2, 1),
    "pad": lambda x, y: np.pad(x, ((1, 2), (0, 3)), constant_values=7),
    "at_set": lambda x, y: changed(x, np.s_[:, 0:2], lambda part: 9),
    # calque adds 0 to the other elements, which makes 0 of -0.
    "at_add": lambda x, y: changed(x + 0, np.s_[1:3], lambda part: x[1:3] + y[1:3]),
    "take_0": lambda x, y: np.take(x, np.arange(-1, 3), 0),
    "take_1": lambda x, y: np.take(x, [2, 0, 2], 1),
    "take_along_axis": lambda x, y: np.take_along_axis(y, np.argsort(x, 1, kind="stable"), 1),
    "gather": lambda x, y: np.take_along_axis(y, np.argsort(x, 0, kind="stable"), 0),
    "scatter_add": scattered,
    "sort_0": lambda x, y: np.sort(x, 0, kind="stable"),
    "sort_1": lambda x, y: np.sort(x, 1, kind="stable"),
    "argsort_0": lambda x, y: np.argsort(x, 0, kind="stable"),
    "argsort_1": lambda x, y: np.argsort(x, 1, kind="stable"),
    "top_k": lambda x, y: np.take_along_axis(x, largest_first(x, 1)[:, :3], 1),
    "top_k_indices": lambda x, y: largest_first(x, 0)[:3],
    # Arrays from nothing
    "zeros": lambda x, y: np.zeros((2, 3), x.dtype),
    "ones": lambda x, y: np.ones(3, x.dtype),
    "full": lambda x, y: np.full((2, 2), 7, x.dtype),
    "arange": lambda x, y: np.arange(33, dtype=x.dtype),
    "arange_step": lambda x, y: np.arange(20, -11, -3, dtype=x.dtype),
    "linspace": lambda x, y: np.linspace(-1, 2, 33, dtype=x.dtype),
    "linspace_1": lambda x, y: np.linspace(0.5, 2, 1, dtype=x.dtype),
    "eye": lambda x, y: np.eye(4, dtype=x.dtype),
    "eye_offset": lambda x, y: np.eye(3, 5, 1, dtype=x.dtype),
    # Products
    "matmul": products(lambda x, y: x @ y.T, lambda x: x.shape[1]),
    "matmul_transposed": products(lambda x, y: x.T @ y, len),
    "matmul_vector": products(lambda x, y: x @ y[0], lambda x: x.shape[1]),
    "vector_matmul": products(lambda x, y: y[:, 0] @ x, len),
    "matmul_batch": products(lambda x, y: np.stack([x, y]) @ transposed(np.stack([y, x])), lambda x: x.shape[1]),
    "matmul_broadcast": products(lambda x, y: np.stack([x, y]) @ y.T, lambda x: x.shape[1]),
    "dot": products(lambda x, y: np.dot(x.T, y), len),
    "outer": lambda x, y: np.outer(x[0:3], y[0]),
    "einsum_product": products(lambda x, y: np.einsum("ij,kj->ik", x, y), lambda x: x.shape[1]),
    "einsum_rows": products(lambda x, y: np.einsum("ij,ij->i", x, y), lambda x: x.shape[1]),
    "einsum_batch": products(lambda x, y: np.einsum("bij,bkj->bik", np.stack([x, y]), np.stack([y, x])),
                             lambda x: x.shape[1]),
    "einsum_three": products(lambda x, y: np.einsum("ij,kj,kl->il", x, y, x), lambda x: x.shape[1] + len(x)),
}
