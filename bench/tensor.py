"""The peers of bench/tensor.ts: PyTorch for training steps, NumPy for Gram matrices, printed as JSON.

python tensor.py CASE STEPS      CASE as in bench/tensor-child.ts
"""

import json
import os
import resource
import sys
import time

for name in list(os.environ):
    if name.startswith("OPENBLAS_"):
        del os.environ[name]  # its own choice of kernels

import numpy as np  # noqa: E402

what, count = sys.argv[1], int(sys.argv[2])
kind, *sizes = what.split(",")
kind = kind.removeprefix("plain-")  # how our side writes it
a, b, *rest = map(int, sizes)
c = rest[0] if rest else 0
VOCABULARY, HEADS, LAYERS = 512, 4, 2


def initial(size, seed, scale):
    k = np.arange(size, dtype=np.float64)
    return (scale * np.sin(12.9898 * (k % 7919) + 78.233 * seed + 0.37 * (k // 7919))).astype(np.float32)


def timed(run):
    seconds, first = [], 0.0
    for k in range(count + 3):
        started = time.perf_counter()
        value = run()
        first = value if k == 0 else first
        if k >= 3:
            seconds.append(time.perf_counter() - started)
    return seconds, first


def gram(dtype):
    x = initial(a * b, 1, 1.0).reshape(a, b).astype(dtype)
    return timed(lambda: float((x.T @ x)[0, 1]))


def training(torch):
    import torch.nn.functional as F

    torch.set_num_threads(os.cpu_count())
    seed = iter(range(100))

    def weights(*shape, scale=0.02, own=None):
        values = initial(int(np.prod(shape)), next(seed) if own is None else own, scale)
        return torch.from_numpy(values.reshape(shape)).requires_grad_()

    if kind == "decoder":
        D, B, T = a, b, c
        embedding, position = weights(VOCABULARY, D), weights(T, D)
        layers = []
        for _ in range(LAYERS):
            layers.append([weights(D, 3 * D), weights(D, D), weights(D, 4 * D), weights(4 * D, D)])
            layers[-1] += [torch.ones(D, requires_grad=True), torch.ones(D, requires_grad=True)]
        ids = torch.arange(B * T) * 7919 % VOCABULARY
        parameters = [embedding, position, *(w for layer in layers for w in layer)]

        def norm(x, gain):
            return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * gain

        def loss():
            x = F.embedding(ids, embedding).view(B, T, D) + position
            for qkv, out, up, down, g1, g2 in layers:
                q, k, v = (norm(x, g1) @ qkv).view(B, T, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
                mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
                x = x + mixed.transpose(1, 2).reshape(B, T, D) @ out
                x = x + F.relu(norm(x, g2) @ up) @ down
            return F.cross_entropy(x.view(B * T, D) @ embedding.T, ids)
    else:
        sizes = [(b, c), (c, c), (c, 1)]
        layers = [weights(*s, scale=1 / np.sqrt(s[0]), own=k + 1) for k, s in enumerate(sizes)]
        biases = [torch.zeros(s[1], requires_grad=True) for s in sizes]
        x = torch.from_numpy(initial(a * b, 4, 1.0).reshape(a, b))
        y = torch.from_numpy(initial(a, 5, 1.0).reshape(a, 1))
        parameters = [*layers, *biases]

        def loss():
            h = x
            for k, (w, bias) in enumerate(zip(layers, biases)):
                h = h @ w + bias
                if k < 2:
                    h = F.relu(h)
            return (h - y).square().mean()

    adam = torch.optim.Adam(parameters, lr=1e-3, eps=1e-7)

    def step():
        adam.zero_grad()
        value = loss()
        value.backward()
        adam.step()
        return value.item()

    return timed(step)


if kind.startswith("gram"):
    seconds, first = gram(np.float64 if kind == "gram64" else np.float32)
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    version = f"NumPy {np.__version__}, BLAS {blas}"
else:
    import torch

    seconds, first = training(torch)
    blas = "MKL" if torch.backends.mkl.is_available() else "OpenBLAS or none"
    version = f"PyTorch {torch.__version__}, {blas}, {torch.get_num_threads()} threads"
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": seconds, "first": first, "peakMB": peak, "version": version}))
