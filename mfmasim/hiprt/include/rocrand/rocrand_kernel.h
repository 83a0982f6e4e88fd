// Random numbers in kernels: Philox 4x32-10 and XORWOW, uniform, normal and log-normal, with rocRAND's numbers.
// Sources: Salmon and others, "Parallel random numbers: as easy as 1, 2, 3" (2011), Philox; Marsaglia, "Xorshift RNGs"
// (2003), XORWOW; rocRAND's documentation and headers: names, seeds, order of the numbers, constants.
// Other engines (MRG, MTGP32, LFSR113, ThreeFry, Sobol) and distributions (Poisson, discrete) are not here.
#pragma once

#include <hip/hip_runtime.h>
#include <rocrand/rocrand_jumps.h>

#if !defined(FQUALIFIERS)
#define FQUALIFIERS static inline __host__ __device__
#endif

namespace mfmasim::random {

// What both engines keep: the second number of a pair of normally distributed ones.
struct Pairs {
  unsigned has_float = 0, has_double = 0;
  float kept_float = 0;
  double kept_double = 0;
};

struct Philox : Pairs {
  uint4 counter{}, result{};
  uint2 key{};
  unsigned place = 0;  // of the next number in the result

  __host__ __device__ static uint4 block(uint4 c, uint2 k) {
    for (int round = 0; round < 10; ++round) {
      const unsigned long long first = 0xD2511F53ull * c.x, second = 0xCD9E8D57ull * c.z;
      c = make_uint4((unsigned)(second >> 32) ^ c.y ^ k.x, (unsigned)second, (unsigned)(first >> 32) ^ c.w ^ k.y,
                     (unsigned)first);
      k = make_uint2(k.x + 0x9E3779B9u, k.y + 0xBB67AE85u);
    }
    return c;
  }
  __host__ __device__ void forward(unsigned long long blocks) {
    const unsigned long long low = (unsigned long long)counter.y << 32 | counter.x, sum = low + blocks;
    counter.x = (unsigned)sum, counter.y = (unsigned)(sum >> 32);
    if (sum < low && !++counter.z) ++counter.w;
    result = block(counter, key);
  }
  __host__ __device__ void begin(unsigned long long seed, unsigned long long subsequence, unsigned long long offset) {
    *this = Philox{};
    key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    jump(subsequence);
    skip(offset);
  }
  __host__ __device__ void jump(unsigned long long subsequences) {
    const unsigned long long sum = ((unsigned long long)counter.w << 32 | counter.z) + subsequences;
    counter.z = (unsigned)sum, counter.w = (unsigned)(sum >> 32);
    result = block(counter, key);
  }
  __host__ __device__ void skip(unsigned long long numbers) {
    const unsigned sum = place + (unsigned)(numbers & 3);
    place = sum & 3;
    forward(numbers / 4 + sum / 4);
  }
  __host__ __device__ unsigned next() {
    const unsigned numbers[] = {result.x, result.y, result.z, result.w};
    const unsigned made = numbers[place];
    place = (place + 1) & 3;
    if (!place) forward(1);
    return made;
  }
};

struct Xorwow : Pairs {
  unsigned x[5], d;

