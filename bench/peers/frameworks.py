# SPDX-License-Identifier: MIT
"""Times the rows of the comparison in a Python framework, on one thread: python3 frameworks.py numpy|jax|torch|tensorflow

Prints a JSON object: nanoseconds an item by row, with the names that the C++ programs use.
"""
import json
import os
import sys
import time

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS",
             "TF_NUM_INTEROP_THREADS"):
    os.environ[name] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np  # noqa: E402

CHAINS = (1000, 100000, 10000000)
SOFTMAX = ((64, 1000), (1000, 1000), (4096, 64), (4096, 10))
PRODUCTS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
GRADIENTS = (1000, 1000000)


def numbers(*extents, seed=0):
    return np.random.default_rng(seed).uniform(-3, 3, extents).astype(np.float32)


def seconds(run, budget=0.2):
    """The least time of a call, over enough calls to fill the budget."""
    run()
    begin = time.perf_counter()
    run()
    count = max(1, min(10000, int(budget / 10 / (time.perf_counter() - begin + 1e-9))))
    best = float("inf")
    end = time.perf_counter() + budget
    while time.perf_counter() < end:
        begin = time.perf_counter()
        for _ in range(count):
            run()
        best = min(best, (time.perf_counter() - begin) / count)
    return best


class NumPy:
    """Operations one by one, into arrays that are there where NumPy can."""

    def array(self, x):
        return x

    def compile(self, fn):
        return fn

    def wait(self, x):
        return x

    def rows(self):
        def sigmoid(x):
            return 1 / (1 + np.exp(-x))

        def softmax(x):
            e = np.exp(x - x.max(-1, keepdims=True))
            e /= e.sum(-1, keepdims=True)
            return e

        def layer_norm(x):
            c = x - x.mean(-1, keepdims=True)
            return c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5)

        def logsumexp(x):
            m = x.max(-1, keepdims=True)
            return np.log(np.exp(x - m).sum(-1)) + m[:, 0]

        return dict(sigmoid=sigmoid, tanh=np.tanh, exp=np.exp, sum=np.sum, softmax=softmax, layer_norm=layer_norm,
                    logsumexp=logsumexp, matmul=np.matmul, transpose=np.transpose, value_and_grad=None)


class Jax(NumPy):
    def __init__(self):
        import jax
        self.jax = jax

    def array(self, x):
        return self.jax.device_put(x)

    def compile(self, fn):
        return self.jax.jit(fn)

    def wait(self, x):
        return self.jax.block_until_ready(x)

    def rows(self):
        jax, jnp = self.jax, self.jax.numpy

        def layer_norm(x):
            c = x - x.mean(-1, keepdims=True)
            return c * jax.lax.rsqrt((c * c).mean(-1, keepdims=True) + 1e-5)

        return dict(sigmoid=jax.nn.sigmoid, tanh=jnp.tanh, exp=jnp.exp, sum=jnp.sum,
                    softmax=lambda x: jax.nn.softmax(x, -1), layer_norm=layer_norm,
                    logsumexp=lambda x: jax.nn.logsumexp(x, -1), matmul=jnp.matmul, transpose=jnp.transpose,
                    value_and_grad=jax.value_and_grad(lambda a, b, c: jnp.tanh(a * b + c).sum()))


class Torch(NumPy):
    """Eager: what torch.compile adds is minutes of a C++ compiler for rows that it seldom wins on a CPU."""

    def __init__(self):
        import torch
        self.torch = torch
        torch.set_num_threads(1)

    def array(self, x):
        return self.torch.from_numpy(np.ascontiguousarray(x))

    def rows(self):
        torch = self.torch

        def value_and_grad(a, b, c):
            a = a.detach().requires_grad_()
            y = torch.tanh(a * b + c).sum()
            return y, torch.autograd.grad(y, a)[0]

        return dict(sigmoid=torch.sigmoid, tanh=torch.tanh, exp=torch.exp, sum=torch.sum,
                    softmax=lambda x: torch.softmax(x, -1),
                    layer_norm=lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
                    logsumexp=lambda x: torch.logsumexp(x, -1), matmul=torch.matmul, transpose=lambda x: x.T,
                    value_and_grad=value_and_grad)


