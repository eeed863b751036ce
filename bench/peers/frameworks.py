# SPDX-License-Identifier: MIT
"""Times the rows of the comparison in a Python framework, on one thread:

    python3 frameworks.py numpy|jax|torch|tensorflow

Prints a JSON object: nanoseconds an item by row, with the names that the C++ programs use. An item of a call is a call.
"""
import itertools
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
CROSS_ENTROPIES = ((1000, 1000), (4096, 10))
PIXELS, HIDDEN, CLASSES = 64, 128, 10
NEW_SHAPES = range(10, 16)
TRAINING = (((5, 10), (10,)), ((784, 128, 10), (10, 30, 64, 256)))  # layers and batches


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


def rows_of_points(np):
    """Rows of all pairs of points, in a module that has NumPy's functions. Distances come from a product, which takes
    half the time of differences or less."""
    def nearest(x, y):
        return ((x * x).sum(-1)[:, None] - 2 * (x @ y.T) + (y * y).sum(-1)).argmin(-1)

    def forces(x, y, mass):
        d = y[None] - x[:, None]
        r2 = (d * d).sum(-1) + 0.25
        return ((mass / (r2 * np.sqrt(r2)))[..., None] * d).sum(1)

    return dict(nearest=nearest, forces=forces, argmax=lambda x: x.argmax(-1))


class NumPy:
    """Operations one by one, into arrays that are there where NumPy can."""

    def array(self, x):
        return x

    def compile(self, fn):
        return fn

    def trace(self, fn, is_dynamic=False):
        """The function as one that traces, in the way that traces fastest; None if there is none."""
        return None

    def wait(self, x):
        return x

    def training(self, weights, biases, images, labels):
        """A function that takes one step of Adam on a batch, with relu between the layers; None if there is none."""
        return None

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
                    logsumexp=logsumexp, matmul=np.matmul, transpose=np.transpose, value_and_grad=None,
                    cross_entropy=None, **rows_of_points(np))


class Jax(NumPy):
    def __init__(self):
        import jax
        self.jax = jax

    def array(self, x):
        return self.jax.device_put(x)

    def compile(self, fn):
        return self.jax.jit(fn)

    def trace(self, fn, is_dynamic=False):
        return None if is_dynamic else self.jax.jit(fn)

    def wait(self, x):
        return self.jax.block_until_ready(x)

    def cross_entropy(self, z, labels):
        of_label = self.jax.numpy.take_along_axis(z, labels[:, None], 1)[:, 0]
        return (self.jax.nn.logsumexp(z, -1) - of_label).mean()

    def adam(self, net, mean, variance, count, gradient):
        tree_map, sqrt = self.jax.tree.map, self.jax.numpy.sqrt
        mean = tree_map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        variance = tree_map(lambda v, g: 0.999 * v + 0.001 * g * g, variance, gradient)
        c1, c2 = 1 - 0.9**count, 1 - 0.999**count
        net = tree_map(lambda p, m, v: p - 1e-3 * (m / c1) / (sqrt(v / c2) + 1e-8), net, mean, variance)
        return net, mean, variance

    def training(self, weights, biases, images, labels):
        jax, jnp = self.jax, self.jax.numpy
        x, y = self.array(images), self.array(labels)
        net = [(self.array(w), self.array(b)) for w, b in zip(weights, biases)]
        zeros = jax.tree.map(jnp.zeros_like, net)
        state = net, zeros, jax.tree.map(jnp.copy, zeros), jnp.float32(0)

        def loss(net, x, y):
            h = x
            for i, (w, b) in enumerate(net):
                h = h @ w + b if i == 0 else jax.nn.relu(h) @ w + b
            return self.cross_entropy(h, y)

        def step(state, x, y):
            net, mean, variance, count = state
            value, gradient = jax.value_and_grad(loss)(net, x, y)
            return (*self.adam(net, mean, variance, count + 1, gradient), count + 1), value

        compiled = jax.jit(step, donate_argnums=0)

        def run():
            nonlocal state
            state, value = compiled(state, x, y)
            self.wait(value)

        return run

    def rows(self):
        jax, jnp = self.jax, self.jax.numpy

        def layer_norm(x):
            c = x - x.mean(-1, keepdims=True)
            return c * jax.lax.rsqrt((c * c).mean(-1, keepdims=True) + 1e-5)

        def train_step(net, mean, variance, step, images, labels, batch):
            x, y = images[batch], labels[batch]

            def loss(net):
                w1, b1, w2, b2 = net
                return self.cross_entropy(jax.nn.relu(x @ w1 + b1) @ w2 + b2, y)

            value, gradient = jax.value_and_grad(loss)(net)
            return *self.adam(net, mean, variance, step, gradient), value

        return dict(train_step=train_step, sigmoid=jax.nn.sigmoid, tanh=jnp.tanh, exp=jnp.exp, sum=jnp.sum,
                    softmax=lambda x: jax.nn.softmax(x, -1), layer_norm=layer_norm,
                    logsumexp=lambda x: jax.nn.logsumexp(x, -1), matmul=jnp.matmul, transpose=jnp.transpose,
                    value_and_grad=jax.value_and_grad(lambda a, b, c: jnp.tanh(a * b + c).sum()),
                    cross_entropy=jax.value_and_grad(self.cross_entropy), **rows_of_points(jnp))


