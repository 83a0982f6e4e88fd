"""The C function that runs a region, as the machine's own loop would: the same waves take the same steps in turn.

A step executes one block for all waves that stand at it: those at the lowest address first. Waves of other groups do
not run meanwhile, so that the function stops where the machine would let them: at an address of theirs or beyond it,
and where a wave is too far ahead of another one. It stops after the step that uses up a budget, and after one that
brings a wave back to the registers of which it was given a copy; what that means the machine decides, as after every
step. A step in which EXEC enables a lane with undefined bits is taken back, and so is one that accesses memory outside
every buffer: the machine executes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

FIELDS = (
    "waves", "weight", "patience", "whole", "others_most", "others_least", "first_other", "budget", "most_steps",
    "most_instructions", "automata", "compare", "steps", "instructions", "last", "failed",
)  # fmt: skip
"""The numbers that go in and come out, by their places in one array of int64."""


@dataclass(frozen=True)
class Steps:
    """What the driver knows of a block, or of an address behind the region."""

    size: int
    """Instructions; 0 behind the region."""
    stores: Sequence[int]
    """Bytes per lane of each store: it ends a part of the block."""
    memory: bool
    """Whether it accesses memory, so that it may fail."""
    barrier: bool
    """Whether it ends with a barrier."""


def driver(lanes: int, scalars: int, vectors: int, blocks: Sequence[Steps]) -> str:
    """The text of ``run``.

    Args:
        lanes: of a wave.
        scalars: scalar registers of the region.
        vectors: registers of a dword a lane.
        blocks: in the order of addresses.
    """
    sizes = [block.size for block in blocks]
    firsts = [sum(len(block.stores) + 1 for block in blocks[:number]) for number in range(len(blocks))]
    stored = [size for block in blocks for size in (*block.stores, 0)]
    enum = ", ".join(field.upper() for field in FIELDS)
    calls = "\n".join(
        f"case {first + part}: next_place = block{number}_{part}(s, v, act, m, w); break;"
        for number, (first, block) in enumerate(zip(firsts, blocks, strict=True))
        for part in range(len(block.stores) + 1)
        if block.size
    )
    row = scalars + vectors * lanes + lanes + 2
    barriers = ", ".join(str(int(block.barrier)) for block in blocks)
    return f"""
