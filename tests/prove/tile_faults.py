"""Kernels for gfx1250 with one fault each: the tensor data mover, and copies between memory and the LDS."""

from __future__ import annotations

from tests.prove.hostile import Hostile

WAVE = " v_lshrrev_b32 v6, 5, v0\n v_readfirstlane_b32 s6, v6\n s_mov_b32 s30, s12\n s_mov_b32 s31, s14\n"
"""s6: the wave's number; s30 and s31: n and k."""


def tile(
    columns: str = "s30",
    rows: str = "s31",
    *,
    width: int = 16,
    height: int = 4,
    lds: int = 0,
    words: str = "",
    pitch: str = "s12",
    flags: int = 0,
) -> str:
    """Move `height` rows of `width` dwords of the array that is read, from its begin on, to the LDS.

    Args:
        columns: register of the tensor's first size.
        rows: of its second one.
        width: elements of a row of the tile.
        height: its rows.
        lds: where it begins.
        words: instructions that change the descriptor, s[16:27].
        pitch: register of the elements from a row to the next.
        flags: bits of the descriptor's dword 4 besides the size of an element.
    """
    return (
        f" s_mov_b32 s16, 1\n s_mov_b32 s17, {lds}\n s_mov_b32 s18, s8\n s_and_b32 s19, s9, 0x1ffffff\n"
        f" s_or_b32 s19, s19, 0x80000000\n s_mov_b32 s20, {0x20000 | flags:#x}\n s_lshl_b32 s21, {columns}, 16\n"
        f" s_lshr_b32 s22, {columns}, 16\n s_lshl_b32 s23, {rows}, 16\n s_or_b32 s22, s22, s23\n"
        f" s_lshr_b32 s23, {rows}, 16\n s_or_b32 s23, s23, {width << 16:#x}\n s_mov_b32 s24, {height}\n"
        f" s_mov_b32 s25, {pitch}\n s_mov_b32 s26, 0\n s_mov_b32 s27, 0\n{words}"
        " tensor_load_to_lds s[16:19], s[20:27]\n"
    )


def fault(name: str, violates: str, body: str, lds: int = 512, block: int = 32, more: int = 0, **bad: int) -> Hostile:
    """A kernel of tiles of an array of n times k dwords, and some more; `bad` are its sizes."""
    return Hostile(
        name,
        violates,
        {"n": 20, "k": 5, **bad},
        WAVE + body,
        n=16,
        k=4,
        block=block,
        lds=lds,
        arch="gfx1250",
        needs="n >= 1 and k >= 1 and n <= 100000 and k <= 1000",
        read=lambda n, k: n * k + more,
        written=lambda n, k: 128,
        data="integers",
    )


DONE = " s_wait_tensorcnt 0x0\n"
READ = " ds_load_b32 v9, v1\n s_wait_dscnt 0x0\n"
OF_WAVE = " s_cmp_lg_u32 s6, {wave}\n s_cbranch_scc1 skip{wave}\n{body}skip{wave}:\n"
MEET = " s_barrier_signal -1\n s_barrier_wait -1\n"
COPY = " v_lshlrev_b32 v8, 4, v0\n global_load_async_to_lds_b128 v8, v8, s[8:9]\n"
"""16 bytes of the array a work-item."""


def first(body: str) -> str:
    """What wave 0 alone executes."""
    return OF_WAVE.format(wave=0, body=body)