  __host__ __device__ static void step(unsigned (&s)[5]) {
    const unsigned t = s[0] ^ s[0] >> 2, last = s[4];
    s[0] = s[1], s[1] = s[2], s[2] = s[3], s[3] = last;
    s[4] = last ^ last << 4 ^ t ^ t << 1;
  }
  // As many steps as a power of the step says: the polynomial's coefficients choose from 160 successive states.
  __host__ __device__ void apply(const unsigned (&polynomial)[5]) {
    unsigned sum[5] = {}, state[5];
    for (int k = 0; k < 5; ++k) state[k] = x[k];
    for (int bit = 0; bit < 160; ++bit) {
      const unsigned chosen = -(polynomial[bit / 32] >> bit % 32 & 1);
      for (int k = 0; k < 5; ++k) sum[k] ^= state[k] & chosen;
      step(state);
    }
    for (int k = 0; k < 5; ++k) x[k] = sum[k];
  }
  __host__ __device__ void begin(unsigned long long seed, unsigned long long subsequence, unsigned long long offset) {
    const unsigned low = 1228688033u * ((unsigned)seed ^ 0x2c7f967fu);
    const unsigned high = 2073658381u * ((unsigned)(seed >> 32) ^ 0xa03697cbu);
    static_cast<Pairs&>(*this) = Pairs{};
    x[0] = 123456789u + low, x[1] = 362436069u ^ low, x[2] = 521288629u + high, x[3] = 88675123u ^ high;
    x[4] = 5783321u + low, d = 6615241u + high + low;
    jump(subsequence);
    skip(offset);
  }
  __host__ __device__ void jump(unsigned long long subsequences) {
    for (int k = 0; subsequences; ++k, subsequences >>= 1)
      if (subsequences & 1) apply(SUBSEQUENCES[k]);
  }
  __host__ __device__ void skip(unsigned long long numbers) {
    d += 362437u * (unsigned)numbers;
    for (int k = 0; numbers; ++k, numbers >>= 1)
      if (numbers & 1) apply(NUMBERS[k]);
  }
  __host__ __device__ unsigned next() {
    step(x);
    d += 362437u;
    return d + x[4];
  }
};

constexpr float PART = 2.3283064e-10f, TURN = 1.46291807e-09f;  // 2^-32, and of a turn
constexpr double FINE = 1.1102230246251565e-16;                 // 2^-53

FQUALIFIERS float uniform(unsigned v) { return PART + v * PART; }
FQUALIFIERS double uniform(unsigned low, unsigned high) {
  return FINE + ((unsigned long long)(high >> 11) << 32 | low) * FINE;
}
// Box and Muller: two numbers, normally distributed, of two that are evenly distributed.
FQUALIFIERS float2 normal(unsigned x, unsigned y) {
  const float length = ::sqrtf(-2.0f * ::logf(uniform(x))), angle = TURN + y * TURN;
  float2 made;
#if defined(__HIP_DEVICE_COMPILE__)
  __sincosf(angle, &made.x, &made.y);
#else
  made = make_float2(::sinf(angle), ::cosf(angle));
#endif
  return make_float2(made.x * length, made.y * length);
}
FQUALIFIERS double2 normal(uint4 v) {
  const unsigned long long first = v.x ^ (unsigned long long)v.y << 21, second = v.z ^ (unsigned long long)v.w << 21;
  const double length = ::sqrt(-2.0 * ::log(FINE + first * FINE)), turn = 2 * FINE + second * (2 * FINE);
  double2 made;
#if defined(__HIP_DEVICE_COMPILE__)
  sincospi(turn, &made.x, &made.y);
#else
  const double angle = turn * 3.1415926535897932;
  made = make_double2(::sin(angle), ::cos(angle));
#endif
  return make_double2(made.x * length, made.y * length);
}

}  // namespace mfmasim::random

typedef mfmasim::random::Philox rocrand_state_philox4x32_10;
typedef mfmasim::random::Xorwow rocrand_state_xorwow;
enum rocrand_rng_type {
  ROCRAND_RNG_PSEUDO_DEFAULT = 400, ROCRAND_RNG_PSEUDO_XORWOW = 401, ROCRAND_RNG_PSEUDO_PHILOX4_32_10 = 404
};
#define ROCRAND_PHILOX4x32_DEFAULT_SEED 0xdeadbeefdeadbeefULL
#define ROCRAND_XORWOW_DEFAULT_SEED 0ULL

