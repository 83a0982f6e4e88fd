/* The Python interpreter of the process: the one that loaded this library, or one that the library starts.
 *
 * "built.h" (mfmasim/hiprt/build.py) defines strings: MFMASIM_LIBPYTHON, the path of the shared library of the Python
 * that built this library, or a text without a slash that says why there is none; MFMASIM_PYTHONHOME, the folder of that
 * Python; MFMASIM_SITES, a Python list of the folders of its packages; MFMASIM_PACKAGE, mfmasim's folder.
 *
 * A started interpreter belongs to no thread: a call enters it and leaves it again. Its threads stay attached until they
 * end, so that what Python keeps for a thread (current device, last error) lives as long as the thread.
 */
#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long word;
typedef long long (*handler)(const char *name, word *arguments);
typedef int (*ending)(int status);

static handler serve;
static ending finish;
static int started; /* whether this library started the interpreter */

static struct {
    int (*run)(const char *);
    int (*ensure)(void);
    void (*release)(int);
    int (*ready)(void);
    int (*holds)(void);
    void (*init)(int);
    void *(*save)(void);
    void (*restore)(void *);
    void (*clear)(void *);
    void (*delete_current)(void);
    void (*before_fork)(void);
    void (*fork_parent)(void);
    void (*fork_child)(void);
    void (*fetch)(void **, void **, void **);
    void (*set)(void *, void *, void *);
} py;

/* Called by mfmasim.hiprt.serving once it can answer. */
void mfmasim_hiprt_serve(handler answer, ending end) { finish = end, serve = answer; }

static int find_python(void *place) {
    const char *names[] = {
        "PyRun_SimpleString",   "PyGILState_Ensure",   "PyGILState_Release",          "Py_IsInitialized",
        "PyGILState_Check",     "Py_InitializeEx",     "PyEval_SaveThread",           "PyEval_RestoreThread",
        "PyThreadState_Clear",  "PyThreadState_DeleteCurrent", "PyOS_BeforeFork",     "PyOS_AfterFork_Parent",
        "PyOS_AfterFork_Child", "PyErr_Fetch",         "PyErr_Restore",
    };
    void *found[sizeof names / sizeof *names];
    for (unsigned i = 0; i < sizeof names / sizeof *names; ++i)
        if (!(found[i] = dlsym(place, names[i]))) return 0;
    memcpy(&py, found, sizeof found); /* POSIX: pointers to functions and to data have one representation */
    return 1;
}

/* Whether this thread has Python's lock; PyGILState_Check answers yes as long as there is no interpreter. */
static int holds(void) { return py.ready && py.holds && py.ready() && py.holds(); }

/* Locks of this library. Python's own is released meanwhile: who has the lock may need it. */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER, noting = PTHREAD_MUTEX_INITIALIZER;
static void lock(pthread_mutex_t *one) {
    if (!pthread_mutex_trylock(one)) return;
    void *state = holds() ? py.save() : 0;
    pthread_mutex_lock(one);
    if (state) py.restore(state);
}