RIGHT = fault("a tile of any tensor", "", tile() + DONE)
FAULTS = (
    fault("columns that are one too many", "bounds", " s_add_co_i32 s30, s30, 1\n" + tile() + DONE, n=15, k=4),
    fault("rows that are one too many", "bounds", " s_add_co_i32 s31, s31, 1\n" + tile() + DONE, n=16, k=3),
    fault("a row of the tile is longer than the stride", "bounds", tile(words=" s_mov_b32 s25, 0x100\n") + DONE),
    fault("the stride of the padded rows", "bounds", " s_add_co_i32 s29, s12, 4\n" + tile(pitch="s29") + DONE,
          n=17, k=4),
    fault("columns without their upper half", "bounds", tile(words=" s_mov_b32 s21, 0x100000\n") + DONE, n=3),
    fault("an upper half of the columns of another size", "bounds", " s_add_co_i32 s29, s12, 0x10000\n"
          + tile(words=" s_lshr_b32 s22, s29, 16\n s_lshl_b32 s23, s31, 16\n s_or_b32 s22, s22, s23\n"
                       " s_lshr_b32 s23, s31, 16\n s_or_b32 s23, s23, 0x100000\n") + DONE, n=5),
    fault("rows that the tile is too short for", "bounds", tile(height=9) + DONE, lds=512, n=16, k=9),
    fault("gaps in the LDS", "bounds", tile(height=8, flags=1 << 20 | 3 << 22 | 3 << 25) + DONE),
    fault("a tile that begins late in the LDS", "bounds", tile(lds=260) + DONE),
    fault("a tile further on in memory", "bounds",
          tile(words=" s_add_co_u32 s18, s18, 16\n s_add_co_ci_u32 s19, s19, 0\n") + DONE, n=17, k=4),
    fault("a mask that holds no tile back", "bounds", " s_add_co_i32 s30, s30, 1\n v_cmp_gt_u32 vcc_lo, s12, v0\n"
          " v_cmp_lt_u32 s2, 15, v0\n s_and_b32 exec_lo, vcc_lo, s2\n" + tile() + DONE, n=15, k=4),
    fault("the other wave's tile has a row more", "bounds", " s_add_co_i32 s29, s31, 1\n" + first(tile())
          + OF_WAVE.format(wave=1, body=tile(rows="s29", lds=256)) + DONE, block=64, n=16, k=3),
    fault("a tile that is not waited for", "lds races", first(tile()) + MEET + READ, block=64),
    fault("a wait for one tile too few", "lds races",
          first(tile() + tile(lds=256) + " s_wait_tensorcnt 0x1\n") + MEET + " v_or_b32 v1, 0x100, v1\n" + READ
          + DONE, block=64),
    fault("a wave counts the tiles of another one", "lds races",
          first(tile()) + OF_WAVE.format(wave=1, body=tile(lds=256)) + " s_wait_tensorcnt 0x1\n" + MEET + READ + DONE,
          block=64),
    fault("waves move tiles to one place", "lds races", " s_sub_co_i32 s30, s30, 1\n" + first(tile())
          + OF_WAVE.format(wave=1, body=tile(words=" s_add_co_u32 s18, s18, 4\n s_add_co_ci_u32 s19, s19, 0\n"))
          + DONE, block=64),
    fault("a tile over what is still read", "lds races", READ + first(tile() + DONE), block=64),
    fault("a tile in a turn over what the last turn reads", "lds races",
          " s_mov_b32 s5, 0\nloop:\n" + first(tile()) + DONE + MEET + READ
          + " s_add_co_i32 s5, s5, 1\n s_cmp_lt_u32 s5, s14\n s_cbranch_scc1 loop\n", block=64),
    fault("a tile is waited for in the last turn alone", "lds races",
          " s_mov_b32 s5, 0\nloop:\n" + first(tile()) + " s_add_co_i32 s5, s5, 1\n s_cmp_eq_u32 s5, s14\n"
          " s_cbranch_scc0 more\n s_wait_tensorcnt 0x0\nmore:\n" + MEET + READ + MEET
          + " s_cmp_lt_u32 s5, s14\n s_cbranch_scc1 loop\n" + DONE, block=64),
    fault("a copy that is not waited for", "lds races", COPY + MEET + " v_xor_b32 v1, 0x80, v1\n" + READ
          + " s_wait_asynccnt 0x0\n", lds=1024, block=64, more=256),
    fault("a copy beyond the array", "bounds", COPY + " s_wait_asynccnt 0x0\n", n=16, k=4),
    fault("a copy beyond the LDS", "bounds", COPY + " s_wait_asynccnt 0x0\n", lds=508, n=64),
    fault("copies of 16 bytes, 12 bytes apart", "lds races",
          " v_mul_u32_u24 v8, 12, v0\n v_lshlrev_b32 v9, 4, v0\n"
          " global_load_async_to_lds_b128 v8, v9, s[8:9]\n s_wait_asynccnt 0x0\n", lds=1024, block=64, more=256),
    fault("a store from the LDS of what is not there yet", "lds races",
          " ds_store_b32 v1, v3\n s_wait_dscnt 0x0\n v_xor_b32 v8, 0x80, v1\n"
          " global_store_async_from_lds_b32 v1, v8, s[10:11]\n s_wait_asynccnt 0x0\n", block=64),
    fault("a store from the LDS that is still on its way", "lds races",
          " global_store_async_from_lds_b32 v1, v1, s[10:11]\n" + MEET + " v_xor_b32 v8, 0x80, v1\n"
          " ds_store_b32 v8, v3\n s_wait_asynccnt 0x0\n", block=64),
)  # fmt: skip
