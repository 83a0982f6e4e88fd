"""Rows of SMEM, DS, FLAT, GLOBAL, SCRATCH, MUBUF and MTBUF on RDNA."""

from __future__ import annotations

import itertools

from mfmasim.architectures import arch
from tests.isa.probe_memory import memory_type
from tests.isa.probing import operands, row
from tests.isa.rdna import null, register_widths, words

SCALAR = {1: "b32", 2: "b64", 3: "b96", 4: "b128", 8: "b256", 16: "b512"}
SCALAR_PART = {"i8": "i8", "u8": "u8", "i16": "i16", "u16": "u16"}
# What an atomic reads beside the value it compares with is half of its data.
HALF = {"b64": "b32", "b128": "b64"}


def smem_rows(prober, encodings):
    rows = []
    tries = [
        {"sdata": 20, "sbase": 20, "offset": 16, "soffset": null(prober.arch)},
        {"sdata": 20, "offset": 16, "soffset": null(prober.arch)},
        {"sdata": 20, "sbase": 20},
        {"sbase": 20},
        {},
    ]
    count = encodings.by_name["SMEM"].opcodes
    prober.ask([words(encodings, "SMEM", op, **fields) for op in range(count) for fields in tries])
    for op in range(count):
        text = next(filter(None, (prober.text(words(encodings, "SMEM", op, **fields)) for fields in tries)), None)
        if not text:
            continue
        name, parts = operands(text)
        regs = register_widths(parts)
        base = [{2: "b64", 4: "b128"}[regs[40]]] if 40 in regs else []
        if "prefetch" in name:
            rows.append(row(op, name, [], [*base, "offset", "imm5"]))
        elif "atc_probe" in name:
            rows.append(row(op, name, [], [*base, "offset", "imm5" if count == 64 else "imm7"]))
        elif not base:
            rows.append(row(op, name, [SCALAR[regs[20]]] if 20 in regs else [], []))
        elif "load" in name:
            kind = SCALAR_PART.get(name.rsplit("_", 1)[1], SCALAR[regs[20]])
            rows.append(row(op, name, [kind], [*base, "offset"]))
        else:
            rows.append(row(op, name, [], [*base, "offset", *([SCALAR[regs[20]]] if 20 in regs else [])]))
    return rows


def odd(prober, dst, code):
    """The destination, marked if it may start at an odd register where others may not; `code` does."""
    marked = dst == ["b96"] and arch(prober.arch).even_vgprs and prober.text(code)
    return ["odd:b96"] if marked else dst


_DS = {"vdst": 40, "addr": 10, "data1": 80, "data0": 20}


