"""Environment variables of the simulated runtime: what is no number is one line that names the variable."""

import pytest

from mfmasim.errors import MfmasimError
from mfmasim.hiprt import environment, settings
from mfmasim.hiprt.build import LIBRARY
from mfmasim.hiprt.root import root
from mfmasim.hiprt.settings import Settings

VARIABLES = settings.MEMORY, settings.NOISE, settings.EXIT_CODE, settings.BUDGET


@pytest.mark.parametrize("value", ["\u00b2", "\u0663\u0663", "9" * 5000, "-1", "1 0", "", "0x10", "1e3"])
@pytest.mark.parametrize("name", VARIABLES)
def test_what_is_no_number(name, value):
    with pytest.raises(MfmasimError) as error:
        Settings.read({name: value})
    assert str(error.value).startswith(f"{name}=")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", VARIABLES)
def test_numbers(name):
    assert Settings.read({name: "007"}) == Settings.read({name: "7"})


def test_what_follows_a_fault_is_one_of_two():
    assert not Settings.read({}).goes_on
    assert Settings.read({settings.AFTER_FAULT: "continue"}).goes_on
    with pytest.raises(MfmasimError, match=r"MFMASIM_HIPRT_AFTER_FAULT 'contine'; did you mean 'continue'"):
        Settings.read({settings.AFTER_FAULT: "contine"})


def test_the_folder_of_rocm_is_ours_unless_the_users_has_no_runtime(tmp_path, monkeypatch):
    """Compilers of kernels find their linker there; hip-python loads another runtime from a folder that has one."""
    for given in ("", str(tmp_path / "rocm")):
        monkeypatch.setenv("ROCM_PATH", given)
        assert environment()["ROCM_PATH"] == (given or str(root()))
    (tmp_path / "rocm" / "lib").mkdir(parents=True)
    (tmp_path / "rocm" / "lib" / LIBRARY).write_text("")
    assert environment()["ROCM_PATH"] == environment()["ROCM_HOME"] == str(root())
    assert (root() / "lib" / LIBRARY).is_file()
