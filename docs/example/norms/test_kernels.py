"""The kernels on tensors of PyTorch: `pytest` here. Tensors of the CPU go in and come out, without a copy."""

import pytest

torch = pytest.importorskip("torch")


@pytest.mark.mfmasim(arch=["gfx942", "gfx950"])
def test_layernorm_of_bfloat16_tensors(mfmasim_device, mfmasim_compile):
    kernel = mfmasim_compile("kernels.hip")["layernorm"]
    x, y = torch.randn(4, 300, dtype=torch.bfloat16), torch.empty(4, 300, dtype=torch.bfloat16)
    gamma, beta = torch.randn(300), torch.randn(300)
    mfmasim_device.launch(kernel, 4, 64, [x, gamma, beta, y, 300])
    torch.testing.assert_close(y, torch.nn.functional.layer_norm(x.float(), (300,), gamma, beta).bfloat16())


@pytest.mark.mfmasim(arch=["gfx942", "gfx950"])
def test_flash_attention(mfmasim_device, mfmasim_compile):
    kernel = mfmasim_compile("kernels.hip")["flash_attention"]
    q, k, v = (torch.randn(rows, 64, dtype=torch.float16) for rows in (32, 48, 48))
    out = torch.empty(32, 64)
    mfmasim_device.launch(kernel, 2, 64, [q, k, v, out, 48, 0.125])
    expected = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float())
    torch.testing.assert_close(out, expected, atol=2e-3, rtol=1e-2)
