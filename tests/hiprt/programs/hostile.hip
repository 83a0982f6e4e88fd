// What a program must not do to the runtime: exceptions out of host functions, endless nesting, absurd counts.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

static int depth = 0, refused = 0;

static void deeper(void*) {
    if (++depth < 300 && hipLaunchHostFunc(nullptr, deeper, nullptr) != hipSuccess) ++refused;
}

static void throwing(void*) {
    try {
        throw 1;  // what a host function catches itself is its own affair
    } catch (int) {
    }
    throw std::runtime_error("out of a host function");
}

int main(int, char** words) {
    if (!std::strcmp(words[1], "nested")) {
        hipError_t first = hipLaunchHostFunc(nullptr, deeper, nullptr);
        std::printf("depth %d refused %d %s %s\n", depth, refused, hipGetErrorName(first), hipGetErrorName(hipGetLastError()));
    } else if (!std::strcmp(words[1], "throwing")) {
        try {
            (void)hipLaunchHostFunc(nullptr, throwing, nullptr);
        } catch (const std::exception& error) {
            std::printf("caught %s\n", error.what());
        }
        std::printf("device %d\n", static_cast<int>(hipDeviceSynchronize()));
    } else {
        hipGraph_t graph;
        hipGraphNode_t node, other;
        (void)hipGraphCreate(&graph, 0);
        (void)hipGraphAddEmptyNode(&node, graph, nullptr, 0);
        for (size_t count : {~size_t{0}, size_t{1} << 61, size_t{1} << 40})
            std::printf("%s %s\n", hipGetErrorName(hipGraphAddEmptyNode(&other, graph, &node, count)),
                        hipGetErrorName(hipGraphAddDependencies(graph, &node, &node, count)));
    }
}
