"""Declarations from LLVM IR with debug information, before any optimisation.

Debug information in the code object would change its instructions (clang schedules around it), so the front end is
asked once more, for its IR alone. Source: LLVM's language reference, "Specialized Metadata Nodes".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mfmasim.codeobject.ctypes import CType, array_of, named, pointer_to, qualified, vector_of
from mfmasim.codeobject.declared import Declared, Parameter, Variable

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(?:(\w+)\((.*)\)|\{(.*)\})$")
_FIELD = re.compile(r'(\w+): (?:!(\d+)|"((?:[^"\\]|\\.)*)"|([^,()]+(?:\([^)]*\))?))')
_GLOBAL = re.compile(
    r'^@("[^"]+"|[\w.$]+) = .*addrspace\(3\) global (.+?)(?: undef| poison)?(?:, (?:comdat|align|!|section).*)?$'
)
_DEFINE = re.compile(r'^define .*?@("[^"]+"|[\w.$]+)\(')
_USE = re.compile(r'@("[^"]+"|[\w.$]+)')
_DEEPEST = 40


@dataclass
class _Module:
    """The parts of a module that are needed."""

    nodes: dict[int, tuple[str, dict[str, str], list[int | None]]] = field(default_factory=dict)
    uses: dict[str, set[str]] = field(default_factory=dict)
    """By function: symbols in its body."""
    kernels: dict[str, int | None] = field(default_factory=dict)
    """By symbol: its DISubprogram."""
    shared: dict[str, tuple[str, int, int | None]] = field(default_factory=dict)
    """By symbol: type in IR, alignment, node of the variable."""


def read_ir(text: str) -> dict[str, Declared]:
    """Declarations of the kernels of a module.

    Args:
        text: IR from ``clang -g -S -emit-llvm -Xclang -disable-llvm-passes``.

    Returns:
        By the kernels' symbols.
    """
    module = _read(text)
    out = {}
    for symbol, program in module.kernels.items():
        locals_ = [
            fields
            for kind, fields, _ in module.nodes.values()
            if kind == "DILocalVariable" and "arg" in fields and fields.get("scope") == str(program)
        ]
        ordered = sorted(locals_, key=lambda fields: int(fields["arg"]))
        parameters = tuple(Parameter(fields.get("name", ""), _type(module, fields.get("type"))) for fields in ordered)
        out[symbol] = Declared(parameters, tuple(_variables(module, symbol)))
    return out


_DIRECT = re.compile(
    r"@llvm\.amdgcn\.[\w.]*load[\w.]*\.lds[\w.]*\(.*?ptr addrspace\(3\).*?, i32 (?:noundef )?(\d+)[,)]"
)


def direct_loads(text: str) -> list[int]:
    """Bytes a lane of the direct-to-LDS loads in a module.

    Args:
        text: IR before any optimisation.
    """
    return [int(found) for found in _DIRECT.findall(text)]


def _read(text: str) -> _Module:
    module = _Module()
    inside = ""
    for line in text.splitlines():
        if line.startswith("!"):
            found = _NODE.match(line)
            if found:
                fields = {name: ref or word or rest for name, ref, word, rest in _FIELD.findall(found[3] or "")}
                parts = [
                    int(part[1:]) if re.fullmatch(r"!\d+", part) else None for part in (found[4] or "").split(", ")
                ]
                module.nodes[int(found[1])] = (found[2] or "", fields, parts)
        elif line.startswith("@"):
            found = _GLOBAL.match(line)
            if found:
                align = re.search(r", align (\d+)", line)
                node = re.search(r"!dbg !(\d+)", line)
                module.shared[found[1].strip('"')] = (
                    found[2],
                    int(align[1]) if align else 1,
                    int(node[1]) if node else None,
                )
        elif line.startswith("define "):
            found = _DEFINE.match(line)
            inside = found[1].strip('"') if found else ""
            module.uses[inside] = set()
            if " amdgpu_kernel " in line:
                node = re.search(r"!dbg !(\d+)", line)
                module.kernels[inside] = int(node[1]) if node else None
        elif line == "}":
            inside = ""
        elif inside:
            module.uses[inside].update(name.strip('"') for name in _USE.findall(line))
    return module


def _variables(module: _Module, kernel: str) -> list[Variable]:
    """LDS variables that a kernel uses, in itself or in what it calls."""
    seen, todo = set(), [kernel]
    while todo:
        function = todo.pop()
        if function in seen:
            continue
        seen.add(function)
        todo += module.uses.get(function, ())
    found = []
    for symbol in sorted(seen & module.shared.keys()):
        text, alignment, node = module.shared[symbol]
        expression = module.nodes.get(node, ("", {}, []))[1] if node is not None else {}
        fields = module.nodes.get(int(expression.get("var", -1)), ("", {}, []))[1]
        kind = _type(module, fields.get("type")) or _ir_type(text)
        found.append(Variable(symbol, fields.get("name") or symbol, kind, kind.size, alignment))
    return found


_IR = {"i1": "bool", "i8": "unsigned char", "i16": "short", "i32": "int", "i64": "long", "half": "_Float16",
       "bfloat": "__bf16", "float": "float", "double": "double"}  # fmt: skip


def _ir_type(text: str) -> CType:
    """A type as IR writes it, where debug information has none (``extern __shared__``)."""
    array = re.fullmatch(r"\[(\d+) x (.+)\]", text)
    if array:
        return array_of(_ir_type(array[2]), int(array[1]))
    vector = re.fullmatch(r"<(\d+) x (.+)>", text)
    if vector:
        return vector_of(_ir_type(vector[2]), int(vector[1]))
    return named(_IR.get(text, text))


def _type(module: _Module, reference: str | None, depth: int = 0) -> CType | None:
    """The type of a metadata node; None for void and what is not known."""
    if reference is None or not reference.isdecimal() or depth > _DEEPEST:
        return None
    kind, fields, _ = module.nodes.get(int(reference), ("", {}, []))
    tag, size = fields.get("tag", ""), int(fields.get("size", "0")) // 8
    base = _type(module, fields.get("baseType"), depth + 1)
    if kind == "DIBasicType":
        return named(fields.get("name", "?"), size)
    if tag in ("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"):
        return pointer_to(base or named("void"), "*" if tag == "DW_TAG_pointer_type" else "&")
    if tag in ("DW_TAG_const_type", "DW_TAG_volatile_type"):
        return qualified(base or named("void"), tag[7:-5])
    if tag == "DW_TAG_restrict_type":
        return base
    if tag == "DW_TAG_typedef":
        own = fields.get("name", "?")
        return CType(own, base.kind, base.size, base.element, base.count) if base else named(own)
    if tag == "DW_TAG_array_type" and base is not None:
        counts = [_count(module, part) for part in module.nodes.get(int(fields.get("elements", "-1")), ("", {}, []))[2]]
        if "DIFlagVector" in fields.get("flags", ""):
            return vector_of(base, counts[0] if counts else 0)
        for count in reversed(counts):
            base = array_of(base, count)
        return base
    if tag == "DW_TAG_enumeration_type":
        return CType(fields.get("name", "?"), base.kind if base else "int", size)
    return named(fields.get("name", "?"), size) if fields else None


def _count(module: _Module, node: int | None) -> int:
    text = module.nodes.get(node if node is not None else -1, ("", {}, []))[1].get("count", "0")
    return int(text) if text.isdecimal() else 0
