/* What a CPU build of PyTorch decides when it is compiled: that there is no accelerator, and that the hooks of CUDA refuse.
 * This library is loaded before PyTorch, so that its answers count. The C++ names are those of PyTorch 2.5 to 2.13;
 * std::optional<c10::DeviceType> is two bytes, returned as the structure below is, and a reference is a pointer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

enum { CUDA = 1 };

struct optional_device_type {
  signed char value;
  unsigned char has_value;
};

void *mfmasim_cuda_hooks = NULL; /* set once tensors of device "cuda" can be made */

static struct optional_device_type answer(void) {
  struct optional_device_type made = {0, 0};
  if (mfmasim_cuda_hooks) {
    made.value = CUDA;
    made.has_value = 1;
  }
  return made;
}

struct optional_device_type _ZN2at11accelerator14getAcceleratorEb(unsigned char checked) {
  (void)checked;
  return answer();
}

struct optional_device_type _ZN2at14getAcceleratorEb(unsigned char checked) {
  (void)checked;
  return answer();
}

void *_ZN2at6detail12getCUDAHooksEv(void) {
  static void *(*own)(void);
  if (mfmasim_cuda_hooks) return mfmasim_cuda_hooks;
  if (!own) {
    void *torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    *(void **)&own = torch ? dlsym(torch, "_ZN2at6detail12getCUDAHooksEv") : NULL;
  }
  return own();
}
