"""The target of a code object: what its ELF header and its notes say, which must agree.

Source: LLVM's AMDGPU usage guide, "AMDGPU ELF Header e_flags" of code object V2, V3, V4 and V6, "Target ID".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mfmasim.architectures import GENERICS, SIMULATED, Arch, arch_of_elf, generic_of_elf
from mfmasim.architectures import target as find_target
from mfmasim.architectures.generic import VERSIONS
from mfmasim.errors import DamagedError, TargetError
from mfmasim.visible import visible

# A target feature's two bits in e_flags of version 4 and later, by LLVM's name, in the order of a target id.
# Values: 0 not supported by the processor, 1 any, 2 off, 3 on.
_FEATURES = (("sramecc", 10), ("xnack", 8))
# Version 3: one bit, on or off. Version 2 has the processor in a note, and of the features only this one.
_FEATURES_3 = {"sramecc": 0x200, "xnack": 0x100}
_FEATURES_2 = {"xnack": 0x1}
_FIRST_GCN = 0x20
"""EF_AMDGPU_MACH of the first processor with compute kernels; version 2 uses lower bits for other things."""
_GENERIC_VERSION = 24
"""Lowest bit of EF_AMDGPU_GENERIC_VERSION, in version 6."""

# Every feature that a target id may name.
FEATURES = tuple(f"{name}{sign}" for name, _ in _FEATURES for sign in "+-")


_KNOWN = f"{', '.join(SIMULATED)}, and {', '.join(GENERICS)}"


@dataclass(frozen=True)
class Target:
    """Processor or generic target, and features."""

    processor: str
    target_id: str

    def arch(self, on: str | None) -> Arch:
        """The architecture that runs it: `on`, where that is one of several."""
        if on is not None and on in SIMULATED and self.processor in SIMULATED[on].runs:
            return SIMULATED[on]
        return find_target(self.processor, on if self.processor in GENERICS else None)

    def refused(self, wanted: str) -> str:
        """What to say where another target was requested."""
        one, other = SIMULATED.get(self.processor), SIMULATED.get(wanted.partition(":")[0])
        stepping = one is not None and other is not None and other.name in one.runs
        which = f", another stepping of {wanted.partition(':')[0]}" if stepping else ""
        return f"code object for {self.target_id}{which}, {wanted} was requested"


def read_target(flags: int, version: int, metadata: Mapping[str, Any], isa: str, name: str) -> Target:
    """The target of a code object.

    Args:
        flags: ``e_flags``.
        version: code object version.
        metadata: the metadata note; its ``amdhsa.target`` is compared.
        isa: processor that version 2 has in a note; else empty.
        name: the file, for the error.

    Raises:
        MfmasimError: the processor is not simulated, header and notes name different ones, or bits are unknown.
    """
    machine = flags & 0xFF
    named = _named(metadata)
    by_note = version == 2 and machine < _FIRST_GCN
    processor = isa if by_note else _processor(machine, named or isa, name)
    for other in (named, isa):
        if other and other != processor:
            raise DamagedError(
                f"{name}: contradictory code object: the ELF header says {processor}, its notes say {visible(other)}"
            )
    generic = GENERICS.get(processor)
    known = generic or SIMULATED.get(processor)
    if known is None:
        raise TargetError(f"{name}: code object for {visible(processor)}; known: {_KNOWN}")
    own = flags >> _GENERIC_VERSION
    if generic and version < 6:
        raise DamagedError(f"{name}: corrupt ELF header: {processor} in a version {version} code object, not 6")
    if generic and own not in VERSIONS:
        allowed = ", ".join(map(str, VERSIONS))
        raise TargetError(f"{name}: generic version {own} of {processor} is not supported; allowed: {allowed}")
    known_bits = 0xFFF if version >= 4 else 0x3FF
    rest = flags & ~known_bits & ~(0xFF << _GENERIC_VERSION if generic else 0)
    if rest:
        raise DamagedError(f"{name}: corrupt ELF header: unknown e_flags {rest:#x} in a version {version} code object")
    return Target(processor, processor + _feature_text(flags, version, known.selectable))


def _feature_text(flags: int, version: int, supported: tuple[str, ...]) -> str:
    """Target features as a target id spells them, such as ``:sramecc+:xnack-``."""
    if version >= 4:
        chosen = ((name, flags >> low & 3) for name, low in _FEATURES if name in supported)
        return "".join(f":{name}{'-+'[value - 2]}" for name, value in chosen if value >= 2)
    bits = _FEATURES_3 if version == 3 or flags & 0xFF >= _FIRST_GCN else _FEATURES_2
    return "".join(f":{name}{'-+'[bool(flags & bits[name])]}" for name in supported if name in bits)


def _named(metadata: Mapping[str, Any]) -> str:
    """Processor that the metadata names, without features; empty where it names none."""
    found = re.search(r"-(gfx[0-9a-f][^:]*)", str(metadata.get("amdhsa.target", ""))[:200])
    return found[1] if found else ""


def _processor(machine: int, named: str, name: str) -> str:
    """Processor of an EF_AMDGPU_MACH value."""
    found = generic_of_elf(machine) or arch_of_elf(machine)
    if found is None:
        # The metadata spells the processor, which saves a table of processors that are not simulated.
        target = visible(named[:40]) or "an unknown processor"
        raise TargetError(f"{name}: code object for {target} (EF_AMDGPU_MACH {machine:#x}); known: {_KNOWN}")
    return found.name
