// Tiles in other ways: as before the change (bytes made one by one in software, stored without a hint), without the
// transposed matrix, and of one row for each thread, the last tile of a full cascade.
#include "transpose.h"

struct one_by_one {
  template <target To, int Wide>
  MFMASIM_DEVICE word<Wide> pack(const float *x) {
    static_assert(To == e4m3, "of this format alone");
    word<Wide> packed = 0;
    for (int i = 0; i < Wide; ++i) packed |= (word<Wide>)e4m3_in_software(x[i]) << 8 * i;
    return packed;
  }
  template <typename Word, typename At>
  MFMASIM_DEVICE void store(Word value, At *at) {
    *at = value;
  }
};
TILES_AS(f32, e4m3, 8, 8, baseline, , 1, 1, true, one_by_one)
TILES_AS(bf16, e4m3, 8, 8, baseline, , 1, 1, true, one_by_one)
TILES_AS(bf16, e4m3, 16, 8, baseline, , 1, 1, true, one_by_one)

TILES_AS(f32, e4m3, 16, 8, only_cast, , 1, 1, false)
TILES_AS(bf16, e4m3, 8, 8, only_cast, , 1, 1, false)

#define SHORT(from, a, b, c) \
  TILES(from, e4m3, a, 1, 1, cast_transpose) TILES(from, e4m3, b, 1, 1, cast_transpose) TILES(from, e4m3, c, 1, 1, cast_transpose)
SHORT(f32, 16, 8, 4)
SHORT(bf16, 8, 4, 2)
