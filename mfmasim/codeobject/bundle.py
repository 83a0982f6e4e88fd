"""Offload bundles: several code objects in one file, one after another, each under the name of its target.

Source: LLVM's Clang Offload Bundler document, "Bundled Binary File Layout" and "Bundle Entry ID".
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mfmasim.architectures import GENERICS, SIMULATED
from mfmasim.codeobject import compressed
from mfmasim.errors import DamagedError, MfmasimError, TargetError
from mfmasim.visible import visible

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
ALIGNED = 4096
"""Bytes; clang's driver passes it to its bundler (-bundle-align)."""

_COUNT = struct.Struct("<Q")
_PLACE = struct.Struct("<QQQ")  # offset, size, length of the identifier that follows
_LONGEST_IDENTIFIER = 1024
_LONGEST_SHOWN, _MOST_SHOWN = 80, 16


@dataclass(frozen=True)
class Entry:
    """One file inside a bundle."""

    identifier: str
    """Entry ID, such as ``hipv4-amdgcn-amd-amdhsa--gfx942:xnack-``."""
    data: memoryview

    @property
    def is_host(self) -> bool:
        """Whether the entry is for the CPU."""
        return self.identifier.startswith("host-")

    @property
    def target_id(self) -> str:
        """Processor and features, such as ``gfx942:xnack-``; the whole identifier where it names none."""
        found = re.search(r"-(gfx[0-9a-f].*)$", self.identifier)
        return found[1] if found else self.identifier


def is_bundle(data: bytes | memoryview) -> bool:
    """Whether bytes start as a bundle, plain or compressed."""
    return data[: len(MAGIC)] == MAGIC or data[: len(compressed.MAGIC)] == compressed.MAGIC