/* fork() by the program, not by Python: the interpreter is entered before and left after, in both processes. */
static __thread int forking, fork_state;
static void before_fork(void) {
    if (holds()) return;
    pthread_mutex_lock(&starting);
    pthread_mutex_lock(&noting);
    forking = 1;
    if (!started) return;
    fork_state = py.ensure();
    py.before_fork();
}
static void after_fork(void (*call)(void)) {
    if (!forking) return;
    forking = 0;
    if (started) {
        call();
        py.release(fork_state);
    }
    pthread_mutex_unlock(&noting);
    pthread_mutex_unlock(&starting);
}
static void after_fork_parent(void) { after_fork(py.fork_parent); }
static void after_fork_child(void) {
    if (!forking) { /* by Python: another thread of the parent may have had them */
        pthread_mutex_init(&starting, 0);
        pthread_mutex_init(&noting, 0);
    }
    after_fork(py.fork_child);
}
__attribute__((constructor)) static void at_fork(void) {
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* Threads of the program. */
static pthread_key_t attachment;
static __thread int attached;
static void detach(void *thread) {
    /* Not by PyGILState_Release: the system may have cleared Python's own value of the ending thread already. */
    py.restore(thread);
    py.clear(thread);
    py.delete_current();
}
static void attach(void) {
    if (!started || attached) return;
    attached = 1;
    py.ensure();
    pthread_setspecific(attachment, py.save());
}

static void init_python(int ours) {
    const char *home = getenv("PYTHONHOME");
    char *kept = home ? strdup(home) : 0, *locale = strdup(setlocale(LC_CTYPE, 0));
    char program[16384];

    if (ours) setenv("PYTHONHOME", MFMASIM_PYTHONHOME, 1);
    py.init(0); /* without signal handlers: signals are the program's */
    setlocale(LC_CTYPE, locale);
    int size = snprintf(program, sizeof program,
                        "import os, site\n"
                        "for folder in %s:\n"
                        "    site.addsitedir(folder)\n"
                        "os.environ.pop('PYTHONHOME', None)\n",
                        ours ? MFMASIM_SITES : "[]");
    if (size < (int)sizeof program) py.run(program);
    if (kept) setenv("PYTHONHOME", kept, 1);
    free(kept), free(locale);
    pthread_key_create(&attachment, detach);
    attached = started = 1;
    py.save();
}

/* Find the shared library of Python and start it; 0 after a message if there is none. */
static int start_python(void) {
    const char *chosen = getenv("MFMASIM_HIPRT_LIBPYTHON");
    int ours = !chosen || !*chosen;
    const char *name = ours ? MFMASIM_LIBPYTHON : chosen;
    void *library = strchr(name, '/') ? dlopen(name, RTLD_NOW | RTLD_GLOBAL) : 0;

    if (!library || !find_python(library)) {
        const char *why = strchr(name, '/') ? dlerror() : name;
        fprintf(stderr,
                "mfmasim: the simulated HIP runtime needs Python in this program: %s; install Python's shared library, "
                "or name it in MFMASIM_HIPRT_LIBPYTHON\n",
                why ? why : "the library is not Python's");
        return 0;
    }
    if (!py.ready()) init_python(ours);
    return 1;
}

/* Let Python serve: it imports mfmasim.hiprt.serving, which calls mfmasim_hiprt_serve. */
static void import_serving(void) {
    char program[8192];
    Dl_info self;

    if (!dladdr((void *)mfmasim_hiprt_serve, &self)) return;
    int state = py.ensure();
    /* The package that started the program is taken, and nothing else from its folder unless it is missing. */
    int size = snprintf(program, sizeof program,
                        "import os, sys\n"
                        "if folder := os.environ.get('MFMASIM_HIPRT_PACKAGE') or %s:\n"
                        "    sys.path.insert(0, folder)\n"
                        "    import mfmasim\n"
                        "    sys.path.remove(folder)\n"
                        "    sys.path.append(folder)\n"
                        "import mfmasim.hiprt.serving\n"
                        "mfmasim.hiprt.serving.begin(r'''%s''', %d)\n",
                        started ? MFMASIM_PACKAGE : "''", self.dli_fname, started);
    if (size < (int)sizeof program) py.run(program); /* prints a traceback when it fails */
    py.release(state);
}

/* The first call, of whichever thread; all others wait for it. */
static void begin(void) {
    static int failed;
    static __thread int within;

    if (failed || within) return;
    int there = find_python(RTLD_DEFAULT) && py.ready();
    lock(&starting);
    within = 1;
    if (!serve && !failed) {
        if (started || there || start_python()) import_serving();
        failed = !serve;
    }
    within = 0;
    pthread_mutex_unlock(&starting);
}

/* The end of a program whose interpreter this library started: after the program's own handlers and destructors. */
#if defined(__GLIBC__)
static void end(int status, void *unused) {
    (void)unused;
    if (!started || !finish) return;
    attach();
    py.ensure(); /* kept, so that other threads run no Python while the process ends */
    int code = finish(status);
    if (code != status) exit(code); /* glibc goes on with the remaining handlers */
}
__attribute__((constructor)) static void at_exit(void) { on_exit(end, 0); }
#else
static void end(void) {
    if (!started || !finish) return;
    attach();
    py.ensure();
    finish(0);
}
__attribute__((constructor)) static void at_exit(void) { atexit(end); }
#endif
