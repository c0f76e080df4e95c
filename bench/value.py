"""The peers of bench/value.ts on the same arrays: one measured run, printed as JSON.

python value.py numpy|python|obp|scope FOLDER T_CRITICAL

numpy   vectorised over ragged arrays, log-space, no loop over episodes or turns
python  loops over episodes and turns, WIS and IS only, as per-step libraries do
obp     Open Bandit Pipeline: one-turn case (the first turn of each episode)
scope   SCOPE-RL: episodes of equal length
"""

import json
import resource
import sys
import time
from pathlib import Path

mode, folder, critical = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])


def quiet_torch():
    """obp imports torch for learners; its estimators run on NumPy alone, so an empty module stands in."""
    import types

    class Empty(types.ModuleType):
        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            if name[0].isupper():
                return type(name, (), {})
            return Empty(f"{self.__name__}.{name}")

        def __mro_entries__(self, bases):
            return (object,)

    for name in ("torch", "torch.nn", "torch.nn.functional", "torch.optim", "torch.utils", "torch.utils.data"):
        sys.modules[name] = Empty(name)


import numpy as np  # noqa: E402


def load(name, dtype):
    return np.fromfile(folder / f"{name}.bin", dtype=dtype)


offsets = load("offsets", np.int32)
b, p = load("behaviour", np.float64), load("target", np.float64)
r, task = load("rewards", np.float64), load("task", np.int32)


cpu_start = 0.0


def start_cpu():
    """CPU time counts from here: a library's import is no part of its run."""
    global cpu_start
    cpu_start = time.process_time()


def pareto(w):
    S = len(w)
    M = int(np.ceil(min(S / 5, 3 * np.sqrt(S))))
    top = np.sort(np.partition(w, S - M - 1)[S - M - 1 :])
    x = (top[1:] - top[0]) / top[-1]
    m = 30 + int(np.floor(np.sqrt(M)))
    j = np.arange(1, m + 1)
    grid = 1 / x[-1] + (1 - np.sqrt(m / (j - 0.5))) / (3 * x[int(M / 4 + 0.5) - 1])
    k = np.log1p(-grid[:, None] * x).mean(axis=1)
    L = M * (np.log(-grid / k) - k - 1)
    weight = np.exp(L - L.max())
    best = (weight * grid).sum() / weight.sum()
    return (M * np.log1p(-best * x).mean() + 5) / (M + 10)


def vectorised():
    q, v = load("q", np.float64), load("v", np.float64)
    started = time.perf_counter()
    n, K = len(offsets) - 1, int(task.max()) + 1
    start, length = offsets[:-1], np.diff(offsets)
    T = int(length.max())
    prefix = np.cumsum(p - b)
    before = np.where(start > 0, prefix[start - 1], 0.0)
    w = np.exp(prefix - np.repeat(before, length))
    t = np.arange(len(r), dtype=np.int32) - np.repeat(start, length)
    last = offsets[1:] - 1
    wT, G = w[last], np.add.reduceat(r, start)
    alive = np.bincount(t, minlength=T)
    B = np.bincount(t, weights=w, minlength=T)
    carried = B + np.cumsum(np.bincount(length, weights=wT, minlength=T + 1))[:T]
    out = {}

    def add(name, value, psi):
        d = np.bincount(task, weights=psi - psi.mean(), minlength=K)
        se = np.sqrt(K / (K - 1) * (d * d).sum()) / n
        out[name] = [value, se, value - critical * se, value + critical * se]

    def ratios(x, first, names):
        wx = w * x
        a = np.bincount(t, weights=wx, minlength=T)
        psi = np.add.reduceat(wx, start) + first
        add(names[0], psi.mean(), psi)
        term = a / carried
        later = np.append(np.cumsum((n * term / carried)[::-1])[::-1], 0.0)
        psi = np.add.reduceat(w * (x - term[t]) * (n / carried)[t], start) - wT * later[length] + first
        add(names[1], first.mean() + term.sum(), psi)
        term = a / B
        d = w * (x - term[t]) / B[t]
        add(names[2], first.mean() + term.sum(), n * np.add.reduceat(d, start) + first)
        if len(names) > 3:
            psi = np.add.reduceat(d * alive[t] + term[t], start)
            add(names[3], (term * alive / n).sum(), psi)

    add("IS", (wT * G).mean(), wT * G)
    wis = (wT * G).sum() / wT.sum()
    add("WIS", wis, wT * (G - wis) / wT.mean())
    zero = np.zeros(n)
    ratios(r, zero, ["PDIS", "WPDIS carried", "WPDIS alive", "WPDIS alive-mean-over-n"])
    following = np.append(v[1:], 0.0)
    following[last] = 0.0
    ratios(r + following - q, v[start], ["DR", "WDR carried", "WDR alive"])
    ess = wT.sum() ** 2 / (wT * wT).sum()
    return time.perf_counter() - started, {"estimates": out, "ess": ess, "kHat": pareto(wT)}