def ds_rows(prober, encodings):
    rows = []
    spaces = ({"gds": 0}, {"gds": 1}) if "gds" in encodings.by_name["DS"].fields else ({},)
    # From all fields used to none: LLVM wants unused ones to be zero in some operations.
    tries = [
        dict(pairs) | gds | {"offset0": 0x12, "offset1": 0x34}
        for gds in spaces
        for count in (4, 3, 2, 1, 0)
        for pairs in itertools.combinations(_DS.items(), count)
    ]
    tries += [dict(fields, offset0=0, offset1=0) for fields in tries]
    first = tries[: len(tries) // 2]
    prober.ask([words(encodings, "DS", op, **fields) for op in range(256) for fields in first])
    silent = [op for op in range(256) if not any(prober.text(words(encodings, "DS", op, **f)) for f in first)]
    prober.ask([words(encodings, "DS", op, **fields) for op in silent for fields in tries])
    shapes = [dict(pairs) for count in range(5) for pairs in itertools.combinations(_DS.items(), count)]
    prober.ask([words(encodings, "DS", op, **fields, **spaces[-1]) for op in range(256) for fields in shapes])
    for op in range(256):
        texts = ((fields, prober.text(words(encodings, "DS", op, **fields))) for fields in tries)
        fields, text = next(((f, t) for f, t in texts if t), (None, None))
        if not text:
            continue
        name, parts = operands(text)
        regs = register_widths(parts)
        dst = [memory_type(name, regs[40])] if 40 in regs else []
        if (
            dst == ["b96"]
            and arch(prober.arch).even_vgprs
            and prober.text(words(encodings, "DS", op, **(fields | {"vdst": 41})))
        ):
            dst = ["odd:b96"]
        src = ["addr:b32"] if 10 in regs else []
        src += [f"{f}:{memory_type(name, regs[n])}" for f, n in (("data0", 20), ("data1", 80)) if n in regs]
        flags = ["offset2"] if "offset0:" in text else (["offset"] if "offset:" in text else [])
        used = {f: n for f, n in _DS.items() if n in regs}
        if fields.get("gds"):
            flags.append("gds_only")
        elif " gds" in (prober.text(words(encodings, "DS", op, **used, **spaces[-1])) or ""):
            flags.append("gds")
        rows.append(row(op, name, dst, src, " ".join(flags)))
    return rows


def flat_rows(prober, encodings, segment):
    """FLAT, GLOBAL and SCRATCH: the address forms belong to the encoding, the data to the row."""
    rows = []
    name_of = segment if segment in encodings.by_name else "FLAT"
    fixed = {"saddr": null(prober.arch)} | (
        {}
        if name_of == segment and "seg" not in encodings.by_name[name_of].fields
        else {"seg": ("FLAT", "SCRATCH", "GLOBAL").index(segment)}
    )
    sve = segment == "SCRATCH" and "sve" in encodings.by_name[name_of].fields
    fixed |= {"sve": 1} if sve else {}
    returning = {"glc": 1} if "glc" in encodings.by_name[name_of].fields else {"th": 1}
    tries = [
        fixed | extra | {"vdst": dst, "data": data, "vaddr": address}
        for dst in (40, 0)
        for data in (20, 0)
        for extra in (returning, {})
        for address in (10, 0)
    ]
    tries += [fields | {"sve": 0} for fields in tries] if sve else []
    count = encodings.by_name[name_of].opcodes
    prober.ask([words(encodings, name_of, op, **fields) for op in range(count) for fields in tries])
    for op in range(count):
        text = next(filter(None, (prober.text(words(encodings, name_of, op, **fields)) for fields in tries)), None)
        if not text:
            continue
        name, parts = operands(text)
        regs = register_widths(parts)
        data = [f"data:{memory_type(name, regs[20])}"] if 20 in regs else []
        dst = memory_type(name, regs[40]) if 40 in regs else ""
        address = ["addr"] if 10 in regs else (["saddr"] if "off" in parts or name == "tensor_save" else [])
        if "async_to_lds" in name:  # VDST has the address in the LDS
            data, dst = [f"vdst:{dst}"], ""
        dst = [f"rtn:{dst}" if "atomic" in name else dst] if dst else []
        if (
            dst == ["b96"]
            and arch(prober.arch).even_vgprs
            and prober.text(words(encodings, name_of, op, **(tries[0] | {"vdst": 41})))
        ):
            dst = ["odd:b96"]
        rows.append(row(op, name, dst, [*address, *data]))
    return rows


def buffer_rows(prober, encodings, encoding):
    """MUBUF and MTBUF; on gfx12 both are one encoding, and a row with the flag `format` is typed."""
    rows = []
    fmt = encodings.by_name[encoding]
    resource = {"srsrc": 4} if fmt.fields["srsrc"][1] == 9 else {"srsrc": 1}
    usual = {"vdata": 20, "soffset": 30, "offen": 1, "vaddr": 10} | resource
    plain = {"format": 1} if "format" in fmt.fields else {}
    tries = [usual | plain, usual, {"soffset": null(prober.arch)} | plain, plain, {}]
    count = fmt.opcodes
    prober.ask([words(encodings, encoding, op, **fields) for op in range(count) for fields in tries])
    for op in range(count):
        text = next(filter(None, (prober.text(words(encodings, encoding, op, **fields)) for fields in tries)), None)
        if not text:
            continue
        name, parts = operands(text)
        regs = register_widths(parts)
        if 20 not in regs:
            rows.append(row(op, name, [], []))
            continue
        data = memory_type(name, regs[20])
        flags = "format" if name.startswith("tbuffer") else ""
        if "lds" in fmt.fields:
            direct = prober.text(words(encodings, encoding, op, **(usual | plain | {"vdata": 0, "lds": 1})))
            flags = "lds" if direct and direct.endswith(" lds") else flags
        if "atomic" in name:
            old = HALF[data] if "cmpswap" in name else data
            rows.append(row(op, name, [f"rtn:{old}"], ["addr", f"data:{data}"], flags))
        elif "load" in name:
            rows.append(row(op, name, [data], ["addr"], flags))
        else:
            rows.append(row(op, name, [], ["addr", f"data:{data}"], flags))
    return rows
