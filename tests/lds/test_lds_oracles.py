"""Names and sizes against LLVM's assembler and our own decoder's tables."""

import pytest

from mfmasim import lds
from mfmasim.architectures import ARCHITECTURES
from mfmasim.errors import MfmasimError
from mfmasim.isa.tables import table
from tests.llvm import assembled

pytestmark = pytest.mark.oracle


def accepted(arch, lines):
    """Which of the lines the assembler takes."""
    _, refused = assembled(lines, arch)
    return [number not in refused for number in range(len(lines))]


def registers(size, first):
    count = max(1, size // 4)
    return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"


def forms(row):
    """Lines that the instruction must be one of."""
    data, both = registers(row.size, 2), registers(row.size * row.parts, 8)
    if "addtid" in row.name:
        return [f"{row.name} {data}"]
    if row.kind == "read":
        return [f"{row.name} {both}, v0"]
    if row.kind == "write":
        return [f"{row.name} v0, {', '.join([data] * row.parts)}"]
    with_one, with_two = f"v0, {data}", f"v0, {data}, {data}"
    return [f"{row.name} {start}{rest}" for start in ("", f"{both}, ") for rest in (with_one, with_two)]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_instructions_are_those_of_llvm(arch):
    """Every name that any architecture has, tried on this one: both verdicts are compared."""
    names = sorted({name for other in ARCHITECTURES for name in lds.ds_instructions(other)})
    mine = set(lds.ds_instructions(arch))
    lines, owners = [], []
    for name in names:
        owner = next(other for other in ARCHITECTURES if name in lds.ds_instructions(other))
        for line in forms(lds.ds_instruction(owner, name)):
            lines.append(line)
            owners.append(name)
    taken = {name for name, good in zip(owners, accepted(arch, lines), strict=True) if good}
    assert taken == mine
    assert len(names) > 170


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_direct_to_lds_sizes_are_those_of_llvm(arch):
    gfx9 = {1: "ubyte", 2: "ushort", 4: "dword", 8: "dwordx2", 12: "dwordx3", 16: "dwordx4"}
    gfx11 = {1: "u8", 2: "u16", 4: "b32", 8: "b64", 12: "b96", 16: "b128"}
    found = {
        size
        for size in gfx9
        if any(
            accepted(
                arch,
                [f"buffer_load_{gfx9[size]} off, s[8:11], s3 lds", f"buffer_load_{gfx11[size]} off, s[8:11], s3 lds"],
            )
        )
    }
    assert found == set(lds.direct_sizes(arch))


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950"])
def test_every_ds_instruction_of_the_decoder_is_known(arch):
    """What the decoder can meet is either in the tables or refused with a reason."""
    compared = 0
    for _, (name, *_) in table("DS", arch):
        if "gws" in name:  # global wave sync: no LDS
            continue
        compared += 1
        try:
            row = lds.ds_instruction(arch, name)
        except MfmasimError as error:
            assert "bank conflicts to count" in str(error)  # noqa: PT017
        else:
            assert row.name == name
    assert compared > 110
