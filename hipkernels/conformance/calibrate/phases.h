// How long LDS instructions take, by the wave's own clock (included by probe.hip).
//
// A block is one wave and one pattern: lane l of block (x, y) accesses byte addresses[x * lanes + l], or nothing if that
// is OFF; y counts repetitions. Timed are `rounds` rounds of 16 accesses that are all waited for at the end, after a
// round that fetches the code. The launch asks for so much LDS that no other block shares its memory.
#if defined(__GFX12__)
#define WAIT "\n s_wait_dscnt 0x0\n s_wait_kmcnt 0x0"
#else
#define WAIT "\n s_waitcnt lgkmcnt(0)"
#endif
#if defined(__GFX11__)
#define CLOCK_MASK 0xfffffu  // SHADER_CYCLES has 20 bits
#else
#define CLOCK_MASK 0xffffffffu
#endif
#if defined(__GFX11__) || defined(__GFX12__)
// A workgroup has one compute unit and its half of the LDS: else two workgroups could share the banks.
#define ALONE __attribute__((target("cumode")))
#else
#define ALONE
#endif
#define OFF 0xffffffffu
#define REACH 320  // dwords that patterns reach
#define LANES __builtin_amdgcn_wavefrontsize()

typedef unsigned w1;
typedef unsigned w2 __attribute__((ext_vector_type(2)));
typedef unsigned w3 __attribute__((ext_vector_type(3)));
typedef unsigned w4 __attribute__((ext_vector_type(4)));

#define PHASES(NAME, T, TEXT)                                                                                        \
    extern "C" __global__ ALONE void __launch_bounds__(64)                                                           \
    phases_##NAME(const unsigned* addresses, unsigned* ticks, unsigned rounds) {                                     \
        __shared__ __attribute__((aligned(16))) unsigned memory[REACH];                                              \
        for (unsigned i = threadIdx.x; i < REACH; i += LANES) memory[i] = i;                                         \
        __syncthreads();                                                                                             \
        const unsigned at = addresses[blockIdx.x * LANES + threadIdx.x];                                             \
        T value = {};                                                                                                \
        const w2 pair = {at, at};                                                                                    \
        if (at != OFF) {                                                                                             \
            unsigned start = 0, end = 0;                                                                             \
            _Pragma("nounroll") for (unsigned turn = 0; turn < 2; turn++) {                                          \
                const unsigned count = turn ? rounds : 1;                                                            \
                start = (unsigned)__builtin_readcyclecounter();                                                      \
                asm volatile(WAIT : "+s"(start));                                                                    \
                for (unsigned n = 0; n < count; n++)                                                                 \
                    asm volatile(".rept 16\n " TEXT "\n .endr" : "+v"(value) : "v"(at), "s"(memory), "v"(pair) : "memory");    \
                asm volatile(WAIT : "+v"(value) : : "memory");                                                       \
                end = (unsigned)__builtin_readcyclecounter();                                                        \
            }                                                                                                        \
            if (threadIdx.x == __builtin_amdgcn_readfirstlane(threadIdx.x))                                          \
                ticks[blockIdx.y * gridDim.x + blockIdx.x] = (end - start) & CLOCK_MASK;                             \
        }                                                                                                            \
    }

PHASES(read_b8, w1, "ds_read_u8 %0, %1")
PHASES(read_b32, w1, "ds_read_b32 %0, %1")
PHASES(read_b64, w2, "ds_read_b64 %0, %1")
PHASES(read_b96, w3, "ds_read_b96 %0, %1")
PHASES(read_b128, w4, "ds_read_b128 %0, %1")
PHASES(read2_b32, w2, "ds_read2_b32 %0, %1 offset1:1")
PHASES(read2_b64, w4, "ds_read2_b64 %0, %1 offset1:1")
PHASES(write_b8, w1, "ds_write_b8 %1, %0")
PHASES(write_b32, w1, "ds_write_b32 %1, %0")
PHASES(write_b64, w2, "ds_write_b64 %1, %0")
PHASES(write_b96, w3, "ds_write_b96 %1, %0")
PHASES(write_b128, w4, "ds_write_b128 %1, %0")
PHASES(write2_b32, w1, "ds_write2_b32 %1, %0, %0 offset1:1")
PHASES(write2_b64, w2, "ds_write2_b64 %1, %0, %0 offset1:1")
PHASES(atomic_b32, w1, "ds_add_u32 %1, %0")
PHASES(atomic_b64, w2, "ds_add_u64 %1, %0")
#if defined(__GFX11__) || defined(__GFX12__)
PHASES(atomic2_b32, w2, "ds_storexchg_2addr_rtn_b32 %0, %1, %1, %1 offset1:1")
PHASES(atomic2_b64, w4, "ds_storexchg_2addr_rtn_b64 %0, %1, %3, %3 offset1:1")
#else
PHASES(atomic2_b32, w2, "ds_wrxchg2_rtn_b32 %0, %1, %1, %1 offset1:1")
PHASES(atomic2_b64, w4, "ds_wrxchg2_rtn_b64 %0, %1, %3, %3 offset1:1")
#endif
#if defined(__gfx950__)
PHASES(read_b64_tr, w2, "ds_read_b64_tr_b16 %0, %1")
PHASES(read_b96_tr, w3, "ds_read_b96_tr_b6 %0, %1")
#endif
