// Tiles of 64 rows and 32 columns go through the LDS and come out by columns, as in the 22 transposing kernels whose
// counters ROCm/composable_kernel publishes (tutorial 14). A layout gives the place of element (m, k) in elements.
#include <hip/hip_runtime.h>

enum Read { BY_ROWS, BY_COLUMNS, OF_ROW, OF_COLUMN, OWN };

constexpr int ROWS = 64, COLUMNS = 32, PACK = 8;

template <int STRIDE> struct Plain {
    static constexpr int size = ROWS * STRIDE, misaligned = 0;
    static __device__ int place(int m, int k) { return m * STRIDE + k; }
};

struct ByColumn {
    static constexpr int size = ROWS * COLUMNS, misaligned = 0;
    static __device__ int place(int m, int k) { return k * ROWS + m; }
};

// Packs of eight elements; LAYER rows are a line of all banks, whose number is XORed into that of the pack.
template <int LAYER, int STRIDE = COLUMNS> struct Swizzled {
    static constexpr int packs = COLUMNS / PACK * LAYER, size = ROWS * STRIDE + 64, misaligned = STRIDE != COLUMNS;
    static __device__ int place(int m, int k) {
        const int line = m / LAYER, pack = m % LAYER * (COLUMNS / PACK) + k / PACK;
        return line * STRIDE * LAYER + (pack ^ line % packs) * PACK + k % PACK;
    }
};

// How a lane's elements lie: eight (of f32 four) of a row, or of a column.
template <typename T, int ALIGN> struct Pieces {
    static constexpr int count = 16 / sizeof(T);
    typedef T vector __attribute__((ext_vector_type(count), aligned(ALIGN)));
};

template <typename T, typename Layout, bool WIDE_WRITE, int ALIGN, Read READ>
__device__ void transpose(const T *in, T *out, int columns) {
    using P = Pieces<T, ALIGN>;
    constexpr int N = P::count, PER_ROW = COLUMNS / N, BY_LANE = 64 / PER_ROW, PARTS = ROWS / (4 * BY_LANE);
    __shared__ __attribute__((aligned(16))) T lds[Layout::size];
    const int wave = threadIdx.x / 64, lane = threadIdx.x % 64, rows = gridDim.x * ROWS;
    in += blockIdx.x * ROWS * columns;
    out += blockIdx.x * ROWS;
    for (int first = 0; first < columns; first += COLUMNS) {
        for (int part = 0; part < PARTS; ++part) {
            const int m = (part * 4 + wave) * BY_LANE + lane / PER_ROW, k = lane % PER_ROW * N;
            auto held = *(const typename Pieces<T, 16>::vector *)(in + m * columns + first + k);
            if constexpr (WIDE_WRITE) {
                int place = Layout::place(m, k);
                if (Layout::misaligned) asm("" : "+v"(place));  // the type alone says how it is aligned
                *(typename P::vector *)(lds + place) = held;
            } else {
                for (int j = 0; j < N; ++j) lds[Layout::place(m, k + j)] = held[j];
            }
        }
        __syncthreads();
        if constexpr (READ == BY_ROWS) {  // elements of a column one by one; the next lane has other rows of it
            constexpr int GROUPS = ROWS / N, KS = 64 / GROUPS;
            for (int k = wave * KS + lane / GROUPS; k < COLUMNS; k += 4 * KS) {
                for (int j = 0; j < N; ++j) {
                    const int m = lane % GROUPS * N + j;
                    out[(first + k) * rows + m] = lds[Layout::place(m, k)];
                }
            }
        } else if constexpr (READ == BY_COLUMNS) {  // likewise; the next lane has the next column
            for (int j = 0; j < N; ++j) {
                const int m = lane / 8 * N + j, k = wave * 8 + lane % 8;
                out[(first + k) * rows + m] = lds[Layout::place(m, k)];
            }
        } else if constexpr (READ == OF_ROW) {  // at once, elements of a row
            auto held = *(const typename P::vector *)(lds + Layout::place(lane, wave * PACK));
            for (int j = 0; j < N; ++j) out[(first + wave * PACK + j) * rows + lane] = held[j];
        } else if constexpr (READ == OWN) {  // at once, what the lane wrote
            const int m = wave * BY_LANE + lane / PER_ROW, k = lane % PER_ROW * N;
            auto held = *(const typename P::vector *)(lds + Layout::place(m, k));
            for (int j = 0; j < N; ++j) out[(first + k + j) * rows + m] = held[j];
        } else {  // at once, elements of a column
            const int m = lane % 8 * N, k = wave * 8 + lane / 8;
            auto held = *(const typename P::vector *)(lds + Layout::place(m, k));
            *(typename Pieces<T, 16>::vector *)(out + (first + k) * rows + m) = held;
        }
        __syncthreads();
    }
}

#define KERNEL(name, T, ...)                                                                      \
    extern "C" __global__ __launch_bounds__(256) void name(const T *in, T *out, int columns) {   \
        transpose<T, __VA_ARGS__>(in, out, columns);                                             \
    }
KERNEL(row_major, _Float16, Plain<32>, true, 16, BY_ROWS)
KERNEL(column_major, _Float16, ByColumn, false, 16, OF_COLUMN)
KERNEL(padded, _Float16, Plain<34>, true, 4, BY_ROWS)
KERNEL(swizzled, _Float16, Swizzled<2>, true, 16, BY_ROWS)
KERNEL(swizzled_padded, _Float16, Swizzled<2, 33>, true, 16, BY_ROWS)
KERNEL(packs, _Float16, Swizzled<2>, true, 16, OF_ROW)
KERNEL(packs_64_banks, _Float16, Swizzled<4>, true, 16, OF_ROW)
KERNEL(own_packs_64_banks, _Float16, Swizzled<4>, true, 16, OWN)
KERNEL(by_rows_64_banks, _Float16, Swizzled<4>, true, 16, BY_COLUMNS)
KERNEL(row_major_f32, float, Plain<32>, true, 16, BY_ROWS)
KERNEL(swizzled_f32, float, Swizzled<1>, true, 16, BY_ROWS)

// Lanes of one to four waves that read 16-bit elements: `step` lie between two lanes, `next` between two reads of one.
extern "C" __global__ __launch_bounds__(256) void some_lanes(_Float16 *out, int lanes, int waves, int step, int reads,
                                                             int next) {
    __shared__ _Float16 lds[ROWS * COLUMNS];
    for (int i = threadIdx.x; i < ROWS * COLUMNS; i += 256) lds[i] = i;
    __syncthreads();
    const int lane = threadIdx.x % 64;
    if (lane < lanes && (int)threadIdx.x < 64 * waves) {
        _Float16 sum = 0;
        for (int read = 0; read < reads; ++read) sum += lds[lane * step + read * next];
        out[threadIdx.x] = sum;
    }
}
