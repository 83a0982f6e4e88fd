// Hostile host programs, one for each seed: sequences of calls with handles that are old, of another kind or none, odd
// sizes, and then a misuse of the process: threads, exceptions and ends within callbacks, exec, forks, signals.
// wild FIRST COUNT prints, for each seed, how its process ended; each has 120 seconds.
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void twice(int* x, int n) {
    if (static_cast<int>(threadIdx.x) < n) x[threadIdx.x] *= 2;
}

static thread_local uint64_t state;
static uint64_t draw() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}
static uint64_t below(uint64_t count) { return (draw() >> 11) % count; }

static unsigned char memory[1 << 16];
static const size_t SIZES[] = {0, 1, 3, 4, 64, 255, 256, 4096, 4097, 65535, 65536};
static const size_t HUGE_SIZES[] = {1ull << 31, 1ull << 40, ~0ull, (1ull << 63) - 1, ~0ull - 4095};
static std::vector<void*> given;  // what the runtime gave, also after its end
static char* self;

template <class T> static T wild() {
    switch (below(8)) {
        case 0: return T{};
        case 1: {
            static const uint64_t odd[] = {1, 2, 0xdeadbeef, ~0ull, 0x7f0000001000, 1ull << 63, 0xfff, 0x800000000000};
            return (T)(uintptr_t)odd[below(8)];
        }
        default: return given.empty() ? T{} : (T)given[below(given.size())];
    }
}
template <class T> static void keep(T one) {
    if (given.size() < 200) given.push_back((void*)one);
}
static size_t size() { return SIZES[below(11)]; }
static size_t any() { return below(4) ? size() : HUGE_SIZES[below(5)]; }
static void* host() { return memory; }

static void quiet(void*) {}
static void calling(void*) {
    (void)hipDeviceSynchronize();
    (void)hipLaunchHostFunc(nullptr, quiet, nullptr);
}
static void throwing(void*) { throw std::runtime_error("left a host function"); }
static void aborting(void*) { abort(); }
static void exiting(void*) { exit(7); }
static void leaving(void*) { _exit(8); }
static void forking(void*) {
    pid_t child = fork();
    if (!child) _exit(hipDeviceSynchronize() == hipSuccess ? 0 : 1);
    int status;
    waitpid(child, &status, 0);
}

static void one() {
    hipStream_t stream;
    hipEvent_t event;
    hipGraph_t graph;
    hipGraphNode_t node;
    hipGraphExec_t instance;
    hipDeviceptr_t pointer;
    hipModule_t module;
    hipFunction_t function;
    hipMemPool_t pool;
    hipCtx_t context;
    void* place;
    int number;
    float time;
    size_t free, total;
    switch (below(48)) {
        case 0: if (hipMalloc(&place, below(3) ? size() : any()) == hipSuccess) keep(place); break;
        case 1: (void)hipFree(wild<void*>()); break;
        case 2: (void)hipMemcpy(host(), wild<void*>(), size(), hipMemcpyDeviceToHost); break;
        case 3: (void)hipMemcpy(wild<void*>(), host(), size(), hipMemcpyHostToDevice); break;
        case 4: (void)hipMemcpy(wild<void*>(), wild<void*>(), any(), hipMemcpyDeviceToDevice); break;
        case 5: (void)hipMemset(wild<void*>(), 7, any()); break;
        case 6: if (hipStreamCreate(&stream) == hipSuccess) keep(stream); break;
        case 7: (void)hipStreamDestroy(wild<hipStream_t>()); break;
        case 8: (void)hipStreamSynchronize(wild<hipStream_t>()); break;
        case 9: (void)hipStreamQuery(wild<hipStream_t>()); break;
        case 10: if (hipEventCreate(&event) == hipSuccess) keep(event); break;
        case 11: (void)hipEventDestroy(wild<hipEvent_t>()); break;
        case 12: (void)hipEventRecord(wild<hipEvent_t>(), wild<hipStream_t>()); break;
        case 13: (void)hipEventElapsedTime(&time, wild<hipEvent_t>(), wild<hipEvent_t>()); break;
        case 14: (void)hipStreamWaitEvent(wild<hipStream_t>(), wild<hipEvent_t>(), below(3)); break;
        case 15: if (hipGraphCreate(&graph, below(2)) == hipSuccess) keep(graph); break;
        case 16: (void)hipGraphDestroy(wild<hipGraph_t>()); break;
        case 17: {
            hipGraphNode_t from = wild<hipGraphNode_t>();
            if (hipGraphAddEmptyNode(&node, wild<hipGraph_t>(), &from, below(2)) == hipSuccess) keep(node);
            break;
        }
        case 18: if (hipGraphInstantiate(&instance, wild<hipGraph_t>(), nullptr, nullptr, 0) == hipSuccess) keep(instance); break;
        case 19: (void)hipGraphLaunch(wild<hipGraphExec_t>(), wild<hipStream_t>()); break;
        case 20: (void)hipGraphExecDestroy(wild<hipGraphExec_t>()); break;
        case 21: (void)hipStreamBeginCapture(wild<hipStream_t>(), (hipStreamCaptureMode)below(5)); break;
        case 22: if (hipStreamEndCapture(wild<hipStream_t>(), &graph) == hipSuccess) keep(graph); break;
        case 23: (void)hipLaunchHostFunc(wild<hipStream_t>(), below(2) ? quiet : calling, nullptr); break;
        case 24: (void)hipSetDevice((int)below(5) - 2); break;
        case 25: (void)hipDeviceGetAttribute(&number, (hipDeviceAttribute_t)below(1 << below(31)), (int)below(3) - 1); break;
        case 26: (void)hipMemGetInfo(&free, &total); break;
        case 27: {
            int* x = wild<int*>();
            int n = (int)below(100);
            void* arguments[] = {&x, &n};
            dim3 grid((unsigned)(below(4) ? below(3) : draw())), block((unsigned)(below(4) ? below(80) : draw()));
            (void)hipLaunchKernel((const void*)twice, grid, block, arguments, any(), wild<hipStream_t>());
            break;
        }
        case 28: (void)hipLaunchKernel(wild<const void*>(), dim3(1), dim3(1), nullptr, 0, nullptr); break;
        case 29: (void)hipModuleUnload(wild<hipModule_t>()); break;
        case 30: if (hipModuleGetFunction(&function, wild<hipModule_t>(), "twice") == hipSuccess) keep(function); break;
        case 31: {
            void* extra[] = {HIP_LAUNCH_PARAM_END};
            (void)hipModuleLaunchKernel(wild<hipFunction_t>(), 1, 1, 1, (unsigned)below(70), 1, 1, 0, wild<hipStream_t>(), nullptr, extra);
            break;
        }
        case 32: {
            memset(memory, (int)below(256), 256);
            if (below(2)) memcpy(memory, "\177ELF\2\1\1\100", 8);
            if (hipModuleLoadData(&module, memory) == hipSuccess) keep(module);
            break;
        }
        case 33: if (hipHostMalloc(&place, any(), 0) == hipSuccess) keep(place); break;
        case 34: (void)hipHostFree(wild<void*>()); break;
        case 35: if (hipMallocAsync(&place, size(), wild<hipStream_t>()) == hipSuccess) keep(place); break;
        case 36: (void)hipFreeAsync(wild<void*>(), wild<hipStream_t>()); break;
        case 37: if (hipDeviceGetDefaultMemPool(&pool, 0) == hipSuccess) keep(pool); break;
        case 38: (void)hipMemPoolDestroy(wild<hipMemPool_t>()); break;
        case 39: (void)hipMemPoolTrimTo(wild<hipMemPool_t>(), any()); break;
        case 40: if (hipCtxCreate(&context, 0, 0) == hipSuccess) keep(context); break;
        case 41: (void)hipCtxDestroy(wild<hipCtx_t>()); break;
        case 42: (void)hipCtxSetCurrent(wild<hipCtx_t>()); break;
        case 43: (void)hipMemcpy2D(host(), below(4096), wild<void*>(), any(), below(16), below(16), hipMemcpyDeviceToHost); break;
        case 44: if (hipMemGetAddressRange(&pointer, &total, wild<hipDeviceptr_t>()) == hipSuccess) keep(pointer); break;
        case 45: { hipPointerAttribute_t about; (void)hipPointerGetAttributes(&about, wild<void*>()); break; }
        case 46: (void)hipMemcpyAsync(wild<void*>(), host(), size(), hipMemcpyHostToDevice, wild<hipStream_t>()); break;
        default: (void)hipGetErrorString((hipError_t)draw()); (void)hipGetLastError();
    }
}