class Torch(NumPy):
    """Eager: what torch.compile adds is minutes of a C++ compiler for rows that it seldom wins on a CPU."""

    def __init__(self):
        import torch
        self.torch = torch
        torch.set_num_threads(1)

    def array(self, x):
        return self.torch.from_numpy(np.ascontiguousarray(x))

    def training(self, weights, biases, images, labels):
        torch = self.torch
        torch.set_flush_denormal(True)
        x, y = self.array(images), self.array(labels.astype(np.int64))
        net = [self.array(a).requires_grad_() for layer in zip(weights, biases) for a in layer]
        adam = torch.optim.Adam(net, 1e-3, fused=True)

        def run():
            h = torch.addmm(net[1], x, net[0])
            for w, b in zip(net[2::2], net[3::2]):
                h = torch.addmm(b, torch.relu(h), w)
            adam.zero_grad()
            torch.nn.functional.cross_entropy(h, y).backward()
            adam.step()

        return run

    def rows(self):
        torch = self.torch

        def value_and_grad(a, b, c):
            a = a.detach().requires_grad_()
            y = torch.tanh(a * b + c).sum()
            return y, torch.autograd.grad(y, a)[0]

        def cross_entropy(z, y):
            z = z.detach().requires_grad_()
            value = torch.nn.functional.cross_entropy(z, y.long())
            return value, torch.autograd.grad(value, z)[0]

        return dict(cross_entropy=cross_entropy, sigmoid=torch.sigmoid, tanh=torch.tanh, exp=torch.exp, sum=torch.sum,
                    softmax=lambda x: torch.softmax(x, -1),
                    layer_norm=lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
                    logsumexp=lambda x: torch.logsumexp(x, -1), matmul=torch.matmul, transpose=lambda x: x.T,
                    value_and_grad=value_and_grad, **rows_of_points(torch))


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

    def trace(self, fn, is_dynamic=False):
        return self.tf.function(fn, reduce_retracing=is_dynamic)

    def training(self, weights, biases, images, labels):
        tf = self.tf
        x, y = self.array(images), self.array(labels)
        net = [tf.Variable(a) for layer in zip(weights, biases) for a in layer]
        moments = [(tf.Variable(tf.zeros_like(p)), tf.Variable(tf.zeros_like(p))) for p in net]
        count = tf.Variable(0.0)

        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                h = x @ net[0] + net[1]
                for w, b in zip(net[2::2], net[3::2]):
                    h = tf.nn.relu(h) @ w + b
                value = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, h))
            count.assign_add(1.0)
            for p, (m, v), g in zip(net, moments, tape.gradient(value, net)):
                tf.raw_ops.ResourceApplyAdam(var=p.handle, m=m.handle, v=v.handle, beta1_power=0.9**count,
                                             beta2_power=0.999**count, lr=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8,
                                             grad=g)
            return value

        return lambda: step(x, y).numpy()

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

        def cross_entropy(z, y):
            with tf.GradientTape() as tape:
                tape.watch(z)
                value = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, z))
            return value, tape.gradient(value, z)

        def nearest(x, y):
            d2 = tf.reduce_sum(x * x, -1)[:, None] - 2 * tf.matmul(x, y, transpose_b=True) + tf.reduce_sum(y * y, -1)
            return tf.argmin(d2, -1)

        def forces(x, y, mass):
            d = y[None] - x[:, None]
            r2 = tf.reduce_sum(d * d, -1) + 0.25
            return tf.reduce_sum((mass / (r2 * tf.sqrt(r2)))[..., None] * d, 1)

        def train_step(net, mean, variance, step, images, labels, batch):
            x, y = tf.gather(images, batch), tf.gather(labels, batch)
            with tf.GradientTape() as tape:
                tape.watch(net)
                w1, b1, w2, b2 = net
                z = tf.nn.relu(x @ w1 + b1) @ w2 + b2
                value = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, z))
            gradient = tape.gradient(value, net)
            mean = [0.9 * m + 0.1 * g for m, g in zip(mean, gradient)]
            variance = [0.999 * v + 0.001 * g * g for v, g in zip(variance, gradient)]
            c1, c2 = 1 - 0.9**step, 1 - 0.999**step
            net = [p - 1e-3 * (m / c1) / (tf.sqrt(v / c2) + 1e-8) for p, m, v in zip(net, mean, variance)]
            return net, mean, variance, value

        return dict(train_step=train_step, cross_entropy=cross_entropy, sigmoid=tf.sigmoid, tanh=tf.tanh, exp=tf.exp,
                    sum=lambda x, axis=None: tf.reduce_sum(x, axis), softmax=lambda x: tf.nn.softmax(x, -1),
                    layer_norm=layer_norm, logsumexp=lambda x: tf.reduce_logsumexp(x, -1), matmul=tf.matmul,
                    transpose=tf.transpose, value_and_grad=value_and_grad, nearest=nearest, forces=forces,
                    argmax=lambda x: tf.argmax(x, -1))


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
    add("argmax of rows/1000x1000", items, of["argmax"], square)
    for rows, columns in SOFTMAX:
        add(f"softmax/{rows}x{columns}", rows * columns, of["softmax"], numbers(rows, columns))
    add("layer norm/1000x1000", items, of["layer_norm"], square)
    add("matrix + row/1000x1000", items, lambda x, y: x + y, square, numbers(1000))
    add("matrix + column/1000x1000", items, lambda x, y: x + y, square, numbers(1000, 1))
    add("a + transpose(b)/1000x1000", items, lambda x, y: x + of["transpose"](y), square, numbers(1000, 1000, seed=1))
    points = numbers(1000, 3), numbers(1000, 3, seed=1)
    add("nearest points/1000x1000", items, of["nearest"], *points)
    add("forces between points/1000x1000", items, of["forces"], *points, numbers(1000, seed=2))
    for n in PRODUCTS:
        add(f"matmul/{n}", 2 * n**3, of["matmul"], numbers(n, n), numbers(n, n, seed=1))
    add("matmul/30x784x128", 2 * 30 * 784 * 128, of["matmul"], numbers(30, 784), numbers(784, 128))
    for rows, columns in CROSS_ENTROPIES:
        if of["cross_entropy"] is not None:
            labels = (np.arange(rows) * 7 % columns).astype(np.int32)
            add(f"cross-entropy and gradient/{rows}x{columns}", rows * columns, of["cross_entropy"],
                numbers(rows, columns), labels)
    for n in GRADIENTS:
        if of["value_and_grad"] is not None:
            a, b, c = (numbers(n, seed=seed) for seed in range(3))
            add(f"value+grad of sum(tanh(a*b+c))/{n}", n, of["value_and_grad"], a, b, c)
    return result