#define MFMASIM_ENGINE(State)                                                                                          \
  FQUALIFIERS void rocrand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,    \
                                State* state) {                                                                        \
    state->begin(seed, subsequence, offset);                                                                           \
  }                                                                                                                    \
  FQUALIFIERS unsigned rocrand(State* state) { return state->next(); }                                                 \
  FQUALIFIERS uint4 rocrand4(State* state) {                                                                           \
    const unsigned a = state->next(), b = state->next(), c = state->next();                                            \
    return make_uint4(a, b, c, state->next());                                                                         \
  }                                                                                                                    \
  FQUALIFIERS void skipahead(unsigned long long numbers, State* state) { state->skip(numbers); }                       \
  FQUALIFIERS void skipahead_subsequence(unsigned long long count, State* state) { state->jump(count); }               \
  FQUALIFIERS void skipahead_sequence(unsigned long long count, State* state) { state->jump(count); }                  \
  FQUALIFIERS float rocrand_uniform(State* state) { return mfmasim::random::uniform(state->next()); }                  \
  FQUALIFIERS float2 rocrand_uniform2(State* state) {                                                                  \
    const float first = rocrand_uniform(state);                                                                        \
    return make_float2(first, rocrand_uniform(state));                                                                 \
  }                                                                                                                    \
  FQUALIFIERS float4 rocrand_uniform4(State* state) {                                                                  \
    const float2 first = rocrand_uniform2(state), second = rocrand_uniform2(state);                                    \
    return make_float4(first.x, first.y, second.x, second.y);                                                          \
  }                                                                                                                    \
  FQUALIFIERS double rocrand_uniform_double(State* state) {                                                            \
    const unsigned low = state->next();                                                                                \
    return mfmasim::random::uniform(low, state->next());                                                               \
  }                                                                                                                    \
  FQUALIFIERS double2 rocrand_uniform_double2(State* state) {                                                          \
    const double first = rocrand_uniform_double(state);                                                                \
    return make_double2(first, rocrand_uniform_double(state));                                                         \
  }                                                                                                                    \
  FQUALIFIERS double4 rocrand_uniform_double4(State* state) {                                                          \
    const double2 first = rocrand_uniform_double2(state), second = rocrand_uniform_double2(state);                     \
    return make_double4(first.x, first.y, second.x, second.y);                                                         \
  }                                                                                                                    \
  FQUALIFIERS float2 rocrand_normal2(State* state) {                                                                   \
    const unsigned first = state->next();                                                                              \
    return mfmasim::random::normal(first, state->next());                                                              \
  }                                                                                                                    \
  FQUALIFIERS float4 rocrand_normal4(State* state) {                                                                   \
    const float2 first = rocrand_normal2(state), second = rocrand_normal2(state);                                      \
    return make_float4(first.x, first.y, second.x, second.y);                                                          \
  }                                                                                                                    \
  FQUALIFIERS float rocrand_normal(State* state) {                                                                     \
    if (state->has_float) return state->has_float = 0, state->kept_float;                                              \
    const float2 made = rocrand_normal2(state);                                                                        \
    state->has_float = 1, state->kept_float = made.y;                                                                  \
    return made.x;                                                                                                     \
  }                                                                                                                    \
  FQUALIFIERS double2 rocrand_normal_double2(State* state) { return mfmasim::random::normal(rocrand4(state)); }        \
  FQUALIFIERS double rocrand_normal_double(State* state) {                                                             \
    if (state->has_double) return state->has_double = 0, state->kept_double;                                           \
    const double2 made = rocrand_normal_double2(state);                                                                \
    state->has_double = 1, state->kept_double = made.y;                                                                \
    return made.x;                                                                                                     \
  }                                                                                                                    \
  FQUALIFIERS float rocrand_log_normal(State* state, float mean, float deviation) {                                    \
    return expf(mean + deviation * rocrand_normal(state));                                                             \
  }                                                                                                                    \
  FQUALIFIERS float2 rocrand_log_normal2(State* state, float mean, float deviation) {                                  \
    const float2 made = rocrand_normal2(state);                                                                        \
    return make_float2(expf(mean + deviation * made.x), expf(mean + deviation * made.y));                              \
  }                                                                                                                    \
  FQUALIFIERS double rocrand_log_normal_double(State* state, double mean, double deviation) {                          \
    return exp(mean + deviation * rocrand_normal_double(state));                                                       \
  }
MFMASIM_ENGINE(rocrand_state_philox4x32_10)
MFMASIM_ENGINE(rocrand_state_xorwow)
#undef MFMASIM_ENGINE
