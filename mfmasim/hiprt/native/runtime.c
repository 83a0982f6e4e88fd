/* The simulated HIP runtime: every call is handed to Python, by name and with its arguments as 64-bit words.
 *
 * "calls.h" is made beside the library (mfmasim/hiprt/build.py): one line CALLn(name) for each call, n its arguments.
 * All arguments of the calls served are integers or pointers, which the System V and the AArch64 calling conventions
 * pass in whole 64-bit places; Python cuts an int down to 32 bits. A dim3 takes two such places. The result is an error
 * code or the address of a text; calls that return a text are TEXTn(name).
 */
#define _GNU_SOURCE
#include "built.h"
#include "interpreter.h"
#include "guard.h"
#include "numbers.h"
#include "programs.h"

enum { SUCCESS = 0, NOT_INITIALIZED = 3, DEINITIALIZED = 4, FIRST_PAGE = 4096 };

/* Whether a call gives something back: after the end of Python, which had it, there is nothing left to do. */
static int releases(const char *name) {
    return strstr(name, "Free") || strstr(name, "Destroy") || strstr(name, "Unload") || strstr(name, "Unregister");
}

/* Let Python serve. A destructor may call while an exception of the program is on its way, which stays as it is. */
static long long served(const char *name, word *arguments) {
    void *kind, *value, *trace;

    int state = py.ensure(); /* the exception waits for this thread even while it has not Python's lock */
    py.fetch(&kind, &value, &trace);
    long long answer = serve(name, arguments);
    py.set(kind, value, trace);
    py.release(state);
    return answer;
}

static long long forward(const char *name, word *arguments) {
    if (!serve) begin();
    if (!serve) return NOT_INITIALIZED;
    if (!started && !py.ready()) /* a destructor of a library, after the end of its Python */
        return releases(name) ? SUCCESS : DEINITIALIZED;
    attach();
    if (notes) hand_over();
    long long answer = served(name, arguments);
    launched = 0;
    return answer;
}

static long long forward_text(const char *name, word *arguments) {
    if (!serve) begin();
    if (!serve) return (long long)"the simulated HIP runtime could not be started";
    long long answer = forward(name, arguments);
    return answer >= FIRST_PAGE ? answer : (long long)"unknown error"; /* a call that fails answers with a number */
}

#define HERE (caller = (word)__builtin_return_address(0))
#define BODY(name, ...) { word arguments[] = {__VA_ARGS__}; HERE; return forward(#name, arguments); }
#define TEXT1(name) long long name(word a) { return forward_text(#name, &a); }
#define TEXT2(name) long long name(word a, word b) { word words[] = {a, b}; return forward_text(#name, words); }
#define CALL0(name) long long name(void) { HERE; return forward(#name, 0); }
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
