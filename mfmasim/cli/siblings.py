"""Cases of a run with one kernel: the first of them is verified at further sizes, for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from mfmasim.verify import Case


def siblings_of(
    work: Sequence[tuple[str, Case, str]], changes: Mapping[str, Any]
) -> list[Sequence[Mapping[str, Any]] | None]:
    """For the first case of every kernel the differing parameters of the other cases; for other cases None.

    Args:
        work: group, case and architecture of each.
        changes: parameters that every case of them has.
    """
    first: dict[tuple[object, ...], int] = {}
    found: list[list[Mapping[str, Any]] | None] = []
    for number, (group, case, arch) in enumerate(work):
        parameters = {**case.parameters, **{name: changes[name] for name in changes if name in case.parameters}}
        key: tuple[object, ...]
        try:
            key = group, case.build, case.source, case.kernel_name(), case.flags, case.maker, arch
        except MfmasimError:  # said where the case is verified
            key = group, number
        owner = first.setdefault(key, number)
        found.append([] if owner == number and arch not in case.skip else None)
        if arch in case.skip and owner == number:
            del first[key]
        elif owner != number and (others := found[owner]) is not None:
            own = work[owner][1].parameters
            different = {name: parameters[name] for name in parameters if not _same(parameters[name], own.get(name))}
            others.append({name: value for name, value in different.items() if name not in ("arch", "wave")})
    return list(found)


def _same(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and repr(one) == repr(other))
