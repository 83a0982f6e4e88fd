"""LDS: every instruction of every architecture, copies straight to the LDS, tiles with and without a swizzle."""

import reference
from operands import LDS_DWORDS, operands

from mfmasim import lds
from mfmasim.verify import In, InOut, Out, case

ARCHS = ["gfx942", "gfx950", "gfx1151", "gfx1201"]


def own_names(arch):
    """Instructions by the name the architecture prints: gfx11 and later take the older names as aliases."""
    names = lds.ds_instructions(arch)
    if not any(name.startswith("ds_load_") for name in names):
        return names
    older = ("ds_read", "ds_write", "ds_wrxchg")
    renamed = {f"ds_{m}_{r}f{b}" for m in ("min", "max") for r in ("", "rtn_") for b in (32, 64)}
    has_num = "ds_min_num_f32" in names
    return [name for name in names if not name.startswith(older) and not (has_num and name in renamed)]


NAMES = {arch: own_names(arch) for arch in ARCHS}


def declare(name):
    archs = [arch for arch in ARCHS if name in NAMES[arch]]

    @case("instructions.hip", kernel="{name}", arch=archs, executes=name, each=[{"name": name}])
    def instruction(name="", wave=64):
        fill, addresses, data, results = operands(name, wave)
        args = [
            In("u32", LDS_DWORDS, fill), In("u32", wave, addresses), In("u32", 4 * wave, data),
            InOut("u32", 4 * wave, results), Out("u32", LDS_DWORDS),
        ]  # fmt: skip
        return {"grid": 1, "block": wave, "args": args, "expect": reference.instruction(name)}


for each in sorted({name for names in NAMES.values() for name in names}):
    declare(each)
