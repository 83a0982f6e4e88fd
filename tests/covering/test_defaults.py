"""Which checks a verb runs by default: the table of docs/checks.md, beside the code."""

import argparse
import re
from pathlib import Path

from mfmasim.cli import debug, explore, run
from mfmasim.devices.options import Options, chosen_checks, not_run, said_of
from mfmasim.hiprt.settings import STREAMS
from mfmasim.hiprt.settings import Settings as HipSettings
from mfmasim.testing.plugin import SETTINGS
from mfmasim.triton.settings import Settings
from mfmasim.verify import load_file

PAGE = Path(__file__).parents[2] / "docs" / "checks.md"
CASES = Path(__file__).with_name("turns_case.py")


def default_of(verb, *words):
    """The value of ``--checks`` that a verb's parser gives."""
    parser = argparse.ArgumentParser()
    verb.add(parser.add_subparsers())
    return parser.parse_args([verb.__name__.rpartition(".")[2], *words]).checks


def test_the_table_says_what_runs():
    """Each row is what the code has; "all" is what `chosen_checks` gives for it."""
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE.read_text().split("## hazards")[0], re.MULTILINE))
    every = chosen_checks("all")
    case = load_file(CASES)[0]
    ran = {
        "verify": chosen_checks(case.checks),
        "mutate": chosen_checks(case.checks),
        "explore": chosen_checks(default_of(explore, "x.py")),
        "run": chosen_checks(default_of(run, "x.hsaco")),
        "debug": chosen_checks(default_of(debug, "x.hsaco") or "all"),
        "triton": tuple(Settings().chosen),
        "hiprt": tuple(name for name in HipSettings.read({}).judged[0] if name != STREAMS),
        "pytest": chosen_checks(SETTINGS["checks"]),
        "launch": Options().names,
    }
    assert rows.keys() == ran.keys()
    assert all(text.startswith("all") and ran[verb] == every for verb, text in rows.items())
    assert ("streams" in rows["hiprt"]) is HipSettings.read({}).streams
    assert Settings(memory="process").chosen == ["bounds"]


def test_what_did_not_run_is_said():
    """Nothing where all ran."""
    assert not_run("all,hazards:manual") == ()
    assert said_of(chosen_checks("all"), not_run("all")) == ""
    left = not_run("bounds,races")
    assert {"waits", "uninitialised"} <= set(left)
    assert "bounds" not in left
    text = said_of(chosen_checks("bounds,races"), left)
    assert text.startswith("checks that ran: bounds, races; not run: ")
    ran, left = HipSettings.read({"MFMASIM_HIPRT_CHECKS": "bounds"}).judged
    assert ran == ["bounds"]
    assert {"races", STREAMS} <= set(left)
