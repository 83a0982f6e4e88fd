// A kernel that includes nothing and declares what it calls, as a program writes that generates kernels.
typedef long unsigned int size_t;
typedef float float4 __attribute__((ext_vector_type(4)));
extern "C" __attribute__((device, const)) size_t __ockl_get_local_id(unsigned int);
extern "C" __attribute__((device, const)) size_t __ockl_get_group_id(unsigned int);
extern "C" __attribute__((device, pure)) float __ocml_exp2_f32(float);
static inline __attribute__((device)) float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

extern "C" __attribute__((global)) void powers(float4 *out, const float *in) {
  size_t place = 32 * __ockl_get_group_id(0) + __ockl_get_local_id(0);
  out[place] = make_float4(__ocml_exp2_f32(in[place]), in[place], place, 0);
}
