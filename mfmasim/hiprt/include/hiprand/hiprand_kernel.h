// hipRAND's names for the random numbers of kernels, which are rocRAND's on AMD's GPUs.
#pragma once

#include <rocrand/rocrand_kernel.h>

typedef rocrand_state_philox4x32_10 hiprandStatePhilox4_32_10_t, hiprandStatePhilox4_32_10;
typedef rocrand_state_xorwow hiprandStateXORWOW_t, hiprandStateXORWOW, hiprandState_t, hiprandState;

template <typename State>
static inline __host__ __device__ void hiprand_init(unsigned long long seed, unsigned long long subsequence,
                                                    unsigned long long offset, State* state) {
  rocrand_init(seed, subsequence, offset, state);
}
#define MFMASIM_NAME(name)                                                         \
  template <typename State, typename... More>                                      \
  static inline __host__ __device__ auto hip##name(State* state, More... more) {   \
    return roc##name(state, more...);                                              \
  }
MFMASIM_NAME(rand)
MFMASIM_NAME(rand4)
MFMASIM_NAME(rand_uniform)
MFMASIM_NAME(rand_uniform2)
MFMASIM_NAME(rand_uniform4)
MFMASIM_NAME(rand_uniform_double)
MFMASIM_NAME(rand_uniform_double2)
MFMASIM_NAME(rand_uniform_double4)
MFMASIM_NAME(rand_normal)
MFMASIM_NAME(rand_normal2)
MFMASIM_NAME(rand_normal4)
MFMASIM_NAME(rand_normal_double)
MFMASIM_NAME(rand_normal_double2)
MFMASIM_NAME(rand_log_normal)
MFMASIM_NAME(rand_log_normal2)
MFMASIM_NAME(rand_log_normal_double)
#undef MFMASIM_NAME
