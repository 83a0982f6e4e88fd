// switch: there is no jump table on these machines, so it becomes a tree of comparisons.
#include <hip/hip_runtime.h>

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Every lane its own case, eight of them and a default; the loads keep the cases apart.
extern "C" __global__ void dense(const unsigned* x, const unsigned* table, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        const unsigned v = x[i];
        unsigned result;
        switch (v % 11) {
            case 0: result = v + table[0]; break;
            case 1: result = v * table[1]; break;
            case 2: result = v ^ table[2]; break;
            case 3: result = table[3] - v; break;
            case 4: result = v >> (table[4] & 31); break;
            case 5: result = v / (table[5] | 1); break;
            case 6: result = ~v & table[6]; break;
            case 7: result = __popc(v) + table[7]; break;
            default: result = table[v % 8]; break;
        }
        out[i] = result;
    }
}

// The case is the same for all: s_cmp and s_cbranch_scc, one path executed.
extern "C" __global__ void uniform(const int* x, int* out, int operation, int n) {
    const int i = global_id();
    if (i < n) {
        switch (operation) {
            case 0: out[i] = int(unsigned(x[i]) + 1); break;
            case 1: out[i] = int(unsigned(x[i]) * unsigned(x[n - 1 - i])); break;
            case 2: out[i] = x[i] / 3; break;
            case 3: out[i] = __clz(x[i]); break;
            case 4: out[i] = x[i] < 0 ? -1 : 1; break;
            default: out[i] = operation; break;
        }
    }
}

// Cases that fall through, from any of five entries to the end (Duff's device).
extern "C" __global__ void fall_through(const int* x, int* out, int n) {
    const int i = global_id();
    if (i < n) {
        unsigned sum = 0;
        switch (x[i] & 7) {
            case 5: sum += unsigned(x[i] >> 3); [[fallthrough]];
            case 4: sum ^= 0x1111; [[fallthrough]];
            case 3: sum *= 7; [[fallthrough]];
            case 2: sum -= unsigned(x[i]); [[fallthrough]];
            case 1: sum = sum << 3 | 1; break;
            case 7: sum = ~0u; [[fallthrough]];
            default: out[n + i] = sum + 1; break;
        }
        out[i] = sum;
    }
}

// Sparse labels, 64 bits wide and negative.
extern "C" __global__ void sparse(const long long* x, int* out, int n) {
    const int i = global_id();
    if (i < n) {
        switch (x[i]) {
            case 0: out[i] = 10; break;
            case -1: out[i] = 20; break;
            case 0x7fffffffffffffffll: out[i] = 30; break;
            case -0x7fffffffffffffffll - 1: out[i] = 40; break;
            case 0x100000000ll: out[i] = 50; break;
            case 0xffffffffll: out[i] = 60; break;
            case 65536: out[i] = 70; break;
            default: out[i] = int(x[i] >> 40); break;
        }
    }
}

// A small interpreter: each lane runs a program of its own over a stack machine of two registers.
extern "C" __global__ void interpreter(const unsigned char* programs, unsigned* out, int length, int n) {
    const int i = global_id();
    if (i < n) {
        const unsigned char* code = programs + i * length;
        unsigned a = i, b = 1, steps = 0;
        int pc = 0;
        while (pc < length && steps < 40) {
            const unsigned op = code[pc++];
            steps++;
            switch (op & 7) {
                case 0: a += b; break;
                case 1: b = a * 5 + 1; break;
                case 2: a ^= b << (op >> 5); break;
                case 3: if (a & 1) pc += 2; break;
                case 4: b -= a; break;
                case 5: pc = a & 8 ? pc : (op >> 3) % length; break;
                case 6: { const unsigned t = a; a = b; b = t; break; }
                default: pc = length; break;
            }
        }
        out[i] = a;
        out[n + i] = b;
        out[2 * n + i] = steps;
    }
}
