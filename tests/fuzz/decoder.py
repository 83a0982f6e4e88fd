"""Any machine code, on any architecture: instructions that are all of these bytes, with printable texts, or an error.

The first byte of an input chooses architecture and wave size.
"""

from mfmasim import isa
from mfmasim.architectures import ARCHITECTURES, arch
from mfmasim.errors import MfmasimError
from mfmasim.isa import decoder
from tests.fuzz.errors import check_error

TARGETS = [(name, wave) for name in ARCHITECTURES for wave in arch(name).wave_sizes]


def target(data):
    """Architecture, wave size and machine code of an input."""
    return *TARGETS[(data[0] if data else 0) % len(TARGETS)], data[1:]


def run(data):
    name, wave, code = target(data)
    decoder._CACHES.clear()  # what an input reaches does not depend on those before it
    try:
        instructions = isa.decode_range(code, name, 0x1000, wave)
    except MfmasimError as error:
        check_error(error)
        return []
    assert b"".join(one.raw for one in instructions) == code
    for one in instructions:
        assert one.text.isprintable()
        assert one.text.startswith(one.name.split()[0])
    return instructions
