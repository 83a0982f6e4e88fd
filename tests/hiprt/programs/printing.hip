// A code object whose kernel prints through calls to the host, loaded by a program.
#include <hip/hip_runtime.h>
#include <cstdio>

int main(int, char **words) {
    hipModule_t module;
    hipFunction_t kernel;
    int *data, content[64];
    for (int i = 0; i < 64; ++i) content[i] = 3 * i;
    if (hipModuleLoad(&module, words[1]) != hipSuccess) return 1;
    if (hipModuleGetFunction(&kernel, module, words[2]) != hipSuccess) return 2;
    if (hipMalloc(&data, sizeof content) != hipSuccess) return 3;
    if (hipMemcpy(data, content, sizeof content, hipMemcpyHostToDevice) != hipSuccess) return 4;
    void *scratch = nullptr;
    void *arguments[] = {&data, &scratch, &scratch};  // Triton's kernels have two more pointers
    std::printf("before\n");
    if (hipModuleLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) != hipSuccess) return 5;
    if (hipDeviceSynchronize() != hipSuccess) return 6;
    std::printf("after\n");
    return 0;
}
