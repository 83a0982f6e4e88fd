/* Conversions to bfloat16 that a compiler calls in host code, and that GCC's library has from release 13 on: a number of
 * 16 bits is returned in the low bits of the register of a float, on x86-64 and on AArch64. */
#include <string.h>

static float bfloat16_of(unsigned bits) {
    unsigned code = bits >> 16;
    if ((bits & 0x7fffffffu) > 0x7f800000u) code |= 0x40; /* a NaN stays one, and becomes quiet */
    else code = (bits + 0x7fff + (code & 1)) >> 16;
    float place;
    memcpy(&place, &code, sizeof place);
    return place;
}

float __truncsfbf2(float x) {
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bfloat16_of(bits);
}

/* Towards zero, with a last bit for what was lost, so that the next rounding is the only one. */
float __truncdfbf2(double x) {
    float near = (float)x;
    unsigned bits;
    memcpy(&bits, &near, sizeof bits);
    if ((double)near != x && x == x) {
        double magnitude = x < 0 ? -x : x, of_near = near < 0 ? -(double)near : (double)near;
        bits = (bits - (of_near > magnitude)) | 1;
    }
    return bfloat16_of(bits);
}