def loops():
    lists = offsets.tolist(), b.tolist(), p.tolist(), r.tolist()
    started = time.perf_counter()
    from math import exp

    at, lb, lp, lr = lists
    total = weighted = mean = 0.0
    for i in range(len(at) - 1):
        log = G = 0.0
        for k in range(at[i], at[i + 1]):
            log += lp[k] - lb[k]
            G += lr[k]
        w = exp(log)
        total += w
        weighted += w * G
    mean = weighted / (len(at) - 1)
    return time.perf_counter() - started, {"estimates": {"IS": [mean], "WIS": [weighted / total]}}


def bandit():
    quiet_torch()
    import logging

    logging.disable(logging.CRITICAL)
    from obp.ope import InverseProbabilityWeighting, SelfNormalizedInverseProbabilityWeighting

    first = offsets[:-1]
    reward, pscore, pi = r[first], np.exp(b[first]), np.exp(p[first])
    n = len(first)
    # Two actions; the one that was taken is action 0 here, so its probability is column 0.
    action, position = np.zeros(n, dtype=int), np.zeros(n, dtype=int)
    action_dist = np.stack([pi, 1 - pi], axis=1)[:, :, None]
    out = {}
    start_cpu()
    started = time.perf_counter()
    for name, make in (("IS", InverseProbabilityWeighting), ("WIS", SelfNormalizedInverseProbabilityWeighting)):
        given = dict(reward=reward, action=action, pscore=pscore, action_dist=action_dist, position=position)
        value = make().estimate_policy_value(**given)
        found = make().estimate_interval(**given, n_bootstrap_samples=100, random_state=1)
        out[name] = [float(value), None, *[float(x) for k, x in found.items() if k != "mean"]]
    return time.perf_counter() - started, {"estimates": out}


def equal_length():
    import io
    import logging
    from contextlib import redirect_stderr

    logging.disable(logging.CRITICAL)
    with redirect_stderr(io.StringIO()):
        from scope_rl.ope import discrete

    T = int(offsets[1])
    pscore, pi = np.exp(b), np.exp(p)
    given = dict(
        step_per_trajectory=T,
        action=np.zeros(len(r), dtype=int),
        reward=r,
        pscore=pscore,
        evaluation_policy_action_dist=np.stack([pi, 1 - pi], axis=1),
    )
    names = {
        "IS": discrete.TrajectoryWiseImportanceSampling,
        "PDIS": discrete.PerDecisionImportanceSampling,
        "WIS": discrete.SelfNormalizedTIS,
        "WPDIS alive": discrete.SelfNormalizedPDIS,
    }
    out = {}
    start_cpu()
    started = time.perf_counter()
    for name, make in names.items():
        value = make().estimate_policy_value(**given)
        found = make().estimate_interval(**given, n_bootstrap_samples=100, random_state=1)
        out[name] = [float(value), None, *[float(x) for k, x in found.items() if k != "mean"]]
    return time.perf_counter() - started, {"estimates": out}


start_cpu()
seconds, result = {"numpy": vectorised, "python": loops, "obp": bandit, "scope": equal_length}[mode]()
try:
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
except Exception:
    blas = "unknown"
print(
    json.dumps(
        {
            "seconds": seconds,
            "cpuSeconds": time.process_time() - cpu_start,
            "peakMB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "version": f"NumPy {np.__version__}, BLAS {blas}, Python {sys.version.split()[0]}",
            **result,
        },
        default=float,
    )
)
