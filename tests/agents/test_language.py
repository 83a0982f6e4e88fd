"""References as data: what is evaluated is what NumPy gives, and nothing else is evaluated."""

import builtins
from pathlib import Path

import numpy as np
import pytest

from mfmasim.agents import language
from mfmasim.agents.language import evaluate, function_of
from mfmasim.errors import MfmasimError

X = np.linspace(-2, 3, 24).reshape(4, 6)
W = np.arange(6.0) - 2

SAME = [
    "x @ w + 1",
    "np.exp(x - x.max(1, keepdims=True)).sum(axis=1)",
    "x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * w",
    "np.where(x > 0, x, 0.1 * x)[:, ::2]",
    "np.concatenate([x[:2], x[2:] * 2])",
    "np.einsum('ij,j->i', x, w)",
    "x.T.reshape(3, 8)[1:, -1]",
    "np.stack([x[i] * i for i in range(4) if i != 2])",
    "(x.astype(np.float16) + 1).astype(np.float32)",
    "x.shape[0] * 2 ** 5 // 3 % 7 << 2 | 1",
    "sum([w]) if x[0, 0] > 1 or not w[0] == 3 else np.maximum(w, 0)",
    "np.clip(np.rint(x * 8), -3, 3) + np.tril(np.ones((4, 6)))",
]

TORCH = {
    "torch.softmax(x, dim=-1)": np.exp(X) / np.exp(X).sum(1, keepdims=True),
    "F.silu(x)": X / (1 + np.exp(-X)),
    "x.float().pow(2).mean(-1, keepdim=True)": (X**2).mean(1, keepdims=True),
    "torch.matmul(x, w.unsqueeze(1)).squeeze()": X @ W,
    "torch.relu(x).transpose(1, 0)": np.maximum(X, 0).T,
    "torch.cat([x, x], dim=1).permute(1, 0)": np.concatenate([X, X], 1).T,
}

REFUSED = [
    "__import__('os').system('true')",
    "x.__class__",
    "().__class__.__bases__",
    "np.load('/etc/passwd')",
    "np.fromfile('/etc/passwd')",
    "open('/etc/passwd')",
    "eval('1')",
    "x.tofile('out')",
    "np.lib",
    "(lambda: 1)()",
    "[1] * 10 ** 9",
    "'a' * 10 ** 9",
    "2 ** 10 ** 9",
    "1 << 100",
    "np.zeros((10 ** 6, 10 ** 6))",
    "range(10 ** 12)",
    "{1: 2}",
    "f'{x}'",
    "x.sum(*[0])",
    "x := 1",
    "np.einsum('ab,cd,ef,gh,ij,kl,mn->', x, x, x, x, x, x, x)",
    "torch.utils.cpp_extension.load('a')",
    "getattr(x, 'tofile')",
    "len.__self__",
    "no_such_name",
    "x.transpose(0, 1)",
    "x y",
]


@pytest.mark.parametrize("text", SAME)
def test_as_numpy_computes_it(text):
    own = eval(text, {"np": np, "x": X, "w": W})
    assert np.array_equal(evaluate(text, {"x": X, "w": W}), own)


@pytest.mark.parametrize("text", TORCH)
def test_in_the_words_of_pytorch(text):
    assert np.allclose(evaluate(text, {"x": X, "w": W}), TORCH[text], rtol=1e-12)


@pytest.mark.parametrize("text", REFUSED)
def test_everything_else_is_refused(text, monkeypatch):
    monkeypatch.setattr(Path, "open", None)
    monkeypatch.setattr(builtins, "eval", None)
    with pytest.raises(MfmasimError) as found:
        evaluate(text, {"x": X})
    assert "\n" not in str(found.value)


FUNCTION = """
import numpy as np

def attention(q, k, v):
    \"\"\"Row by row.\"\"\"
    out = np.zeros(q.shape)
    for i in range(len(q)):
        if i == 3:
            continue
        s = k @ q[i]
        p, total = np.exp(s - s.max()), 0
        for one in p:
            total += one
        out[i] = (p / total) @ v
    return out
"""


def test_a_function_with_loops():
    q, k, v = (np.sin(np.arange(12.0) * n).reshape(4, 3) for n in (1, 2, 3))
    names = {}
    exec(FUNCTION, names)
    found = function_of(FUNCTION, {})
    assert found.parameters == ["q", "k", "v"]
    assert np.array_equal(found(q, k, v), names["attention"](q, k, v))


def test_a_function_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(language, "MOST_STEPS", 10_000)
    with pytest.raises(MfmasimError, match="more than 10,000 steps"):
        function_of(
            "def f(x):\n    for a in range(1000):\n        for b in range(1000):\n            x = x + 1\n    return x",
            {},
        )(0)
    with pytest.raises(MfmasimError, match="is not evaluated here"):
        function_of("def f(x):\n    while True:\n        pass\n    return x", {})(0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def f(x):\n    import os\n    return os.name", "is not evaluated"),
        ("def f(x):\n    x.shape = 3\n    return x", "takes no assignment"),
        ("def f(x): pass", "ends without a return"),
        ("@print\ndef f(x): return x", "no decorator"),
        ("x = 1\ndef f(x): return x", "one function"),
        ("def f(x, y): return x", "takes 2 arrays"),
    ],
)
def test_functions_that_are_refused(text, why):
    with pytest.raises(MfmasimError, match=why):
        function_of(text, {})(X)