class TensorFlow(NumPy):
    def __init__(self):
        import tensorflow as tf
        self.tf = tf
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)

    def array(self, x):
        return self.tf.constant(x)

    def compile(self, fn):
        return self.tf.function(fn, jit_compile=True)

    def rows(self):
        tf = self.tf

        def layer_norm(x):
            c = x - tf.reduce_mean(x, -1, keepdims=True)
            return c * tf.math.rsqrt(tf.reduce_mean(c * c, -1, keepdims=True) + 1e-5)

        def value_and_grad(a, b, c):
            with tf.GradientTape() as tape:
                tape.watch(a)
                y = tf.reduce_sum(tf.tanh(a * b + c))
            return y, tape.gradient(y, a)

        return dict(sigmoid=tf.sigmoid, tanh=tf.tanh, exp=tf.exp,
                    sum=lambda x, axis=None: tf.reduce_sum(x, axis), softmax=lambda x: tf.nn.softmax(x, -1),
                    layer_norm=layer_norm, logsumexp=lambda x: tf.reduce_logsumexp(x, -1), matmul=tf.matmul,
                    transpose=tf.transpose, value_and_grad=value_and_grad)


def measure(library):
    of = library.rows()
    result = {}

    def add(row, items, fn, *arguments):
        compiled = library.compile(fn)
        arrays = [library.array(x) for x in arguments]
        result[row] = 1e9 * seconds(lambda: library.wait(compiled(*arrays))) / items

    for n in CHAINS:
        a, b, c = (numbers(n, seed=seed) for seed in range(3))
        add(f"a*b+c-0.5a/{n}", n, lambda a, b, c: a * b + c - 0.5 * a, a, b, c)
        add(f"tanh(a*b+c)*sigmoid(a)-0.5c/{n}", n,
            lambda a, b, c: of["tanh"](a * b + c) * of["sigmoid"](a) - 0.5 * c, a, b, c)
    n = 100000
    add(f"exp/{n}", n, lambda x: of["exp"](x), numbers(n))
    add(f"tanh/{n}", n, lambda x: of["tanh"](x), numbers(n))
    for n in (100000, 10000000):
        add(f"sum/{n}", n, lambda x: of["sum"](x), numbers(n))
    square, items = numbers(1000, 1000), 1000000
    add("row sums/1000x1000", items, lambda x: of["sum"](x, 1), square)
    add("column sums/1000x1000", items, lambda x: of["sum"](x, 0), square)
    add("log-sum-exp/1000x1000", items, of["logsumexp"], square)
    for rows, columns in SOFTMAX:
        add(f"softmax/{rows}x{columns}", rows * columns, of["softmax"], numbers(rows, columns))
    add("layer norm/1000x1000", items, of["layer_norm"], square)
    add("matrix + row/1000x1000", items, lambda x, y: x + y, square, numbers(1000))
    add("matrix + column/1000x1000", items, lambda x, y: x + y, square, numbers(1000, 1))
    add("a + transpose(b)/1000x1000", items, lambda x, y: x + of["transpose"](y), square, numbers(1000, 1000, seed=1))
    for n in PRODUCTS:
        add(f"matmul/{n}", 2 * n**3, of["matmul"], numbers(n, n), numbers(n, n, seed=1))
    add("matmul/30x784x128", 2 * 30 * 784 * 128, of["matmul"], numbers(30, 784), numbers(784, 128))
    for n in GRADIENTS:
        if of["value_and_grad"] is not None:
            a, b, c = (numbers(n, seed=seed) for seed in range(3))
            add(f"value+grad of sum(tanh(a*b+c))/{n}", n, of["value_and_grad"], a, b, c)
    return result


LIBRARIES = {"numpy": NumPy, "jax": Jax, "torch": Torch, "tensorflow": TensorFlow}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in LIBRARIES:
        sys.exit(__doc__)
    print(json.dumps(measure(LIBRARIES[sys.argv[1]]())))
