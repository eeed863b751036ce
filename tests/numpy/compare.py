# SPDX-License-Identifier: MIT
"""Compares what the programs of this folder computed with what NumPy computes from the same arrays:

    python3 tests/numpy/compare.py [--self-test] FOLDER

FOLDER is what the programs were given. Prints a line for each operation and dtype, and fails if a result differs, if an
operation has no reference or a reference no result, or if there are fewer comparisons than COMPARISONS. `--self-test`
spoils one element of each result by little more than is allowed, and fails if that is not noticed somewhere.
"""
import argparse
import collections
import pathlib
import sys
import warnings

import numpy as np
from references import REFERENCES, EitherZero, Near, Rounded, wide

COMPARISONS = 28960


class Verdict:
    """Which elements of a result are as they have to be, how far they are off at most, and how many may be anything."""

    def __init__(self, is_right, worst=0, undecided=0, unit="ULP"):
        self.is_right = is_right
        self.worst = worst
        self.undecided = undecided
        self.unit = unit


def same(x, y):
    """Equal elements, where NaN are equal, and zeros if their signs are."""
    if x.dtype.kind != "f":
        return x == y
    return np.where(np.isnan(y), np.isnan(x), (x == y) & (np.signbit(x) == np.signbit(y)))


def greatest(x):
    return float(np.max(x)) if x.size else 0.0


def is_exact(reference):
    return isinstance(reference, (np.ndarray, EitherZero))


def value_of(reference):
    return reference if isinstance(reference, np.ndarray) else reference.value


def judge(result, reference, kind):
    """The verdict on a result, or a sentence that says why there is none; `kind` is the dtype of the arguments."""
    expected = value_of(reference)
    kind = expected.dtype if is_exact(reference) else kind
    if result.shape != expected.shape:
        return f"has the shape {result.shape}, not {expected.shape}"
    if result.dtype != kind:
        return f"is of {result.dtype}, not {kind}"
    if isinstance(reference, EitherZero):
        return Verdict(same(result + 0, expected + 0))  # -0 + 0 is 0
    if is_exact(reference):
        return Verdict(same(result, expected))

    limits = np.finfo(kind)
    rounded = expected.astype(kind)
    are_finite = np.isfinite(result) & np.isfinite(rounded)
    error = np.where(are_finite, np.abs(result.astype(wide) - expected), 0)
    if isinstance(reference, Near):
        ulp = np.spacing(np.maximum(np.abs(rounded), limits.tiny)).astype(wide)
        error = error / np.where(are_finite, ulp, 1)
        is_right = np.where(are_finite & (expected != 0), error <= reference.bound, same(result, rounded))
        return Verdict(is_right, greatest(error))
    bound = reference.bound + 4 * wide(limits.smallest_subnormal)
    is_equal = np.where(np.isnan(rounded), np.isnan(result), result == rounded)
    is_right = np.where(are_finite, error <= bound, is_equal)
    is_right |= reference.depends & (~np.isfinite(result) | (not reference.is_sum))
    shares = np.where(are_finite & ~reference.depends, error / bound, 0)
    return Verdict(is_right, greatest(shares), np.count_nonzero(reference.depends), "of the bound")


