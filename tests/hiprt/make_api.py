"""Make the declarations of HIP's host interface: ``python -m tests.hiprt.make_api [--check]``.

The facts (names, numbers, fields, types of arguments) are read from the installed hip-python, whose bindings state the
public interface of HIP; nothing else is taken. Four headers in ``mfmasim/hiprt/include/mfmasim/api`` are written:
numbers, structures, functions, and those of hipRTC. They are valid C and C++.
"""

import importlib
import importlib.util
import re
import sys
from pathlib import Path

from mfmasim.resources import HEADERS

OUTPUT = HEADERS / "mfmasim" / "api"
HEAD = "// {about} Made by tests/hiprt/make_api.py from the interface that hip-python binds.\n#pragma once\n\n"
OWN = {"dim3", "uint3"}
"""Declared by hand, in mfmasim/api.h, as C++ classes."""
BITS = {"hipDeviceArch_t"}
"""Structures of which every field is one bit."""
VECTOR = re.compile(r"u?(char|short|int|long|longlong|float|double)[1-4]")
DEFAULTS = {
    "hipHostMalloc": {2: "0"}, "hipMallocManaged": {2: "1"}, "hipStreamWaitEvent": {2: "0"}, "hipEventRecord": {1: "0"},
    "hipMemcpyAsync": {4: "0"}, "hipMemsetAsync": {3: "0"}, "hipMemset2DAsync": {5: "0"}, "hipMemset3DAsync": {3: "0"},
    "hipMemcpy2DAsync": {7: "0"}, "hipMemcpy3DAsync": {1: "0"},
    "hipMemcpyToSymbol": {3: "0", 4: "hipMemcpyHostToDevice"},
    "hipMemcpyFromSymbol": {3: "0", 4: "hipMemcpyDeviceToHost"}, "hipMemcpyToSymbolAsync": {5: "0"},
    "hipMemcpyFromSymbolAsync": {5: "0"}, "hipMemPrefetchAsync": {3: "0"}, "hipMemcpyPeerAsync": {5: "0"},
    "hipMallocArray": {4: "0"}, "hipStreamAttachMemAsync": {2: "0", 3: "hipMemAttachSingle"},
    "hipMemsetD8Async": {3: "0"}, "hipMemsetD16Async": {3: "0"}, "hipMemsetD32Async": {3: "0"},
    "hipMemcpyParam2DAsync": {1: "0"}, "hipLaunchKernel": {4: "0", 5: "0"},
    "hipMemcpy2DFromArrayAsync": {8: "0"}, "hipMemcpy2DToArrayAsync": {8: "0"},
}  # fmt: skip
"""Default values that C++ programs rely on (HIP runtime API reference), by place of the parameter."""


ANONYMOUS = {
    "hipDevResource_st": "nextResource",
    "hipGraphNodeParams": "reserved2",
    "hipMemAllocationProp": "location",
    "hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t": "flags",
    "hipStreamBatchMemOpParams_union_hipStreamMemOpWriteValueParams_t": "flags",
}
"""Structures with a union without a name, which the bindings leave out, and the member that follows it (HIP runtime API
reference); in others it comes last."""


def source(name, newest=10):
    """Text of a module of hip-python, of version 10 or 7, without comments; and the module."""
    for package, file in ((f"rocm.bindings.{name}", f"cy{name}"), (f"hip.{name}", f"c{name}"))[newest < 10 :]:
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        if found is not None:
            text = Path(found.origin).with_name(f"{file}.pxd").read_text()
            module = importlib.import_module(package)
            return re.sub(r"#.*", "", text), module
    raise SystemExit("hip-python is needed: pip install hip-python")


def blocks(text):
    """Declarations as (first line, member lines)."""
    lines = [line for line in text.splitlines() if line.strip()]
    found, at = [], 0
    while at < len(lines):
        line, depth = lines[at], len(lines[at]) - len(lines[at].lstrip())
        at += 1
        if line.lstrip().startswith("cdef extern"):
            continue
        members = []
        while at < len(lines) and len(lines[at]) - len(lines[at].lstrip()) > depth:
            members.append(lines[at].strip())
            at += 1
        found.append((line.strip(), members))
    return found


def plain(kind):
    """A type in C's spelling."""
    kind = re.sub(r"\bconst (\w+) \*", r"const \1 *", kind.strip())
    return kind.replace("_Bool", "bool").replace(" *", "*").replace("* *", "**")