static void several(int count) {
    while (count--) one();
}

static int program(uint64_t seed) {
    state = seed * 0x9E3779B97F4A7C15 + 1;
    several(10 + (int)below(30));
    switch (seed % 12) {
        case 0: (void)hipLaunchHostFunc(nullptr, throwing, nullptr); break;  // SIGABRT, as on a GPU
        case 1: (void)hipLaunchHostFunc(nullptr, aborting, nullptr); break;  // SIGABRT
        case 2: (void)hipLaunchHostFunc(nullptr, exiting, nullptr); break;   // 7
        case 3: (void)hipLaunchHostFunc(nullptr, leaving, nullptr); break;   // 8
        case 4: (void)hipLaunchHostFunc(nullptr, forking, nullptr); break;
        case 5: execl(self, self, "again", nullptr); return 9;
        case 6: {
            std::vector<std::thread> threads;
            given.reserve(400);
            for (int k = 0; k < 3; ++k)
                threads.emplace_back([=] {
                    state = seed + 77 * k + 1;
                    hipStream_t stream;
                    void* place;
                    for (int n = 0; n < 12; ++n) {
                        (void)hipStreamCreate(&stream);
                        if (hipMalloc(&place, 256) == hipSuccess) (void)hipMemset(place, 1, 256), (void)hipFree(place);
                        (void)hipStreamDestroy(stream);
                        (void)hipStreamDestroy(stream);
                        (void)hipFree(place);
                    }
                });
            for (auto& thread : threads) thread.join();
            break;
        }
        case 7: {
            pid_t child = fork();
            if (!child) { several(10); _exit(0); }
            int status;
            waitpid(child, &status, 0);
            if (status) return 10;
            break;
        }
        case 8: raise(SIGTERM); return 11;  // -15
        case 9: for (int k = 0; k < 40; ++k) (void)hipDeviceReset(), one(); break;
        case 10: std::thread([] { several(5); exit(12); }).join(); break;  // 12
        default: several(60);
    }
    several(5);
    return 0;
}

int main(int count, char** words) {
    self = words[0];
    if (count > 1 && !strcmp(words[1], "again")) return hipDeviceSynchronize() != hipSuccess;
    if (count > 2 && !strcmp(words[1], "alone")) return program(strtoull(words[2], nullptr, 0));
    (void)hipFree(nullptr);
    uint64_t first = strtoull(words[1], nullptr, 0), many = strtoull(words[2], nullptr, 0);
    for (uint64_t seed = first; seed < first + many; ++seed) {
        fflush(nullptr);
        pid_t child = fork();
        if (!child) {
            alarm(120);
            exit(program(seed));
        }
        int status;
        waitpid(child, &status, 0);
        printf("%llu %d\n", (unsigned long long)seed, WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
    }
}
