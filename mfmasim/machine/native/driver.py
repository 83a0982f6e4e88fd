"""The C function that runs a region, as the machine's own loop would: the same waves take the same steps in turn.

A step executes one block for all waves that stand at it: those at the lowest address first. Waves of other groups do
not run meanwhile, so that the function stops where the machine would let them: at an address of theirs or beyond it,
and where a wave is too far ahead of another one. It stops after the step that uses up a budget, and after one that
brings a wave back to the registers of which it was given a copy; what that means the machine decides, as after every
step. A step in which EXEC enables a lane with undefined bits is taken back: the machine executes it.
"""

from __future__ import annotations

FIELDS = (
    "waves", "weight", "patience", "whole", "others_most", "others_least", "first_other", "budget", "most_steps",
    "most_instructions", "automata", "compare", "steps", "instructions", "last",
)  # fmt: skip
"""The numbers that go in and come out, by their places in one array of int64."""


def driver(lanes: int, scalars: int, vectors: int, sizes: list[int], exits: int) -> str:
    """The text of ``run``.

    Args:
        lanes: of a wave.
        scalars: scalar registers of the region.
        vectors: registers of a dword a lane.
        sizes: instructions of each block, in the order of addresses; of an address behind the region 0.
        exits: how many of those there are.
    """
    enum = ", ".join(field.upper() for field in FIELDS)
    calls = "\n".join(
        f"case {number}: now[w] = block{number}(s, v, act); break;" for number, size in enumerate(sizes) if size
    )
    assert exits == sizes.count(0)
    row = scalars + vectors * lanes + lanes + 2
    return f"""
enum {{ {enum} }};
static const i64 size[] = {{ {", ".join(map(str, sizes))} }};
CLONES void run(i64 *p, u32 *S, u32 *V, u32 *A, i32 *now, i64 *executed, i64 *runs, i64 *stepped, const u8 *allowed,
         u8 *ran, const u64 *undefined, u32 *saved, const i32 **next, i32 **state, i32 **before, const u32 *S0,
         const u32 *V0, const i32 *now0) {{
  const i64 n = p[WAVES];
  i64 steps = 0, instructions = 0, last = -1;
  i64 known_least = 0;
  for (i64 w = 0; w < n; w++) if (!w || executed[w] < known_least) known_least = executed[w];
  i64 most = p[OTHERS_MOST];
  for (i64 w = 0; w < n; w++) if (executed[w] > most) most = executed[w];
  for (int stop = 0; !stop;) {{
    i32 r = now[0];
    int together = 1;
    for (i64 w = 1; w < n; w++) {{ together &= now[w] == now[0]; r = now[w] < r ? now[w] : r; }}
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
        if (now[w] == r) known &= next[k][(i64)state[k][w] * {len(sizes)} + r] >= 0;
    if (!known) break;
    int opened = 0;
    for (i64 w = 0; w < n; w++) {{
      if (now[w] != r) continue;
      u32 *const s = S + w * {scalars}, *const v = V + w * {vectors * lanes}, *const act = A + w * {lanes + 2};
      if (undefined) {{
        memcpy(saved + w * {row}, s, {4 * scalars});
        memcpy(saved + w * {row} + {scalars}, v, {4 * vectors * lanes});
        memcpy(saved + w * {row} + {scalars + vectors * lanes}, act, {4 * (lanes + 2)});
      }}
      switch (r) {{
{calls}
      }}
      ran[w] = 1;
      if (undefined) opened |= ((act[{lanes}] | (u64)act[{lanes + 1}] << 32) & undefined[w]) != 0;
    }}
    if (opened) {{
      for (i64 w = 0; w < n; w++) {{
        if (!ran[w]) continue;
        memcpy(S + w * {scalars}, saved + w * {row}, {4 * scalars});
        memcpy(V + w * {vectors * lanes}, saved + w * {row} + {scalars}, {4 * vectors * lanes});
        memcpy(A + w * {lanes + 2}, saved + w * {row} + {scalars + vectors * lanes}, {4 * (lanes + 2)});
        now[w] = r;
      }}
      break;
    }}
    steps++;
    for (i64 w = 0; w < n; w++) {{
      if (!ran[w]) continue;
      ran[w] = 0;
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
