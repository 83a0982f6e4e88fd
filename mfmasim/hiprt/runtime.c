/* The simulated HIP runtime: every call is handed to Python, by name and with its arguments as 64-bit words.
 *
 * "calls.h" is made beside the library (mfmasim/hiprt/build.py): one line CALLn(name) for each call, n its arguments.
 * All arguments of the calls served are integers or pointers, which the System V and the AArch64 calling conventions
 * pass in whole 64-bit places; Python cuts an int down to 32 bits. The result is an error code or the address of a text.
 *
 * The library needs nothing but the C library: the interpreter is found in the process that loaded it, so that any
 * Python program is served, and its child processes too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

typedef unsigned long long word;
typedef long long (*handler)(const char *name, word *arguments);

enum { NOT_INITIALIZED = 3 };

static handler serve;

/* Called by mfmasim.hiprt.serving once it can answer. */
void mfmasim_hiprt_serve(handler answer) { serve = answer; }

static void begin(void) {
    int (*run)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "PyRun_SimpleString");
    int (*ensure)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
    void (*release)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "PyGILState_Release");
    int (*ready)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    char program[8192];
    Dl_info self;

    if (!run || !ensure || !release || !ready || !ready() || !dladdr((void *)mfmasim_hiprt_serve, &self)) {
        fprintf(stderr, "mfmasim: the simulated HIP runtime serves Python programs only\n");
        return;
    }
    int state = ensure();
    if (!serve) { /* another thread may have been faster */
        /* The package that started the program is taken, and nothing else from its folder unless it is missing. */
        int size = snprintf(program, sizeof program,
                            "import os, sys\n"
                            "if folder := os.environ.get('MFMASIM_HIPRT_PACKAGE'):\n"
                            "    sys.path.insert(0, folder)\n"
                            "    import mfmasim\n"
                            "    sys.path.remove(folder)\n"
                            "    sys.path.append(folder)\n"
                            "import mfmasim.hiprt.serving\n"
                            "mfmasim.hiprt.serving.begin(r'''%s''')\n",
                            self.dli_fname);
        if (size < (int)sizeof program) run(program); /* prints a traceback when it fails */
    }
    release(state);
}

static long long forward(const char *name, word *arguments) {
    if (!serve) begin();
    return serve ? serve(name, arguments) : NOT_INITIALIZED;
}

#define BODY(name, ...) { word arguments[] = {__VA_ARGS__}; return forward(#name, arguments); }
#define CALL0(name) long long name(void) { return forward(#name, 0); }
#define CALL1(name) long long name(word a) BODY(name, a)
#define CALL2(name) long long name(word a, word b) BODY(name, a, b)
#define CALL3(name) long long name(word a, word b, word c) BODY(name, a, b, c)
#define CALL4(name) long long name(word a, word b, word c, word d) BODY(name, a, b, c, d)
#define CALL5(name) long long name(word a, word b, word c, word d, word e) BODY(name, a, b, c, d, e)
#define CALL6(name) long long name(word a, word b, word c, word d, word e, word f) BODY(name, a, b, c, d, e, f)
#define CALL7(name) long long name(word a, word b, word c, word d, word e, word f, word g) \
    BODY(name, a, b, c, d, e, f, g)
#define CALL8(name) long long name(word a, word b, word c, word d, word e, word f, word g, word h) \
    BODY(name, a, b, c, d, e, f, g, h)
#define CALL9(name) long long name(word a, word b, word c, word d, word e, word f, word g, word h, word i) \
    BODY(name, a, b, c, d, e, f, g, h, i)
#define CALL10(name) long long name(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j) \
    BODY(name, a, b, c, d, e, f, g, h, i, j)
#define CALL11(name) long long name(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, \
                                    word k) BODY(name, a, b, c, d, e, f, g, h, i, j, k)
#define CALL14(name) long long name(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, \
                                    word k, word l, word m, word n) BODY(name, a, b, c, d, e, f, g, h, i, j, k, l, m, n)

#include "calls.h"
