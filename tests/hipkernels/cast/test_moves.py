"""hipkernels/cast: which input element each byte comes from, and which ones feed each scale and amax."""

import pytest

from mfmasim.verify import verify_case
from tests.hipkernels.cast.family import caught, passes, right, runs, wrong

QUICK = {
    "cast_moves[given=bf16,target=e5m2,overflow=plain]-gfx1201", "cast_amax_of[given=f32]-gfx950",
    "transpose_moves[given=f32,load=16,store=2]-gfx942", "transpose_rest_moves[given=f16]-gfx950",
    "transpose_part_moves[part=rest,kernel=cast_transpose_f32_e4m3_rest]-gfx950",
    "multi_moves[given=f32]-gfx950", "transposed_read_moves[given=f32]-gfx950",
    "mx_moves[given=f32,target=e2m1,way=column]-gfx950",
    "mx_back_moves[target=e2m1,way=row]-gfx950", "mx_back_moves[target=e4m3,way=column]-gfx950",
}  # fmt: skip
RED = {"transpose_hidden_by_symmetry", "amax_of_half_the_elements"}


def quick(_, case, arch):
    return f"{case.title}-{arch}" in QUICK


@pytest.mark.parametrize(("case", "arch"), right("", quick, followed=True))
def test_every_element_has_its_source(case, arch):
    passes(case, arch)


def test_slots_are_elements_and_their_sources():
    """MX: each code has its element and its block, each scale its block; nibbles that fill up count, too."""
    title = "mx_moves[given=f32,target=e4m3,way=row]"
    case = next(case for case, _ in runs("mx", followed=True) if case.title == title)
    found = verify_case(case, "gfx950").mapping
    assert found == {"slots_checked": 35 * 69 * 2 + 35 * 3, "mismatches": 0}
    assert len(runs("", followed=True)) >= 130


@pytest.mark.parametrize("name", wrong("", RED, followed=True))
def test_right_bytes_from_wrong_elements_are_caught(name):
    caught("", name)