enum {{ {enum} }};
static const i64 size[] = {{ {", ".join(map(str, sizes))} }};
static const int first_part[] = {{ {", ".join(map(str, firsts))} }}, stored[] = {{ {", ".join(map(str, stored))} }};
static const u8 barrier[] = {{ {barriers} }};
static const u8 memory[] = {{ {", ".join(str(int(block.memory)) for block in blocks)} }};
CLONES void run(i64 *p, u32 *S, u32 *V, u32 *A, i32 *now, i64 *executed, i64 *runs, i64 *stepped, const u8 *allowed,
         u8 *ran, const u64 *undefined, u32 *saved, const i32 **next, i32 **state, i32 **before, const u32 *S0,
         const u32 *V0, const i32 *now0, i64 *m, i32 *then, u8 *waiting) {{
  const i64 n = p[WAVES];
  i64 steps = 0, instructions = 0, last = -1;
  i64 known_least = 0;
  for (i64 w = 0; w < n; w++) if (!w || executed[w] < known_least) known_least = executed[w];
  i64 most = p[OTHERS_MOST];
  for (i64 w = 0; w < n; w++) if (executed[w] > most) most = executed[w];
  for (int stop = 0; !stop;) {{
    i32 r = INT32_MAX;
    int together = 1;
    for (i64 w = 0; w < n; w++) {{
      together &= now[w] == now[0] && !waiting[w];
      if (!waiting[w] && now[w] < r) r = now[w];
    }}
    if (r == INT32_MAX) {{ /* all have arrived */
      memset(waiting, 0, n);
      continue;
    }}
    if (!size[r] || !allowed[r] || r >= p[FIRST_OTHER]) break;
    if (steps >= p[MOST_STEPS] || instructions >= p[MOST_INSTRUCTIONS]) break;
    if (!(together && p[WHOLE])) {{
      const i64 limit = most - p[PATIENCE];
      if (limit > 0 && (known_least < limit || p[OTHERS_LEAST] < limit)) {{
        known_least = executed[0];
        for (i64 w = 1; w < n; w++) if (executed[w] < known_least) known_least = executed[w];
        if (known_least < limit || p[OTHERS_LEAST] < limit) break;
      }}
    }}
    int known = 1;
    for (i64 k = 0; k < p[AUTOMATA]; k++)
      for (i64 w = 0; w < n; w++)
        if (now[w] == r && !waiting[w]) known &= next[k][(i64)state[k][w] * {len(sizes)} + r] >= 0;
    if (!known) break;
    int opened = 0, failed = 0;
    const int saving = undefined || memory[r];
    if (memory[r]) m[M_UNDONE] = 0;
    for (int part = first_part[r];; part++) {{
    for (i64 w = 0; w < n && !failed; w++) {{
      if (now[w] != r || waiting[w]) continue;
      u32 *const s = S + w * {scalars}, *const v = V + w * {vectors * lanes}, *const act = A + w * {lanes + 2};
      i32 next_place = 0;
      if (saving && part == first_part[r]) {{
        memcpy(saved + w * {row}, s, {4 * scalars});
        memcpy(saved + w * {row} + {scalars}, v, {4 * vectors * lanes});
        memcpy(saved + w * {row} + {scalars + vectors * lanes}, act, {4 * (lanes + 2)});
      }}
      switch (part) {{
{calls}
      }}
      ran[w] = 1;
      then[w] = next_place;
      failed |= next_place < 0;
      if (undefined) opened |= ((act[{lanes}] | (u64)act[{lanes + 1}] << 32) & undefined[w]) != 0;
    }}
    if (failed || !stored[part]) break;
    write_all(m, n, {lanes}, ran, stored[part]);
    }}
    if (opened || failed) {{
      if (memory[r]) take_back(m);
      for (i64 w = 0; w < n; w++) {{
        if (!ran[w]) continue;
        memcpy(S + w * {scalars}, saved + w * {row}, {4 * scalars});
        memcpy(V + w * {vectors * lanes}, saved + w * {row} + {scalars}, {4 * vectors * lanes});
        memcpy(A + w * {lanes + 2}, saved + w * {row} + {scalars + vectors * lanes}, {4 * (lanes + 2)});
        ran[w] = 0;
      }}
      p[FAILED] = failed;
      break;
    }}
    steps++;
    if (stored[first_part[r]]) p[COMPARE] = 0;
    for (i64 w = 0; w < n; w++) {{
      if (!ran[w]) continue;
      ran[w] = 0;
      now[w] = then[w];
      waiting[w] = barrier[r];
      for (i64 k = 0; k < p[AUTOMATA]; k++) {{
        before[k][w] = state[k][w];
        state[k][w] = next[k][(i64)state[k][w] * {len(sizes)} + r];
      }}
      stepped[w] = steps;
      runs[r] += p[WEIGHT];
      instructions += size[r] * p[WEIGHT];
      executed[w] += size[r];
      if (executed[w] > most) most = executed[w];
      stop |= executed[w] > p[BUDGET];
      if (p[COMPARE] && now[w] == now0[w])
        stop |= !memcmp(S + w * {scalars}, S0 + w * {scalars}, {4 * scalars})
             && !memcmp(V + w * {vectors * lanes}, V0 + w * {vectors * lanes}, {4 * vectors * lanes});
    }}
    last = r;
  }}
  p[STEPS] = steps;
  p[INSTRUCTIONS] = instructions;
  p[LAST] = last;
}}
"""


MASKS = """
IN void expand32(u32 *restrict m, u32 low, u32 high) {
  (void)high;
  for (int l = 0; l < 32; l++) m[l] = (low & (1u << l)) ? ~0u : 0u;
}
IN void expand64(u32 *restrict m, u32 low, u32 high) {
  for (int l = 0; l < 32; l++) m[l] = (low & (1u << l)) ? ~0u : 0u;
  for (int l = 0; l < 32; l++) m[32 + l] = (high & (1u << l)) ? ~0u : 0u;
}
IN u64 pack_bytes(const u8 *c, int bytes) {
  u64 m = 0;
  for (int i = 0; i < bytes; i++) {
    u64 x = 0;
    for (int k = 0; k < 8; k++) x |= (u64)c[8 * i + k] << (8 * k);
    m |= (x * 0x0102040810204080ull >> 56) << (8 * i);
  }
  return m;
}
IN u64 pack32(const u8 *c) { return pack_bytes(c, 4); }
IN u64 pack64(const u8 *c) { return pack_bytes(c, 8); }
"""
"""Lane masks as dwords, and from booleans."""
