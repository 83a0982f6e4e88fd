/* What a program compiled by clang calls besides HIP's functions: registration of its device code, and the two halves of
 * <<< >>>. Sources: clang's CGCUDANV.cpp (names, arguments, magic number), HIP's headers (structures passed by value).
 *
 * Registration happens before main. It is only noted, unless Python already serves: a program that never uses a device
 * never starts Python. A managed variable does, because the program may read it without any call.
 */
typedef struct { unsigned x, y, z; } dim3;
typedef struct { word width, height, depth; } extent;
typedef struct { void *address; word pitch, width, height; } pitched;
typedef struct { int x, y, z, w, kind; } channels;
typedef struct { char bytes[64]; } ipc;

enum { FATBIN_MAGIC = 0x48495046, LONGEST = 5, MISSING_CONFIGURATION = 52 };

struct note {
    const char *name;
    word arguments[LONGEST];
    struct note *next;
};
static struct note *notes, **last_note = &notes;

static long long forward(const char *name, word *arguments);

/* Hand over what was noted; forward() calls it before every call. Other threads wait until all of it is known. */
static void hand_over(void) {
    lock(&noting);
    while (notes) {
        struct note *one = notes;
        serve(one->name, one->arguments);
        notes = one->next;
        if (!notes) last_note = &notes;
        free(one);
    }
    pthread_mutex_unlock(&noting);
}

static void note(const char *name, const word *arguments, int count) {
    struct note *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->name = name;
    memcpy(made->arguments, arguments, count * sizeof *arguments);
    lock(&noting);
    *last_note = made, last_note = &made->next;
    pthread_mutex_unlock(&noting);
}
#define NOTE(name, ...)                                        \
    do {                                                       \
        word words[] = {__VA_ARGS__};                          \
        note(name, words, (int)(sizeof words / sizeof *words)); \
    } while (0)

void **__hipRegisterFatBinary(const void *data) {
    const struct { unsigned magic, version; const void *image; } *wrapper = data;
    void **handle = malloc(sizeof *handle);
    if (!handle) abort();
    *handle = 0;
    if (wrapper->magic != FATBIN_MAGIC)
        fprintf(stderr, "mfmasim: device code with the magic number %#x is ignored; %#x is expected\n", wrapper->magic,
                (unsigned)FATBIN_MAGIC);
    else
        NOTE("programRegister", (word)handle, (word)wrapper->image);
    return handle;
}

void __hipUnregisterFatBinary(void **handle) {
    /* A library that was closed before any call: its addresses are not valid any more. */
    lock(&noting);
    for (struct note **at = &notes; *at;) {
        struct note *one = *at;
        if (one->arguments[0] == (word)handle) {
            *at = one->next;
            free(one);
        } else
            at = &one->next;
    }
    for (last_note = &notes; *last_note;) last_note = &(*last_note)->next;
    pthread_mutex_unlock(&noting);
    if (serve) {
        word words[] = {(word)handle};
        forward("programUnregister", words);
    }
    free(handle);
}

void __hipRegisterFunction(void **handle, const void *host, char *device, const char *name, unsigned threads, void *thread,
                           void *block, void *block_size, void *grid_size, int *wave) {
    (void)device, (void)threads, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)wave;
    NOTE("programFunction", (word)handle, (word)host, (word)name);
}

void __hipRegisterVar(void **handle, void *host, char *host_name, char *name, int external, word size, int constant,
                      int global) {
    (void)host_name, (void)external, (void)constant, (void)global;
    NOTE("programVariable", (word)handle, (word)host, (word)name, size);
}

void __hipRegisterManagedVar(void *handle, void **pointer, void *initial, const char *name, word size, unsigned align) {
    (void)align; /* every allocation begins on a page */
    NOTE("programManaged", (word)handle, (word)pointer, (word)initial, (word)name, size);
    forward("programReady", 0);
}

void __hipRegisterTexture(void **handle, void *host, char *host_name, char *name, int type, int normalized, int external) {
    (void)handle, (void)host, (void)host_name, (void)name, (void)type, (void)normalized, (void)external;
}
void __hipRegisterSurface(void **handle, void *host, char *host_name, char *name, int type, int external) {
    (void)handle, (void)host, (void)host_name, (void)name, (void)type, (void)external;
}

/* <<< >>>: pushed before the arguments are evaluated, which may launch as well, and popped by the kernel's stub. */
enum { DEPTH = 64 };
static __thread struct { dim3 grid, block; word shared; void *stream; word place; } configurations[DEPTH];
static __thread int depth;

int __hipPushCallConfiguration(dim3 grid, dim3 block, word shared, void *stream) {
    if (depth == DEPTH) return MISSING_CONFIGURATION;
    configurations[depth].grid = grid, configurations[depth].block = block;
    configurations[depth].shared = shared, configurations[depth].stream = stream;
    configurations[depth].place = (word)__builtin_return_address(0);
    ++depth;
    return 0;
}

int __hipPopCallConfiguration(dim3 *grid, dim3 *block, word *shared, void **stream) {
    if (!depth) return MISSING_CONFIGURATION;
    --depth;
    *grid = configurations[depth].grid, *block = configurations[depth].block;
    *shared = configurations[depth].shared, *stream = configurations[depth].stream;
    launched = configurations[depth].place;
    return 0;
}

/* The precompiled header of hipRTC, which does not exist here. */
void __hipGetPCH(const char **header, unsigned *size) { *header = 0, *size = 0; }

/* Calls with larger structures by value, which the conventions pass in memory. */
#define PASS(name, ...)                \
    do {                               \
        word words[] = {__VA_ARGS__};  \
        caller = (word)__builtin_return_address(0); \
        return forward(#name, words);  \
    } while (0)
#define EXTENT(e) (e).width, (e).height, (e).depth
#define PITCHED(p) (word)(p).address, (p).pitch, (p).width, (p).height

long long hipMalloc3D(void *out, extent size) { PASS(hipMalloc3D, (word)out, EXTENT(size)); }
long long hipMemset3D(pitched to, int value, extent size) { PASS(hipMemset3D, PITCHED(to), value, EXTENT(size)); }
long long hipMemset3D_spt(pitched to, int value, extent size) { PASS(hipMemset3D, PITCHED(to), value, EXTENT(size)); }
long long hipMemset3DAsync(pitched to, int value, extent size, void *stream) {
    PASS(hipMemset3DAsync, PITCHED(to), value, EXTENT(size), (word)stream);
}
long long hipMemset3DAsync_spt(pitched to, int value, extent size, void *stream) {
    PASS(hipMemset3DAsync, PITCHED(to), value, EXTENT(size), (word)stream);
}
long long hipIpcOpenMemHandle(void **out, ipc handle, unsigned flags) {
    PASS(hipIpcOpenMemHandle, (word)out, (word)&handle, flags);
}
long long hipIpcOpenEventHandle(void **out, ipc handle) { PASS(hipIpcOpenEventHandle, (word)out, (word)&handle); }
channels hipCreateChannelDesc(int x, int y, int z, int w, int kind) {
    channels made = {x, y, z, w, kind};
    return made;
}
