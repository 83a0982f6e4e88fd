"""The captured launches of golden/hardware: their code objects, arguments, counters and thread traces."""

import json
from functools import cache

import mfmasim
from mfmasim.cli.run_arguments import given
from tests.captures import HARDWARE

LAUNCHES = {
    launch["name"]: launch
    for launch in json.loads((HARDWARE / "launches.json").read_text(encoding="utf-8"))["launches"]
}


@cache
def kernel_of(name):
    """The kernel of a launch."""
    launch = LAUNCHES[name]
    return mfmasim.load(HARDWARE / launch["object"], arch=launch["arch"])[launch["kernel"]]


def arguments_of(name):
    """What it is called with."""
    return given(LAUNCHES[name]["args"], kernel_of(name)).values


@cache
def report_of(name):
    """The whole launch, with bank conflicts counted; both runs of a capture are one launch."""
    launch = LAUNCHES[name]
    return mfmasim.device("sim").launch(
        kernel_of(name), launch["grid"], launch["block"], arguments_of(name), checks="conflicts"
    )
