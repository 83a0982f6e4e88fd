"""Accesses to memory in C: where a lane's bytes lie, what a store writes, and how that is taken back.

A lane that leaves every buffer, or the LDS of its workgroup, makes its step fail: what the step has written is put
back, and the machine executes it. A store is prepared for all waves of the step, and then written in NumPy's order:
dword after dword for all lanes, or byte after byte where one lane is not aligned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.machine.state.memory import Memory

FIELDS = (
    "arena", "base", "buffers", "starts", "ends", "writable", "lds", "stride", "limit", "workgroup", "at", "data",
    "undo", "undone", "low", "high", "store_low", "store_high",
)  # fmt: skip
"""Pointers and numbers that C gets, by their places in one array of int64; the last four are the buffers of the last
load and store."""
WORDS = 4
"""Dwords of a lane in the data of a store."""
UNDO = np.dtype([("at", np.uint64), ("old", np.uint32), ("bytes", np.uint32)])
"""What a store overwrote: where, and what."""

TEXT = f"""
enum {{ {", ".join(f"M_{field.upper()}" for field in FIELDS)} }};
typedef struct {{ u8 *at; u32 old; u32 bytes; }} Undo;
IN u32 get(const u8 *at, int bytes) {{ /* 1, 2 or 4 */
  if (bytes == 4) {{ u32 x; memcpy(&x, at, 4); return x; }}
  if (bytes == 2) {{ u16 x; memcpy(&x, at, 2); return x; }}
  return *at;
}}
/* The buffer of an offset into the arena becomes the last one; whether there is one. */
static int found(i64 *m, i64 offset, i64 size, int write) {{
  const i64 *starts = (const i64 *)m[M_STARTS], *ends = (const i64 *)m[M_ENDS];
  i64 low = 0, high = m[M_BUFFERS];
  while (low < high) {{
    const i64 half = (low + high) / 2;
    if (starts[half] <= offset) low = half + 1; else high = half;
  }}
  if (!low || offset + size > ends[low - 1]) return 0;
  if (write && !((const u8 *)m[M_WRITABLE])[low - 1]) return 0;
  m[write ? M_STORE_LOW : M_LOW] = starts[low - 1];
  m[write ? M_STORE_HIGH : M_HIGH] = ends[low - 1];
  return 1;
}}
IN u8 *in_global(i64 *m, u64 address, i64 size, int write, i64 w) {{
  const i64 offset = (i64)address - m[M_BASE];
  (void)w;
  if (!(offset >= m[write ? M_STORE_LOW : M_LOW] && offset + size <= m[write ? M_STORE_HIGH : M_HIGH])
      && (offset < 0 || !found(m, offset, size, write))) return 0;
  return (u8 *)m[M_ARENA] + offset;
}}
IN u8 *in_lds(i64 *m, u64 address, i64 size, int write, i64 w) {{
  (void)write;
  if (address > (u64)m[M_LIMIT] || (i64)address + size > m[M_LIMIT]) return 0;
  return (u8 *)m[M_LDS] + ((const i64 *)m[M_WORKGROUP])[w] * m[M_STRIDE] + address;
}}
static void put(i64 *m, u8 *at, u32 word, int bytes) {{
  Undo *const undo = (Undo *)m[M_UNDO] + m[M_UNDONE]++;
  undo->at = at; undo->old = get(at, bytes); undo->bytes = (u32)bytes;
  if (bytes == 4) memcpy(at, &word, 4); else *at = (u8)word;
}}
static void write_all(i64 *m, i64 n, int lanes, const u8 *ran, int size) {{
  u8 **const at = (u8 **)m[M_AT];
  const u32 *const data = (const u32 *)m[M_DATA];
  int aligned = size % 4 == 0;
  for (i64 w = 0; aligned && w < n; w++) if (ran[w])
    for (int l = 0; l < lanes; l++) aligned &= !((u64)at[w * lanes + l] & 3);
  const int bytes = aligned ? 4 : 1;
  for (int k = 0; k < size; k += bytes) for (i64 w = 0; w < n; w++) if (ran[w])
    for (int l = 0; l < lanes; l++) if (at[w * lanes + l])
      put(m, at[w * lanes + l] + k, data[(w * {WORDS} + k / 4) * lanes + l] >> 8 * (k & 3), bytes);
}}
static void take_back(i64 *m) {{
  while (m[M_UNDONE]) {{
    const Undo *const undo = (const Undo *)m[M_UNDO] + --m[M_UNDONE];
    if (undo->bytes == 4) memcpy(undo->at, &undo->old, 4); else *undo->at = (u8)undo->old;
  }}
}}
"""


class Spaces:
    """The memory of a launch, as a passage accesses it."""

    def __init__(self, memory: Memory, lds: NDArray[np.uint8], limit: int) -> None:
        """Look at the memory of a launch.

        Args:
            memory: global memory.
            lds: LDS of each workgroup in flight, (workgroups, bytes).
            limit: bytes that each may use.
        """
        self.lds = lds
        starts, ends, writable = memory.extents
        self._kept = (memory.arena, starts, ends, writable, lds)
        self._fixed = {
            "arena": memory.arena.ctypes.data,
            "base": memory.base,
            "buffers": len(starts),
            "starts": starts.ctypes.data,
            "ends": ends.ctypes.data,
            "writable": writable.ctypes.data,
            "lds": lds.ctypes.data,
            "stride": lds.shape[1],
            "limit": limit,
        }

    def fields(self, workgroup: NDArray[Any], lanes: int, stored: int) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
        """What C gets, and arrays that have to stay as long as it runs.

        Args:
            workgroup: of each wave.
            lanes: of a wave.
            stored: bytes that the stores of a block write per lane at most.
        """
        waves = len(workgroup)
        own = np.ascontiguousarray(workgroup, np.int64)
        at, data = np.empty((waves, lanes), np.uint64), np.empty((waves, WORDS, lanes), np.uint32)
        undo = np.empty(waves * lanes * stored, UNDO)
        moving: dict[str, NDArray[Any]] = {"workgroup": own, "at": at, "data": data, "undo": undo}
        numbers = {**self._fixed, **{name: array.ctypes.data for name, array in moving.items()}}
        fields = np.array([numbers.get(field, 0) for field in FIELDS], np.int64)
        return fields, (own, at, data, undo)
