"""LLVM's hazard recogniser as an oracle: machine functions as they are, and with what its pass inserts between them.

``python -m tests.isa.llvm_hazards FOLDER`` judges LLVM's own tests (``llvm/test/CodeGen/AMDGPU``): with wait states
they have to break no row, and without they have to break one.
"""

import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

import mfmasim
from mfmasim import isa
from mfmasim.isa.hazards import rows
from mfmasim.isa.hazards.follow import Follower, State
from mfmasim.machine.opcodes.matrix import passes
from tests.llvm import tool

PASS = "post-RA-hazard-rec"
RUNS = rf"run-pass[= ]{PASS}"


def functions(text, arch, *, inserted, of=PASS):
    """Name -> instructions of each function of a MIR file; None where LLVM refuses the file.

    Args:
        text: the file.
        arch: architecture.
        inserted: whether LLVM's pass runs.
        of: the pass.
    """
    start = f"-start-{'before' if inserted else 'after'}={of}"
    with tempfile.NamedTemporaryFile("w", suffix=".mir") as file:  # llc reads no MIR from its standard input
        file.write(text)
        file.flush()
        command = [tool("llc"), "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={arch.name}", start, "-filetype=obj", "-o", "-"]
        done = subprocess.run([*command, file.name], capture_output=True, check=False)
    if done.returncode:
        return None
    elf = ELFFile(io.BytesIO(done.stdout))
    code, out = elf.get_section_by_name(".text").data(), {}
    for symbol in elf.get_section_by_name(".symtab").iter_symbols():
        if symbol["st_info"]["type"] == "STT_FUNC":
            first = symbol["st_value"]
            octets = code[first : first + symbol["st_size"]]
            out[symbol.name] = list(isa.decode_range(octets, arch, first, arch.wave_sizes[0]))
    return out


def file_of(bodies):
    """A MIR file of functions by name, each a list of instructions."""
    text = "---\nname: {}\nbody: |\n  bb.0:\n{}\n    S_ENDPGM 0\n...\n"
    return "".join(text.format(name, "\n".join(f"    {line}" for line in body)) for name, body in bodies.items())


def documents(text):
    """The functions of a MIR file one by one, each as a file of its own behind the file's LLVM IR."""
    parts = re.split(r"^--- ?", text, flags=re.MULTILINE)[1:]
    module = "".join(f"--- {part}" for part in parts if part.startswith("|"))
    return [f"{module}---\n{part.lstrip()}" for part in parts if not part.startswith("|")]


def missing(instructions, arch):
    """What is missing where: (row, address of the second instruction) -> wait states."""
    follower, state, found = Follower(rows(arch), arch, arch.wave_sizes[0], passes), State(), {}
    for instruction in instructions:
        broken = []
        state = follower.step(state, instruction, broken.append)
        for one in broken:
            found[one.row.first, one.row.second, one.row.link, instruction.pc] = one.needs - one.present
    return found


def waits_in(instructions):
    """Wait states of the NOPs among instructions."""
    nops = [ins for ins in instructions if ins.name in ("s_nop", "v_nop")]
    return sum(ins.modifiers.get("simm16", 0) + 1 for ins in nops)


def judged(folder, arch):
    """Functions of LLVM's tests where it inserts wait states: those that the rows find, and those that they miss."""
    found, missed = [], []
    for path in sorted(Path(folder).glob("*hazard*.mir")):
        text = path.read_text()
        if not re.search(RUNS, text):
            continue
        for document in documents(text):
            both = [functions(document, arch, inserted=inserted) for inserted in (True, False)]
            if None in both:
                continue  # for another architecture, or of another version of LLVM
            for name, instructions in both[1].items():
                if waits_in(both[0][name]) > waits_in(instructions):
                    good = missing(instructions, arch) and not missing(both[0][name], arch)
                    (found if good else missed).append(f"{path.name}:{name}")
    return found, missed


if __name__ == "__main__":
    for name in ("gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200", "gfx1250"):
        right, wrong = judged(sys.argv[1], mfmasim.arch(name))
        print(name, len(right), "found;", len(wrong), "missed", *wrong)