class Interface:
    """The declarations of one module."""

    def __init__(self, name, newest=10):
        text, self.module = source(name, newest)
        self.numbers, self.types, self.calls = [], [], []
        self.seen = set()
        self.unions = {}
        for first, members in blocks(text):
            self.read(first, members)

    def value(self, name):
        return int(getattr(self.module, name))

    def read(self, first, members):
        first = re.sub(r"^(cdef|ctypedef) ", r"\1 ", first)
        if found := re.fullmatch(r"cdef enum(?: (\w+))?:", first):
            self.enumeration(found[1], members)
        elif found := re.fullmatch(r"(?:cdef|ctypedef) (struct|union) (\w+)(?: \"\w+\")?:", first):
            self.structure(found[1], found[2], members)
        elif found := re.fullmatch(r"cdef int (\w+)", first):
            self.constant(found[1])
        elif found := re.fullmatch(r"ctypedef (.*?)(\w+)", first):
            self.alias(found[1], found[2])
        elif found := re.fullmatch(r"ctypedef (.*) \(\*(\w+)\)\s*\((.*)\)(?: noexcept)?(?: nogil)?", first):
            self.types.append(f"typedef {plain(found[1])} (*{found[2]})({', '.join(self.parameters(found[3]))});")
        elif found := re.fullmatch(r"cdef (.*?)(\w+)\((.*)\)(?: (?:except|noexcept).*)?(?: nogil)?", first):
            self.function(found[1], found[2], found[3])
        elif not first.startswith(("from", "cimport", "cdef char", "cdef size_t", "ctypedef bint", "import")):
            print("not read:", first, file=sys.stderr)

    def constant(self, name):
        if name in self.seen or name.startswith("HIP_VERSION"):
            return
        self.seen.add(name)
        try:
            self.numbers.append(f"#define {name} {self.value(name):#x}")
        except (AttributeError, TypeError, ValueError):
            print("no value:", name, file=sys.stderr)

    def enumeration(self, name, members):
        kind = getattr(self.module, name, None) if name else None
        rows = []
        for member in members:
            value = getattr(kind, member, None)
            value = getattr(self.module, member, None) if value is None else value
            if value is None:
                print("no value:", name, member, file=sys.stderr)
                continue
            rows.append(f"  {member} = {int(value)},")
        made = f"enum {name or ''} {{\n" + "\n".join(rows) + "\n}"
        self.numbers.append(f"typedef {made} {name};" if name else f"{made};")

    def structure(self, kind, name, members):
        if VECTOR.fullmatch(name) or name in OWN:
            return
        fields = []
        for member in members:
            if member == "pass":
                continue
            declared, field, size = re.fullmatch(r"(.*?)(\w+)((?:\[\d+\])*)", member).groups()
            declared = declared.strip()
            if declared in self.unions:
                fields.append(f"  {self.unions[declared]} {field}{size};".replace("\n", "\n  "))
            else:
                fields.append(f"  {plain(declared)} {field}{size}{' : 1' if name in BITS else ''};")
        unnamed = f"{name}_union_0"
        if unnamed in self.unions and not any(unnamed in member for member in members):
            after = (number for number, one in enumerate(fields) if one.endswith(f" {ANONYMOUS.get(name)};"))
            fields.insert(next(after, len(fields)), f"  {self.unions[unnamed]};".replace("\n", "\n  "))
        if "_union_" in name or "_struct_" in name:
            self.unions[name] = f"{kind} {{\n" + "\n".join(fields) + "\n}"
            return
        if not fields:
            self.types.append(f"typedef {kind} {name} {name};")
        else:
            self.types.append(f"typedef {kind} {name} {name};\n{kind} {name} {{\n" + "\n".join(fields) + "\n};")

    def alias(self, target, name):
        target = plain(target)
        if name != "_Bool" and (target, name) not in self.seen:
            self.seen.add((target, name))
            self.types.append(f"typedef {target} {name};")

    def parameters(self, text, defaults=None):
        found = []
        for place, one in enumerate(part.strip() for part in text.split(",") if part.strip()):
            kind = re.fullmatch(r"(.*?[ *])(\w+)", one)
            spelled = plain(kind[1] if kind and kind[1].strip() not in ("unsigned", "const", "unsigned long") else one)
            value = (defaults or {}).get(place)
            found.append(f"{spelled} MFMASIM_DEFAULT({value})" if value else spelled)
        return found or ["void"]

    def function(self, returned, name, parameters):
        if name in self.seen or not name.startswith("hip"):
            return
        self.seen.add(name)
        self.calls.append(f"{plain(returned)} {name}({', '.join(self.parameters(parameters, DEFAULTS.get(name)))});")


def headers():
    """Names and texts of the four headers."""
    hip, rtc = Interface("hip"), Interface("hiprtc")

    def text(about, *parts):
        return HEAD.format(about=about) + "\n".join(line for part in parts for line in part) + "\n"

    return {
        "numbers.h": text("Numbers of HIP's host interface.", hip.numbers),
        "structures.h": text("Structures of HIP's host interface.", hip.types),
        "functions.h": text("Functions of HIP's host interface.", hip.calls),
        "rtc.h": text("The interface of hipRTC.", rtc.numbers, rtc.types, rtc.calls),
    }


def main(check):
    """Write the headers, or compare them with what is there."""
    differ = []
    for name, text in headers().items():
        place = OUTPUT / name
        if not place.exists() or place.read_text() != text:
            differ.append(name)
            if not check:
                OUTPUT.mkdir(exist_ok=True)
                place.write_text(text)
    return differ


if __name__ == "__main__":
    changed = main("--check" in sys.argv)
    print("differ:" if "--check" in sys.argv else "written:", *changed)
    sys.exit(bool(changed) and "--check" in sys.argv)
