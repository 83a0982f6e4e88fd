"""Run under `mfmasim hiprt`: each submission of docs/example/challenge against its problem in plain PyTorch."""

import sys
from pathlib import Path
from types import SimpleNamespace


def drawn(*shape, dtype, scale=1.0):
    """Random values on the device."""
    import torch

    return (torch.randn(shape, device="cuda") * scale).to(dtype)


def fp8_mm(kernel):
    """A product of FP8 values with a scale for each 128 of K, and for 128 columns."""
    import torch

    m, n, k = 40, 150, 256
    a, b = drawn(k, m, dtype=torch.float8_e4m3fnuz), drawn(k, n, dtype=torch.float8_e4m3fnuz)
    sa, sb = drawn(2, m, dtype=torch.float32), drawn(2, 2, dtype=torch.float32)
    c = kernel((a.T, b.T, sa.T, sb.T, torch.zeros((m, n), dtype=torch.bfloat16, device="cuda")))
    left = a.float() * sa.repeat_interleave(128, 0)
    right = b.float() * sb.repeat_interleave(128, 0).repeat_interleave(128, 1)[:, :n]
    return c, (left.T @ right).bfloat16()


def moe(kernel):
    """Two of three experts for each token, and one for all."""
    import torch

    hidden, inner, experts, chosen = 48, 32, 3, 2
    half = torch.float16
    weights = {"router.weight": drawn(experts, hidden, dtype=half, scale=0.2)}
    for name in [*(f"experts.{e}" for e in range(experts)), "shared_experts"]:
        for number, shape in enumerate([(hidden, inner), (hidden, inner), (inner, hidden)]):
            weights[f"{name}.{number}.weight"] = drawn(*shape, dtype=half, scale=0.2)
    x = drawn(1, 9, hidden, dtype=half)
    out = kernel((x, weights, {"n_experts_per_token": chosen, "n_routed_experts": experts}))

    def expert(name, row):
        w = [weights[f"{name}.{number}.weight"] for number in range(3)]
        return (torch.nn.functional.silu(row @ w[0]) * (row @ w[1])) @ w[2]

    rows = []
    for token in x[0]:
        best = torch.softmax(weights["router.weight"] @ token, 0).topk(chosen)
        routed = [p * expert(f"experts.{e}", token) for p, e in zip(best.values, best.indices.tolist(), strict=True)]
        rows.append(expert("shared_experts", token) + sum(routed))
    return out, torch.stack(rows)[None]


def mla_decode(kernel):
    """One token of each of two sequences; attention over what the cache has, written for one head at a time."""
    import torch

    bf, batch, dim, heads, nope, turned, width, latent, before = torch.bfloat16, 2, 64, 3, 16, 8, 12, 20, 5
    config = SimpleNamespace(n_heads=heads, qk_nope_head_dim=nope, qk_rope_head_dim=turned, v_head_dim=width)
    config.kv_lora_rank = latent
    config.Q_proj_down_weight = drawn(24, dim, dtype=bf, scale=0.1)
    config.Q_proj_up_weight = drawn((nope + turned) * heads, 24, dtype=bf, scale=0.2)
    config.KV_proj_down_weight = drawn(latent + turned, dim, dtype=bf, scale=0.1)
    config.KV_proj_up_weight = drawn((nope + width) * heads, latent, dtype=bf, scale=0.2)
    config.wo_weight = drawn(dim, heads * width, dtype=bf, scale=0.2)
    x, kept = drawn(batch, 1, dim, dtype=bf), drawn(batch, before + 1, latent + turned, dtype=bf)

    class Cache:
        def __call__(self, new):
            kept[:, before:] = new
            return kept, before + 1

        def get_data(self):
            return kept

    y, data = kernel((config, x, Cache()))
    assert data is kept

    def turn(row, position):
        angles = position * 10000 ** (-torch.arange(turned // 2, dtype=bf) / (turned // 2))
        cosine, sine = angles.cos().float(), angles.sin().float()
        first, second = row.cpu().float().chunk(2)
        return torch.cat([first * cosine - second * sine, second * cosine + first * sine])

    out = []
    for b in range(batch):
        q = (config.Q_proj_up_weight @ (config.Q_proj_down_weight @ x[b, 0])).view(heads, -1).cpu()
        up = (kept[b, :, :latent] @ config.KV_proj_up_weight.t()).view(before + 1, heads, -1).cpu().float()
        keys = torch.stack([turn(kept[b, s, latent:], s) for s in range(before + 1)])
        found = []
        for h in range(heads):
            scores = up[:, h, :nope] @ q[h, :nope].float() + keys @ turn(q[h, nope:], before)
            found.append(torch.softmax(scores / (nope + turned) ** 0.5, 0) @ up[:, h, nope:])
        out.append(torch.cat(found) @ config.wo_weight.cpu().float().t())
    return y[:, 0], torch.stack(out)


def main(folder):
    """Compare the three."""
    import runpy

    import torch

    torch.manual_seed(3)
    for problem in (fp8_mm, moe, mla_decode):
        actual, expected = problem(runpy.run_path(str(folder / f"{problem.__name__}.py"))["custom_kernel"])
        assert actual.is_cuda
        difference = (actual.cpu().float() - expected.cpu().float()).abs()
        bound = 0.02 * expected.cpu().float().abs().max()
        assert difference.max() < bound, (problem.__name__, difference.max(), bound)
        print(problem.__name__)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
