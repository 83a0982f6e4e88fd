// Lanes of one wave take different ways: EXEC is saved, narrowed, inverted and restored.
#include <hip/hip_runtime.h>

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Branches within branches: s_and_saveexec, s_xor, s_or, s_cbranch_execz.
extern "C" __global__ void nested(const unsigned* x, unsigned* out, unsigned* visits, int n) {
    const int i = global_id();
    if (i < n) {
        const unsigned v = x[i];
        unsigned way = 0;
        if (v & 1) {
            visits[i] += 1;
            if (v & 2) {
                visits[n + i] += v;
                way = v & 4 ? 1 : 2;
            } else {
                visits[2 * n + i] -= v;
                if (v & 8) {
                    visits[3 * n + i] ^= v;
                    way = 3;
                }
            }
        } else if (v & 16) {
            visits[2 * n + i] += 100;
            way = 4;
        } else {
            visits[3 * n + i] += 1000;
        }
        out[i] = way;
    }
}

// Returns out of the middle: lanes end at four places while the others go on.
extern "C" __global__ void early_return(const int* x, int* out, int n) {
    const int i = global_id();
    if (i >= n) {
        return;
    }
    out[i] = 1;
    if (x[i] < 0) {
        return;
    }
    out[n + i] = int(unsigned(x[i]) * 3);
    if (x[i] % 3 == 0) {
        return;
    }
    for (int k = 0; k < 4; k++) {
        if (x[i] >> k & 1) {
            out[2 * n + i] = k;
            return;
        }
    }
    out[3 * n + i] = -x[i];
}

// && and || evaluate their right side only where it is needed; the right sides leave traces.
__device__ bool note(unsigned* trace, unsigned value, bool answer) {
    *trace = *trace * 10 + value;
    return answer;
}

extern "C" __global__ void short_circuit(const int* x, int* out, unsigned* trace, int n) {
    const int i = global_id();
    if (i < n) {
        const int v = x[i];
        unsigned* mark = trace + i;
        int result = 0;
        if (note(mark, 1, v & 1) && note(mark, 2, v & 2)) {
            result |= 1;
        }
        if (note(mark, 3, v & 4) || note(mark, 4, v & 8)) {
            result |= 2;
        }
        if ((v & 1 && note(mark, 5, v & 16)) || (v & 2 && note(mark, 6, v & 32))) {
            result |= 4;
        }
        out[i] = result;
    }
}

// Selections without a branch: v_cndmask_b32, for 32 and 64 bits and for pointers.
extern "C" __global__ void selections(const int* x, const int* y, const unsigned long long* wide, unsigned long long* out, int n) {
    const int i = global_id();
    if (i < n) {
        const int* source = x[i] > 0 ? x : y;
        out[i] = source[i];
        out[n + i] = x[i] > y[i] ? wide[i] : -wide[i];
        out[2 * n + i] = (x[i] ^ y[i]) < 0 ? (y[i] == 0 ? 5 : x[i]) : (x[i] == 7 ? 6 : y[i]);
    }
}

// A whole wave, half of it, one lane or none goes the expensive way: s_cbranch_execz skips where no lane does.
extern "C" __global__ void by_position(const unsigned* x, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        unsigned v = x[i];
        if (threadIdx.x >= 64 && threadIdx.x < 128) {
            v = v * v + out[i];
        }
        if (threadIdx.x % 64 < 32) {
            v ^= out[(i + 1) % n] & 0xff00;
        }
        if (threadIdx.x == 77) {
            v += out[0];
        }
        if (blockIdx.x == 1) {
            v -= 11;
        }
        out[n + i] = v;
    }
}

// Divergence on two axes: a wave holds parts of several rows of a 3-D grid of 2-D workgroups.
extern "C" __global__ void two_axes(const unsigned* x, unsigned* out, int width, int height, int depth) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int layer = blockIdx.z * blockDim.z + threadIdx.z;
    if (column >= width || row >= height || layer >= depth) {
        return;
    }
    const int at = (layer * height + row) * width + column;
    unsigned v = x[at];
    if (row % 2 == 0) {
        v += 7 * column;
        if (column > row) {
            v = -v;
        }
    } else if (column + layer < row) {
        v *= 5;
    }
    out[at] = v;
}
