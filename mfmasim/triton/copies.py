"""Memory of a launch as copies of the tensors, between guard pages.

Copies detect more than the tensors' own memory, since a stray access hits no other tensor; and they are compact, which
checks need that keep books of every byte. Addresses then differ from the program's. Where a tensor of 64-bit integers
holds addresses of tensors, these are copied too, and the addresses are translated for the launch.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.machine.launch.argument_passing import laid_out
from mfmasim.machine.launch.layout import begin, fill, load_image
from mfmasim.machine.launch.limits import checked
from mfmasim.machine.state.memory import PAGE, Memory, Region
from mfmasim.triton.arguments import words
from mfmasim.triton.calls import Call, Placed, Translated
from mfmasim.triton.storages import POINTER, Storage, holder, joined, looks_like_address
from mfmasim.triton.tiles import KIND


def copied(call: Call) -> Placed:
    """Lay a launch out on copies.

    Raises:
        MfmasimError: the device would not take the launch.
    """
    kernel = call.kernel
    memory = Memory()
    sizes = checked(kernel, call.grid, call.block, call.lds, call.cluster)
    launch = begin(memory, kernel, sizes, cooperative=call.cooperative)
    placed = Placed(launch)
    storages, held = _reached(call)
    regions: dict[int, Region] = {}
    for storage in storages:
        # Alignment as in the program, as compilers specialise on it.
        whole = memory.reserve(storage.name, storage.room, offset=storage.address % PAGE)
        region = Region(whole.name, whole.address, storage.size)
        regions[storage.address] = region
        launch.buffers.take(region, storage.bytes)
    memory.seal()
    for region, array in launch.buffers:
        memory.view(region)[:] = array
    load_image(memory, kernel.code, launch.image_base)

    def there(address: int) -> int:
        storage = held.get(address)
        return address if storage is None else address - storage.address + regions[storage.address].address

    def seen_there(kind: str, value: Any) -> Any:
        if kind == KIND:
            return replace(value, address=there(value.address))
        return there(value) if kind.startswith("*") else value

    for kind, value in call.arguments:
        bits = re.search(r"\d+", kind)
        if kind.startswith("*") and bits and isinstance(value, int) and value in held:  # findings count its elements
            size = max(1, int(bits[0]) // 8)
            launch.names.arrays[held[value].name] = (held[value].size // size,), np.dtype(f"V{size}")
    flat = [(kind, seen_there(kind, value)) for kind, value in call.arguments]
    for storage in storages:
        seen = _words(storage, memory.view(regions[storage.address]))
        places = np.flatnonzero(looks_like_address(seen))
        places = places[[int(word) in held for word in seen[places]]]
        if len(places):
            own = seen[places].copy()
            seen[places] = new = np.array([there(int(word)) for word in own], np.uint64)
            placed.translated.append(Translated(seen, places, own, new))
    fill(launch, laid_out(kernel, words(kernel, flat)))
    return placed


def _words(storage: Storage, content: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The 64-bit integers of a storage that may be addresses."""
    aligned = storage.words and storage.address % POINTER == 0
    return content[: storage.size // POINTER * POINTER if aligned else 0].view(np.uint64)


def _reached(call: Call) -> tuple[list[Storage], dict[int, Storage]]:
    """All storages that the kernel can reach, and the one that holds each address: of arguments and in tensors."""
    found = {storage.address: storage for storage in call.storages if storage.size}
    wanted = {value for kind, value in call.arguments if kind.startswith("*") and value}
    wanted |= {value.address for kind, value in call.arguments if kind == KIND}
    held: dict[int, Storage] = {}
    looked: set[int] = set()
    while True:
        held |= holder(wanted - held.keys(), found.values())
        found |= {storage.address: storage for storage in held.values() if storage.address not in found}
        fresh = [storage for address, storage in found.items() if address not in looked]
        if not fresh:
            break
        looked |= {storage.address for storage in fresh}
        contents = [_words(storage, storage.bytes) for storage in fresh]
        wanted = {int(word) for values in contents for word in np.unique(values[looks_like_address(values)])}
    storages = joined(found.values())
    return storages, {address: next(s for s in storages if address in s) for address in held}
