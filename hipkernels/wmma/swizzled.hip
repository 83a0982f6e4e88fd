// The LDS without padding, 12,288 bytes in place of 18,432: which half of a line of 16 lies first depends on the line.
#include "product.h"

// Bit SHIFT of the line exchanges the two halves. Eight lanes read 256 bytes at a time, lines 0 to 7: of the 32 banks of
// four bytes each is met once where line 4 goes the other way than line 0 (SHIFT 2), and twice where line 1 does
// (SHIFT 0), which is what no exchange at all gives, too.
template <int SHIFT>
struct Exchanged {
  static constexpr int k = 16;
  static constexpr int size(int lines) { return lines * k; }
  static __device__ int at(int, int line, int k_) { return line * k + (k_ ^ (line >> SHIFT & 1) << 3); }
};

KERNEL(swizzled, 256, ahead<Waves<4, 2>, Exchanged<2>, Whole>)
KERNEL(swizzled_by_8, 256, ahead<Waves<4, 2>, Exchanged<3>, Whole>)
KERNEL(swizzled_as_published, 256, ahead<Waves<4, 2>, Exchanged<0>, Whole>)
KERNEL(not_swizzled, 256, ahead<Waves<4, 2>, Separate<1>, Whole>)
