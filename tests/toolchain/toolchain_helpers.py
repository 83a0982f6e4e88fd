"""What several toolchain tests share: the compilers to compare, sections of a code object, LLVM's view of it."""

import io
import subprocess
from pathlib import Path

from elftools.elf.elffile import ELFFile

from mfmasim.errors import MfmasimError
from mfmasim.toolchain import find_compiler
from tests.llvm import tool
from tests.oracles import require

SOURCES = Path(__file__).resolve().parent / "sources"
ARCHITECTURES = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1200", "gfx1201")


def other_clang():
    """A clang of the same version as the wheel's: an independent build that has to agree with it."""
    try:
        found = find_compiler("clang-22")
    except MfmasimError as error:
        require("clang-22 with lld-22", available=False, how=str(error))
    wheel = find_compiler("ziglang")
    require("clang-22", found.version == wheel.version, f"it is {found.version}, the wheel's clang is {wheel.version}")
    return str(found.path)


def disassembly(data, folder):
    """Instructions of a code object as llvm-objdump prints them."""
    file = Path(folder) / "disassembly.hsaco"
    file.write_bytes(data)
    done = subprocess.run([tool("llvm-objdump"), "-d", str(file)], capture_output=True, text=True, check=True)
    return done.stdout


def section(data, name):
    """Bytes of a section."""
    return ELFFile(io.BytesIO(data)).get_section_by_name(name).data()


def kernels(data):
    """Names of the kernels: each has a descriptor symbol."""
    symbols = ELFFile(io.BytesIO(data)).get_section_by_name(".symtab")
    return {symbol.name.removesuffix(".kd") for symbol in symbols.iter_symbols() if symbol.name.endswith(".kd")}