def bundled(entries: Iterable[tuple[str, bytes]]) -> bytes:
    """A bundle of entries, each an ID and its bytes; code objects begin at multiples of `ALIGNED`."""
    found = [(name.encode(), data) for name, data in entries]
    at = len(MAGIC) + _COUNT.size + sum(_PLACE.size + len(name) for name, _ in found)
    head, body = MAGIC + _COUNT.pack(len(found)), bytearray()
    start = -(-at // ALIGNED) * ALIGNED
    for name, data in found:
        body += bytes(-len(body) % ALIGNED)
        head += _PLACE.pack(start + len(body), len(data), len(name)) + name
        body += data
    return head.ljust(start, b"\0") + bytes(body)


def split(data: bytes | memoryview, name: str) -> list[Entry]:
    """Split bundles into their entries.

    Args:
        data: one bundle, or several with zero bytes between them, as a linker puts them into ``.hip_fatbin``.
        name: the file, for the error.

    Returns:
        The entries that are not empty, host entries included, in order.

    Raises:
        MfmasimError: a bundle is truncated or corrupt, or the bundles decompress to more than
            `compressed.LIMIT` bytes in all.
    """
    entries: list[Entry] = []
    left = memoryview(data)
    budget = compressed.LIMIT
    while left.nbytes:
        if left[: len(compressed.MAGIC)] == compressed.MAGIC:
            plain, used = compressed.decompress(left, budget, name)
            budget -= len(plain)
            found, _ = _split_plain(memoryview(plain), f"{name}: compressed bundle")
        elif left[: len(MAGIC)] == MAGIC:
            found, used = _split_plain(left, name)
        else:
            raise DamagedError(f"{name}: corrupt offload bundle: no bundle at {bytes(left[:8]).hex(' ')}")
        entries.extend(found)
        left = skip_zeros(left[used:])
    return entries


def _split_plain(data: memoryview, name: str) -> tuple[list[Entry], int]:
    """Entries of one plain bundle and the number of bytes it takes."""

    def numbers(layout: struct.Struct, at: int) -> tuple[int, ...]:
        if at + layout.size > len(data):
            raise DamagedError(f"{name}: truncated offload bundle: its table runs beyond {len(data)} bytes")
        return layout.unpack_from(data, at)

    if data[: len(MAGIC)] != MAGIC:
        raise DamagedError(f"{name}: corrupt offload bundle: no bundle at {bytes(data[:8]).hex(' ')}")
    (count,) = numbers(_COUNT, len(MAGIC))
    at = len(MAGIC) + _COUNT.size
    if count > (len(data) - at) // _PLACE.size:
        raise DamagedError(f"{name}: truncated offload bundle: {count} entries in {len(data)} bytes")
    entries: list[Entry] = []
    end = at
    for _ in range(count):
        offset, size, length = numbers(_PLACE, at)
        at += _PLACE.size
        if length > _LONGEST_IDENTIFIER or at + length > len(data):
            raise DamagedError(f"{name}: truncated or corrupt offload bundle: an entry's name has {length} bytes")
        identifier = visible(bytes(data[at : at + length]).decode("ascii", "replace"))
        at += length
        if offset + size > len(data):
            raise DamagedError(
                f"{name}: truncated offload bundle: entry '{_listed([identifier])}' ends at byte {offset + size}, "
                f"the bundle has {len(data)}"
            )
        end = max(end, at, offset + size)
        if size:
            entries.append(Entry(identifier, data[offset : offset + size]))
    return entries, end


def skip_zeros(data: memoryview) -> memoryview:
    """What follows the padding."""
    step = 1 << 16
    for start in range(0, len(data), step):
        block = bytes(data[start : start + step])
        rest = block.lstrip(b"\0")
        if rest:
            return data[start + len(block) - len(rest) :]
    return data[:0]


def pick(entries: Sequence[Entry], target: str | None, name: str) -> Entry:
    """Choose the code object to load.

    Args:
        entries: of `split`.
        target: processor with or without features, or None when there is only one.
        name: the file, for the error.

    Returns:
        The entry.

    Raises:
        TargetError: no entry matches, or several; the message lists the entries.
    """
    device = [entry for entry in entries if not entry.is_host]
    inside = _listed(entry.target_id for entry in device) or "host code only"
    found = device if target is None else [entry for entry in device if answers(entry.target_id, target)]
    exact = [entry for entry in found if entry.target_id == target]
    if len(exact) == 1:
        return exact[0]
    if target is not None:  # code for the processor itself is preferred to code for a generic target
        own = [entry for entry in found if entry.target_id.partition(":")[0] == target.partition(":")[0]]
        found = own or found
    if len(found) == 1:
        return found[0]
    if not found:
        damaged = device and not any(entry.target_id.startswith("gfx") for entry in device)
        kind = MfmasimError if damaged else TargetError
        raise kind(f"{name}: no code object for {target or 'a device'}; the bundle holds {inside}")
    if len({entry.target_id for entry in found}) == 1:
        raise TargetError(
            f"{name}: {len(found)} code objects for {_listed([found[0].target_id])} (one a source file); "
            "choose the one to read by a kernel in it"
        )
    several = _listed(entry.target_id for entry in found)
    raise TargetError(f"{name}: several code objects; choose one with arch: {several}")


def _listed(names: Iterable[str]) -> str:
    """Names for an error, each once: those of a damaged bundle may be long and many."""
    some = list(dict.fromkeys(names))
    shown = [name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}..." for name in some[:_MOST_SHOWN]]
    return ", ".join(shown) + (f" and {len(some) - _MOST_SHOWN} more" if len(some) > _MOST_SHOWN else "")


def answers(target_id: str, target: str) -> bool:
    """Whether a code object with a target id runs on ``target``.

    The processors are equal, or the code object is for a generic target to which ``target`` belongs, or for a processor
    whose code ``target`` also loads (`mfmasim.architectures.Arch.runs`), and no feature is on in one and off in the
    other; a feature that one of them does not name matches both.
    """
    processor, *features = target_id.split(":")
    target_processor, *target_features = target.split(":")
    opposite = {f"{feature[:-1]}{'-' if feature[-1:] == '+' else '+'}" for feature in target_features}
    generic, wanted = GENERICS.get(processor), SIMULATED.get(target_processor)
    fits = processor == target_processor or (generic is not None and target_processor in generic.processors)
    fits = fits or (wanted is not None and processor in wanted.runs)
    return fits and not opposite & set(features)
