"""LDS: every instruction of every architecture, copies straight to the LDS, tiles with and without a swizzle."""

from hipkernels.conformance.lds import reference
from hipkernels.conformance.lds.operands import LDS_DWORDS, operands
from mfmasim import lds
from mfmasim.verify import A, B, C, In, InOut, LaunchDict, Out, case

ARCHS = ["gfx942", "gfx950", "gfx1151", "gfx1201"]


def own_names(arch: str) -> list[str] | tuple[str, ...]:
    """Instructions by the name the architecture prints: gfx11 and later take the older names as aliases."""
    names = lds.ds_instructions(arch)
    if not any(name.startswith("ds_load_") for name in names):
        return names
    older = ("ds_read", "ds_write", "ds_wrxchg")
    renamed = {f"ds_{m}_{r}f{b}" for m in ("min", "max") for r in ("", "rtn_") for b in (32, 64)}
    has_num = "ds_min_num_f32" in names
    return [name for name in names if not name.startswith(older) and not (has_num and name in renamed)]


NAMES = {arch: own_names(arch) for arch in ARCHS}


def declare(name: str) -> None:
    archs = [arch for arch in ARCHS if name in NAMES[arch]]

    @case("instructions.hip", kernel="{name}", arch=archs, executes=name, each=[{"name": name}])
    def instruction(name: str = "", wave: int = 64) -> LaunchDict:
        fill, addresses, data, results = operands(name, wave)
        # Numbers of ordinary size stay for floating point, and the halves that 16-bit loads may keep.
        drawn = "" if name.endswith(("f16", "f32", "f64")) or "d16" in name else "bits"
        args = [
            In("u32", LDS_DWORDS, fill, drawn=drawn),
            In("u32", wave, addresses),
            In("u32", 4 * wave, data, drawn=drawn),
            InOut("u32", 4 * wave, results, drawn=drawn),
            Out("u32", LDS_DWORDS),
        ]
        return {"grid": 1, "block": wave, "args": args, "expect": reference.instruction(name)}


for each in sorted({name for names in NAMES.values() for name in names}):
    declare(each)


CDNA = ["gfx942", "gfx950"]


@case(
    "copies.hip",
    kernel="copy_base{base}_waves{waves}",
    arch=CDNA,
    executes="buffer_load_dword.*",
    each=[{"base": base, "waves": waves} for base in (0, 512) for waves in (1, 2)],
)
def copy(base: int = 0, waves: int = 1) -> LaunchDict:
    floats = 256 * waves
    source = In("f32", floats, reference.numbered(floats), drawn="bits")
    args = [source, Out("f32", floats), 4 * floats]
    return {"grid": 1, "block": 64 * waves, "args": args, "expect": lambda source: source}


@case("copies.hip", kernel="copy_base0_waves1", arch=CDNA, executes="buffer_load_dword.*")
def copy_in_part(floats: int = 200) -> LaunchDict:
    """Lanes beyond the range of the buffer resource write zeros."""
    args = [In("f32", 256, reference.numbered(256), drawn="bits"), Out("f32", 256), 4 * floats]
    return {"grid": 1, "block": 64, "args": args, "expect": lambda source: reference.copied(source, floats)}


@case(
    "tiles.hip",
    kernel="tile_{swizzle}{direct}",
    arch=CDNA,
    each=[{"swizzle": s, "direct": d} for d in ("", "_direct") for s in ("none", "pairs", "offset", "row", "padded")][
        :9
    ],
)
def tile(swizzle: str = "none", direct: str = "", M: int = 16, N: int = 16, K: int = 128) -> LaunchDict:
    a, b, c = A("fp8", (M, K)), B("fp8", (K, N), order="column"), C("f32", (M, N))
    return {"grid": 1, "block": 64, "args": [a, b, c], "expect": a @ b}


@case(
    "transposed.hip",
    kernel="transposed_b",
    arch=["gfx1201", "gfx950"],
    executes="ds_read_b64_tr_b16|global_load_tr_b128",
)
def transposed_b(wave: int = 64, M: int = 16, N: int = 16, K: int = 16) -> LaunchDict:
    a, b, c = A("f16", (M, K)), B("f16", (K, N)), C("f32", (M, N))
    return {"grid": 1, "block": wave, "args": [a, b, c], "expect": a @ b}