def measure_calls(library):
    """Hits, and the first call with each of a few new shapes: of those the least."""
    of = library.rows()
    result = {}

    def add_hit(row, fn, *arguments):
        result[row] = 1e9 * seconds(lambda: library.wait(fn(*arguments)))

    def add_traces(row, fn, shapes, is_dynamic=False):
        traced = library.trace(fn, is_dynamic)
        if traced is None:
            return
        times = []
        for n in NEW_SHAPES:
            arrays = [library.array(numbers(*(n if e is None else e for e in extents))) for extents in shapes]
            begin = time.perf_counter()
            library.wait(traced(*arrays))
            times.append(time.perf_counter() - begin)
        result[row] = 1e9 * min(times[2:])  # of two is known that extents vary

    def plus_one(x):
        return x + 1

    compiled = library.trace(plus_one) or library.compile(plus_one)
    x = [library.array(numbers(n)) for n in range(4, 13)]
    add_hit("x + 1 of float[4], a hit", compiled, x[0])
    for array in x:
        compiled(array)
    turn = itertools.cycle(x)
    result["x + 1 of nine shapes in rotation, a hit"] = 1e9 * seconds(lambda: library.wait(compiled(next(turn))))
    for what, is_dynamic in ((", a new shape", False), (", a new extent under dynamic", True)):
        add_traces("x + 1" + what, lambda x: x + 1, [(None,)], is_dynamic)
        add_traces("sum of a vector (example 002-1)" + what, lambda x: of["sum"](x), [(None,)], is_dynamic)
        add_traces("sum of a matrix (example 001-2)" + what, lambda x: of["sum"](x), [(None, 8)], is_dynamic)
        add_traces("x + y (example 001-3)" + what, lambda x, y: x + y, [(None,), (None,)], is_dynamic)
        add_traces("softmax" + what, lambda x: of["softmax"](x), [(None, 8)], is_dynamic)
        add_traces("tanh(a*b+c)*sigmoid(a)-0.5c" + what,
                   lambda a, b, c: of["tanh"](a * b + c) * of["sigmoid"](a) - 0.5 * c, [(None,)] * 3, is_dynamic)

    if "train_step" in of:
        step = library.trace(of["train_step"])
        shapes = (PIXELS, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,)
        net = [library.array(numbers(*extents, seed=1) / 20) for extents in shapes]
        mean, variance = ([library.array(np.zeros(extents, np.float32)) for extents in shapes] for _ in range(2))
        images = library.array(numbers(1500, PIXELS))
        labels = library.array(np.zeros(1500, np.int32))
        count = library.array(np.float32(1))

        def run(rows):
            return library.wait(step(net, mean, variance, count, images, labels, rows))

        rows = library.array(np.zeros(64, np.int32))
        result["train step 64-128-10 of 64 rows, a hit"] = 1e9 * seconds(lambda: run(rows))
        times = []
        for n in NEW_SHAPES:
            rows = library.array(np.zeros(n, np.int32))
            begin = time.perf_counter()
            run(rows)
            times.append(time.perf_counter() - begin)
        result["train step 64-128-10, a new shape"] = 1e9 * min(times)
    return result


def measure_training(library):
    result = {}
    for layers, batches in TRAINING:
        for batch in batches:
            weights = [numbers(*extents, seed=1) / 60 for extents in itertools.pairwise(layers)]
            biases = [numbers(n, seed=2) / 60 for n in layers[1:]]
            labels = (np.arange(batch) * 7 % layers[-1]).astype(np.int32)
            run = library.training(weights, biases, numbers(batch, layers[0]) / 3, labels)
            if run is not None:
                name = "-".join(map(str, layers))
                result[f"train step {name} of {batch} rows"] = 1e9 * seconds(run)
    return result


LIBRARIES = {"numpy": NumPy, "jax": Jax, "torch": Torch, "tensorflow": TensorFlow}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in LIBRARIES:
        sys.exit(__doc__)
    library = LIBRARIES[sys.argv[1]]()
    print(json.dumps(measure(library) | measure_calls(library) | measure_training(library)))
