/* What the checks of streams need: where calls come from, and what the program touches between them.
 *
 * Pages of pinned and managed memory that work in flight reads or writes are protected while the program runs; its first
 * access to such a page is noted, and the page opens. Python opens all of them before it serves a call.
 */
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { RANGES = 512, HITS = 64, AGAIN = 8, PAGE_BYTES = 4096 };

static __thread word caller, launched; /* return addresses of the call, and of the <<< >>> that it is part of */
word mfmasim_hiprt_caller(void) { return caller; }
word mfmasim_hiprt_launched(void) { return launched; }

struct range { word first, end, shut; }; /* shut: not even reads; otherwise reads only */
struct hit { word address, place, writes; };
static struct range ranges[RANGES];
static struct hit hits[HITS];
static volatile int range_count, former_count, hit_count;
static struct sigaction former_action;

static int within(word address, int count) {
    for (int i = 0; i < count; ++i)
        if (address >= ranges[i].first && address < ranges[i].end) return 1;
    return 0;
}

static void on_fault(int number, siginfo_t *info, void *context) {
    static __thread word last;
    static __thread int repeated;
    word address = (word)info->si_addr, place = 0, writes = 2;
#if defined(__x86_64__)
    place = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    writes = ((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] >> 1 & 1;
#elif defined(__aarch64__)
    place = ((ucontext_t *)context)->uc_mcontext.pc;
#endif
    repeated = address == last ? repeated + 1 : 0, last = address;
    if (repeated < AGAIN && within(address, range_count)) {
        int slot = __sync_fetch_and_add(&hit_count, 1);
        if (slot < HITS) hits[slot] = (struct hit){address, place, writes};
        mprotect((void *)(address & -(word)PAGE_BYTES), PAGE_BYTES, PROT_READ | PROT_WRITE);
    } else if (repeated < AGAIN && within(address, former_count)) {
        return; /* another thread has opened the page meanwhile */
    } else if (former_action.sa_flags & SA_SIGINFO) {
        former_action.sa_sigaction(number, info, context);
    } else if (former_action.sa_handler == SIG_DFL || former_action.sa_handler == SIG_IGN) {
        signal(number, SIG_DFL); /* the access is repeated, and ends the program */
    } else {
        former_action.sa_handler(number);
    }
}

/* Open what is protected, then protect these ranges: first, end, shut of each, whole pages. */
void mfmasim_hiprt_protect(const word *given, int count) {
    static int installed;
    for (int i = 0; i < range_count; ++i)
        mprotect((void *)ranges[i].first, ranges[i].end - ranges[i].first, PROT_READ | PROT_WRITE);
    former_count = range_count, range_count = 0;
    if (!count) return;
    if (!installed) {
        struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigaction(SIGSEGV, &action, &former_action);
        installed = 1;
    }
    if (count > RANGES) count = RANGES;
    memcpy(ranges, given, count * sizeof *ranges);
    range_count = former_count = count;
    for (int i = 0; i < count; ++i)
        mprotect((void *)ranges[i].first, ranges[i].end - ranges[i].first, ranges[i].shut ? PROT_NONE : PROT_READ);
}

/* Take the accesses that were noted: address, instruction and kind (0 a read, 1 a write, 2 unknown) of each. */
int mfmasim_hiprt_hits(word *out) {
    int count = hit_count < HITS ? hit_count : HITS;
    memcpy(out, hits, count * sizeof *hits);
    hit_count = 0;
    return count;
}
