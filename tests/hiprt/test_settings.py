"""Environment variables of the simulated runtime: what is no number is one line that names the variable."""

import pytest

from mfmasim.errors import MfmasimError
from mfmasim.hiprt import settings
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