def spoil(result, reference):
    """The result with one element wrong by little, or none if no element can be."""
    decided = np.ones(result.shape, bool)
    if isinstance(reference, Rounded):
        decided = ~reference.depends
    places = np.argwhere(decided)
    if len(places) == 0:
        return None
    place = tuple(places[len(places) // 2])
    spoiled = result.copy()
    element = result[place]
    if result.dtype.kind == "b":
        spoiled[place] = not element
    elif result.dtype.kind in "iu":
        spoiled[place] = element ^ element.dtype.type(1)
    elif not np.isfinite(element):
        spoiled[place] = 1
    elif is_exact(reference):
        spoiled[place] = np.nextafter(element, element.dtype.type(1 if element == 0 else 0))
    else:
        ulp = np.spacing(max(abs(element), np.finfo(result.dtype).tiny)).astype(wide)
        step = reference.bound[place] * (ulp if isinstance(reference, Near) else 1)
        towards_zero = -1 if element > 0 else 1
        spoiled[place] = wide(element) + towards_zero * (2 * step + 8 * ulp)
    return spoiled


class Figures:
    """What was seen of an operation in a dtype."""

    def __init__(self):
        self.comparisons = 0
        self.elements = 0
        self.worst = 0.0
        self.undecided = 0
        self.unit = "ULP"
        self.is_exact = True


def lists(folder):
    """The lines of the programs' lists, each with its folder."""
    found = sorted(folder.glob("*/list.txt"))
    if not found:
        sys.exit(f"compare.py: {folder} has no results")
    for path in found:
        lines = path.read_text().splitlines()
        if not lines or lines[-1] != "end":
            sys.exit(f"compare.py: {path} is not whole: did the program end early?")
        for line in lines[:-1]:
            yield path.parent, line.split()


def compare(folder, is_self_test):
    """The figures of all operations, and what is wrong, in sentences."""
    figures = collections.defaultdict(Figures)
    wrong = []
    for place, (operation, dtype, *files) in lists(folder):
        if operation not in REFERENCES:
            wrong.append(f"{operation}: has no reference")
            continue
        x, y, result = (np.load(place / file) for file in files)
        reference = REFERENCES[operation](x, y)
        if is_self_test:
            result = spoil(result, reference)
            if result is None:
                continue
        seen = figures[operation, dtype]
        seen.comparisons += 1
        seen.elements += result.size
        verdict = judge(result, reference, x.dtype)
        if isinstance(verdict, str):
            wrong.append(f"{operation} of {dtype}{x.shape}: {files[2]} {verdict}")
            continue
        if not np.all(verdict.is_right):
            at = tuple(np.argwhere(~verdict.is_right)[0].tolist())
            wrong.append(f"{operation} of {dtype}{x.shape}: {place.name}/{files[2]} has {result[at]!r} at {at}, "
                         f"not {value_of(reference)[at]!r}; {np.count_nonzero(~verdict.is_right)} such elements")
        seen.is_exact &= is_exact(reference)
        seen.worst = max(seen.worst, verdict.worst)
        seen.undecided += verdict.undecided
        seen.unit = verdict.unit
    return figures, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")  # NumPy warns of means of nothing: they are NaN in both

    figures, wrong = compare(arguments.folder, arguments.self_test)
    comparisons = sum(seen.comparisons for seen in figures.values())
    missing = REFERENCES.keys() - {operation for operation, _ in figures}
    if arguments.self_test:
        other_shape, other_dtype = np.zeros((2, 1)), np.zeros(2, np.float32)
        is_noticed = all(isinstance(judge(other, reference, np.dtype(np.float64)), str)
                         for other in (other_shape, other_dtype)
                         for reference in (np.zeros(2), Near(np.zeros(2), 1), Rounded(np.zeros(2), 1)))
        is_noticed &= not same(np.array([0.0, np.nan, 1.0]), np.array([-0.0, 1.0, np.nan])).any()
        print(f"self-test: {len(wrong)} of {comparisons} spoiled results were noticed")
        sys.exit(len(wrong) != comparisons or len(missing) != 0 or not is_noticed)

    for (operation, dtype), seen in sorted(figures.items()):
        how = "exact" if seen.is_exact else f"worst {seen.worst:.2f} {seen.unit}"
        note = f", {seen.undecided} elements depend on the order" if seen.undecided else ""
        print(f"{operation:18} {dtype:8} {seen.comparisons:4} comparisons, {seen.elements:7} elements, {how}{note}")
    wrong += [f"{name}: has no result" for name in sorted(missing)]
    if comparisons < COMPARISONS:
        wrong.append(f"there should be {COMPARISONS} comparisons")
    for sentence in wrong:
        print("WRONG:", sentence)
    operations = {operation for operation, _ in figures}
    elements, undecided = (sum(getattr(seen, name) for seen in figures.values()) for name in ("elements", "undecided"))
    print(f"{comparisons} comparisons of {len(operations)} operations, {len(figures)} with their dtypes, and of "
          f"{elements} elements, of which {undecided} depend on the order: {len(wrong)} wrong")
    sys.exit(len(wrong) != 0)


if __name__ == "__main__":
    main()
