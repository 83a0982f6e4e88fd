"""Any bytes as a capture, a golden file, an array or a capture's sealed description: it is read, or refused in a line.

The first byte of an input says which. A description replaces that of a real capture, which is sealed again, so that
damage reaches what lies behind the seal.
"""

import functools
import tempfile
from pathlib import Path

import numpy as np

import mfmasim
from mfmasim.archives import parse_archive, parse_array, write_archive
from mfmasim.codeobject.guard import parsing
from mfmasim.errors import MfmasimError
from mfmasim.lab.agreement import capture, threeway
from mfmasim.lab.calibration.phase_probes import timed
from mfmasim.lab.calibration.probes import observed
from mfmasim.testing import stored
from mfmasim.verify.files import families, load_file
from tests.fuzz.errors import check_error


@functools.cache
def recorded():
    """Arrays of a capture of the package's first kernel, recorded on the simulator."""
    cases = load_file(families()["intro"])
    first = next(case for case in cases if "gfx942" in case.arch)
    with tempfile.TemporaryDirectory() as folder:
        path, _ = threeway.record(first, "gfx942", "intro", mfmasim.device("sim"), Path(folder))
        return parse_archive(path.read_bytes())


def sealed(path, about):
    """Write the recorded capture with another description and the seal that belongs to it."""
    arrays = {**recorded(), "about": np.frombuffer(about, np.uint8)}
    arrays.pop("seal")
    write_archive(path, {**arrays, "seal": capture._seal(arrays)})


def as_array(path, data):
    try:
        parse_array(data)
    except ValueError as error:
        raise MfmasimError(error) from None


def as_file(path, data):
    path.write_bytes(data)
    threeway.check(path)


def as_golden(path, data):
    path.write_bytes(data)
    stored.load(path)


def as_description(path, data):
    sealed(path, data)
    threeway.check(path)


def as_probes(path, data):
    sealed(path, data)
    found = capture.read(path)
    with parsing("x.npz", "capture of probes"):
        list(observed(found))
        list(timed(found))


WAYS = (as_array, as_file, as_golden, as_description, as_probes)


def run(data):
    way = WAYS[(data[0] if data else 0) % len(WAYS)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            way(Path(folder, "x.npz"), data[1:])
        except MfmasimError as error:
            check_error(error)
        assert [path.name for path in Path(folder).iterdir()] in ([], ["x.npz"])
