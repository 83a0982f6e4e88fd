"""Any bytes as a file: a code object whose kernels, symbols, lines and instructions can be read, or an error."""

import mfmasim
from mfmasim.errors import MfmasimError
from tests.fuzz.errors import check_error


def look(code):
    """Everything that a user can ask of a loaded file, except to run it."""
    repr(code.object)
    _ = code.object.printf, code.object.symbols, code.object.relocations
    code.object.segments_at(1 << 40)
    for name in code.kernels[:8]:
        kernel = code[name]
        repr(kernel)
        _ = kernel.args, kernel.info.descriptor.ignored, kernel.wave
        for one in kernel.decodable[:64]:
            assert kernel.source_at(one.pc).isprintable()
    code.object.line_table()


def run(data):
    try:
        look(mfmasim.load(data))
    except MfmasimError as error:
        check_error(error)
