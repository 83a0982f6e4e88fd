"""amd-mla-decode: products by PyTorch; rotary embedding and softmax in kernels."""

CUDA_SRC = r"""
#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

// x[row][width]: pairs (i, i + width / 2) turned by the angle of position[row], in place
extern "C" __global__ void rope(__hip_bfloat16* x, const float* cosine, const float* sine, const int* position,
                                int width) {
  const int row = blockIdx.x, i = threadIdx.x, half = width / 2;
  if (i >= half) return;
  __hip_bfloat16* pair = x + size_t(row) * width + i;
  const float a = __bfloat162float(pair[0]), b = __bfloat162float(pair[half]);
  const float c = cosine[position[row] * half + i], s = sine[position[row] * half + i];
  pair[0] = __float2bfloat16(a * c - b * s);
  pair[half] = __float2bfloat16(b * c + a * s);
}

__device__ float joined(float value, float* parts, bool greatest) {
  for (int step = 32; step; step /= 2) {
    const float other = __shfl_xor(value, step);
    value = greatest ? fmaxf(value, other) : value + other;
  }
  if (threadIdx.x % 64 == 0) parts[threadIdx.x / 64] = value;
  __syncthreads();
  value = parts[0];
  for (int wave = 1; wave < 4; ++wave) value = greatest ? fmaxf(value, parts[wave]) : value + parts[wave];
  __syncthreads();  // the parts are used again
  return value;
}

// out[row] = softmax(scale * x[row]), one workgroup of 256 a row
extern "C" __global__ void softmax(const __hip_bfloat16* x, __hip_bfloat16* out, int columns, float scale) {
  __shared__ float parts[4];
  const __hip_bfloat16* row = x + size_t(blockIdx.x) * columns;
  float greatest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += 256) greatest = fmaxf(greatest, scale * __bfloat162float(row[i]));
  greatest = joined(greatest, parts, true);
  for (int i = threadIdx.x; i < columns; i += 256) sum += expf(scale * __bfloat162float(row[i]) - greatest);
  sum = joined(sum, parts, false);
  for (int i = threadIdx.x; i < columns; i += 256)
    out[size_t(blockIdx.x) * columns + i] = __float2bfloat16(expf(scale * __bfloat162float(row[i]) - greatest) / sum);
}

void turn(torch::Tensor x, torch::Tensor cosine, torch::Tensor sine, torch::Tensor position) {
  TORCH_CHECK(x.is_contiguous(), "rows have to follow each other");
  const int width = x.size(1);
  rope<<<x.size(0), width / 2>>>((__hip_bfloat16*)x.data_ptr(), cosine.data_ptr<float>(), sine.data_ptr<float>(),
                                 position.data_ptr<int>(), width);
}

torch::Tensor rows(torch::Tensor x, double scale) {
  auto out = torch::empty_like(x);
  const int columns = x.size(-1);
  softmax<<<x.numel() / columns, 256>>>((__hip_bfloat16*)x.data_ptr(), (__hip_bfloat16*)out.data_ptr(), columns, scale);
  return out;
}
"""
CPP_SRC = """
void turn(torch::Tensor x, torch::Tensor cosine, torch::Tensor sine, torch::Tensor position);
torch::Tensor rows(torch::Tensor x, double scale);
"""


def module():
    """The extension."""
    from torch.utils.cpp_extension import load_inline

    return load_inline("mla_decode", CPP_SRC, CUDA_SRC, functions=["turn", "rows"])


def custom_kernel(data):
    """The challenge's entry: sizes with weights, one token of each sequence, and the cache of keys and values."""
    import torch

    config, x, cache = data
    own, batch, heads = module(), x.shape[0], config.n_heads
    nope, turned, width = config.qk_nope_head_dim, config.qk_rope_head_dim, config.v_head_dim
    q = (x @ config.Q_proj_down_weight.t() @ config.Q_proj_up_weight.t()).view(batch, heads, nope + turned)
    kv, length = cache(x @ config.KV_proj_down_weight.t())
    latent, key = kv.split([config.kv_lora_rank, turned], -1)
    up = (latent @ config.KV_proj_up_weight.t()).view(batch, length, heads, nope + width)

    steps = torch.arange(turned // 2, device=x.device, dtype=torch.bfloat16)
    angles = torch.arange(length, device=x.device)[:, None] * 10000 ** (-steps / (turned // 2))
    cosine, sine = angles.cos().bfloat16().float(), angles.sin().bfloat16().float()
    q_turned, key = q[..., nope:].reshape(-1, turned).contiguous(), key.reshape(-1, turned).contiguous()
    last = torch.full((batch * heads,), length - 1, dtype=torch.int32, device=x.device)
    own.turn(q_turned, cosine, sine, last)
    own.turn(key, cosine, sine, torch.arange(length, dtype=torch.int32, device=x.device).repeat(batch))

    q = torch.cat([q[..., :nope], q_turned.view(batch, heads, turned)], -1)[:, :, None]
    shared = key.view(batch, 1, length, turned).expand(-1, heads, -1, -1)
    k = torch.cat([up[..., :nope].permute(0, 2, 1, 3), shared], -1)
    weights = own.rows((q @ k.transpose(-1, -2)).contiguous(), (nope + turned) ** -0.5)
    y = (weights @ up[..., nope:].permute(0, 2, 1, 3)).reshape(batch, 1, -1) @ config.wo_weight.t()
    return y, cache.get_data()
