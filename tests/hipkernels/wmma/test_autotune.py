"""The kernel of a product by its estimated cost."""

import json

import pytest

from hipkernels.wmma import autotune
from mfmasim import MfmasimError


def test_kernels_are_ordered_by_time_and_longer_sums_take_longer():
    names = ["matmul_highOcc", "matmul"]
    found = autotune.tune(512, 512, 512, names)
    assert [one.name for one in found] == ["matmul", "matmul_highOcc"]
    assert all(0 < one.bound <= one.milliseconds for one in found)
    longer = autotune.try_kernel("matmul", 512, 512, 1024)
    assert 1.5 < longer.milliseconds / found[0].milliseconds < 2.5
    assert longer.kernel == "tile_128x64"


def test_a_length_that_a_kernel_does_not_support_takes_the_one_for_any_shape():
    assert autotune.try_kernel("matmul_quad", 128, 64, 272).kernel == "any_quad"
    with pytest.raises(MfmasimError, match="0 x 64 x 64: sizes of 1 or more"):
        autotune.try_kernel("matmul", 0, 64, 64)


def test_the_command_writes_what_it_prints(tmp_path, capsys):
    path = tmp_path / "found.json"
    assert autotune.main(["--size", "128", "64", "64", "--trials", "2", "--json", str(path)]) == 0
    ((size, trials),) = json.loads(path.read_text()).items()
    assert size == "128x64x64"
    assert len(trials) == 2
    assert capsys.readouterr().out.splitlines()[0] == f"128 x 64 x 64 on gfx1151: {trials[0]['name']}"
    for wrong, words in ((["--trials", "0"], "1 to 16 are possible"), (["--size", "0", "8", "8"], "1 or more")):
        with pytest.raises(SystemExit):
            autotune.main(wrong)
        assert words in capsys.readouterr().err


@pytest.mark.long
def test_the_best_and_the_worst_of_the_published_table():
    """As measured there at 4096 x 4096 x 2048: the variant with zero-copy stores, and the one with high occupancy."""
    found = autotune.tune(4096, 4096, 2048)
    assert (found[0].name, found[-1].name) == ("matmul_zerocopy", "matmul_highOcc")
    assert len(found) == len(autotune.CANDIDATES)
