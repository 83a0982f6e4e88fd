"""Examples of each verb at the end of its ``--help``: a command line, and its effect."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

__all__ = ["EXAMPLES", "Help", "examples_of", "with_examples"]

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "list": (
        ("list", "architectures and products"),
        ("list gfx950 --match fp8", "matrix instructions whose name has fp8"),
        ("list mi355x --fidelity", "how far the arithmetic of each is known"),
    ),
    "show": (
        ("show gfx950 v_mfma_f32_32x32x16_f16", "shape, operands, cycles"),
        ("show gfx950 v_mfma_f32_32x32x16_f16 'D[5,17]'", "lane and register of an element"),
        ("show e4m3fnuz 0x2b", "what a code of a number format means"),
        ("show mi355x --peaks", "peaks of a product, by format"),
    ),
    "lds": (
        ("lds gfx950 ds_read_b128 --address 'lane % 16 * 128 + lane // 16 * 16'", "conflicts of an access"),
        ("lds find --tile 16x128 --arch gfx950 --read ds_read_b128 'lane % 16' 'lane // 16 * 16'", "a swizzle"),
        ("lds prove cdna4_gemm", "a published swizzle, on every architecture"),
    ),
    "lds find": (
        ("lds find --tile 16x128 --arch gfx950 --read ds_read_b128 'lane % 16' 'lane // 16 * 16'", "a swizzle"),
    ),
    "lds prove": (("lds prove cdna4_gemm --arch gfx950", "exit code 1 if it has conflicts"),),
    "lds swizzles": (("lds swizzles", "those that were published"),),
    "lds grid": (("lds grid hilbert --rows 8 --cols 8", "tiles in the order of the workgroups"),),
    "explorer": (
        ("explorer --out explorer.html", "one file, which needs no network"),
        ("explorer gfx950 v_mfma_f32_32x32x16_f16 --open", "opens with this instruction"),
    ),
    "inspect": (
        ("inspect gemm.hsaco", "kernels, registers, LDS, occupancy"),
        ("inspect my_case.py --arch gfx950 --source changed.hip", "the kernel of a case, from a changed copy"),
        ("inspect --brief program.so", "only what cannot run"),
    ),
    "verify": (
        ("verify intro", "kernels of the package; they need no compiler"),
        ("verify my_case.py --arch gfx950 --set K=128", "your own, at another size"),
        ("verify my_case.py --source changed.hip -x", "a changed copy, up to the first failure"),
        ("verify kernels/*.py --quiet --sarif findings.sarif", "for code review"),
        ("verify --list", "families, and what they are about"),
    ),
    "report": (
        ("report my_case.py --case gemm --arch gfx950", "instructions, conflicts by line, traffic, occupancy"),
        ("report gemm_fp8 --html report.html", "the same as a page"),
    ),
    "cost": (
        ("cost my_case.py --product mi355x", "cycles that each pipe must spend"),
        ("cost my_case.py --source faster.hip --baseline before.json", "what a change gained"),
    ),
    "mutate": (
        ("mutate intro", "the wrong variants that a family declares"),
        ("mutate my_case.py --binary --limit 20", "one changed instruction each"),
        ("mutate my_case.py --textual --set K=128", "one changed place of the source each"),
    ),
    "why": (
        ("why my_case.py 'C[17,3]' --arch gfx950", "products, lanes, registers, LDS bytes, lines"),
        ("why my_case.py 'C[17,3]' --source changed.hip", "of a changed copy, as verify takes it"),
    ),
    "compare": (
        ("compare gfx942 gfx950 --of my_case.py", "two architectures"),
        ("compare old.hip new.hip --of my_case.py --allow counters,cost", "two sources"),
        ("compare flags=-O1 flags=-O3 --of my_case.py", "two sets of flags"),
    ),
    "explore": (
        ("explore my_case.py --trials 50", "sizes, strides, factors and inputs, drawn"),
        ("explore my_case.py --seed 7", "the trials of an earlier run"),
        ("explore my_case.py --device hip", "the same on a GPU"),
    ),
    "prove": (
        ("prove my_case.py --arch gfx950", "bounds, races, waits, conflicts for all sizes"),
        ("prove gemm.hsaco --block 256", "a kernel without a case"),
        ("prove my_case.py --equal flags=-O1 flags=-O3", "the same bytes for all contents of the buffers?"),
    ),
    "explain": (
        ("explain races-no-barrier", "a finding: meaning, example, fix"),
        ("explain v_div_fixup_f16", "how far an operation can be trusted"),
    ),
    "run": (
        ("run gemm.hip --arg a=f16:32x32=range --arg b=f16:32x32=range --arg c=f32:32x32=0 --print c", ""),
        ("run gemm.hsaco gemm --grid 4,4 --block 256 --arg a.npy --arg c=f32:256x256 --out after", ""),
    ),
    "debug": (
        ("debug my_case.py --case gemm --arch gfx942 -g", "with variables and lines"),
        ("debug -- ./a.out 64", "a HIP program"),
        ("debug -- python program.py", "a Triton program"),
        ("debug --dap", "for an editor"),
    ),
    "hiprt": (
        ("hiprt --arch gfx942 -- ./a.out", "a HIP program, without a GPU"),
        ("hiprt --checks bounds,races --report launches.json -- ./a.out", "two checks, and a record"),
    ),
    "triton": (
        ("triton --arch gfx950 -- python program.py", "a Triton program, without a GPU"),
        ("triton --sarif findings.sarif -- python -m pytest tests", "its tests"),
    ),
    "learn": (
        ("learn start", "writes the file of the first exercise"),
        ("learn check 01_lanes.hip", "grades it"),
        ("learn hint 01_lanes", "a hint about what the last check found"),
    ),
    "learn list": (("learn list", "the exercises, and which are solved"),),
    "learn start": (("learn start", "the first that is not solved"), ("learn start 11_bank_padding --force", "anew")),
    "learn show": (("learn show 01_lanes", ""),),
    "learn check": (("learn check 01_lanes.hip", ""), ("learn check 01_lanes --json", "")),
    "learn grade": (("learn grade answers --csv", "files STUDENT_EXERCISE.hip"),),
    "learn hint": (("learn hint 01_lanes", ""),),
    "learn solution": (("learn solution 01_lanes", ""),),
    "learn skill": (("learn skill > SKILL.md", "for an agent's folder of skills"),),
    "mcp": (
        ("mcp", "a server over stdin and stdout; clients start it"),
        ("mcp --root kernels --max-seconds 30", "files of one folder, and a limit for each question"),
    ),
    "sweep": (
        ("sweep ~/.triton/cache", "a verdict for each code object of Triton's cache"),
        ("sweep build --sarif sweep.sarif --jobs 2", ""),
    ),
    "hipcc": (
        ("hipcc program.cpp -o program", "then: mfmasim hiprt -- ./program"),
        ("hipcc --offload-arch=gfx950 -O3 -c kernel.hip", ""),
        ("hipcc --print-root", "a folder shaped as a ROCm installation, for CMake"),
    ),
    "gpu": (
        ("gpu golden record intro", "outputs of this machine's GPU"),
        ("gpu calibrate --only fp8", "parameters of its arithmetic"),
        ("gpu kit --quick --out kit.json", "everything that is assumed, in one file"),
    ),
    "gpu golden": (("gpu golden record intro", ""), ("gpu golden check captures", "")),
    "gpu golden record": (("gpu golden record intro --into captures", ""),),
    "gpu golden check": (("gpu golden check captures --json checked.json", ""),),
    "gpu calibrate": (
        ("gpu calibrate --only fp8,read_b32 --record answers.json", ""),
        ("gpu calibrate --replay answers.json", "anywhere"),
    ),
    "gpu kit": (("gpu kit --quick --out kit.json", "a few minutes"),),
    "gpu kit check": (("gpu kit check kit.json", "anywhere"),),
    "doctor": (("doctor", ""), ("doctor --json", "")),
    "completion": (
        ('eval "$(mfmasim completion bash)"', "for this shell; the same in ~/.bashrc for all"),
        ("mfmasim completion zsh > ~/.zfunc/_mfmasim", "a folder of fpath"),
    ),
}
"""Command lines by verb, without the program's name unless the line is one of the shell; and what each does."""
WIDEST = 46
"""Columns of a command beside which its remark stands; of a longer one the remark is above."""


class Help(argparse.HelpFormatter):
    """Wraps descriptions, but not examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Wrap all text but lists of examples."""
        return text if text.startswith(HEAD) else super()._fill_text(text, width, indent)


HEAD = "examples:\n"


def examples_of(verb: str) -> str:
    """The examples of a verb as the end of its help; empty without examples."""
    return HEAD + "\n".join(_lines(verb)) if verb in EXAMPLES else ""


def _lines(verb: str) -> Iterator[str]:
    commands = [(text if "mfmasim " in text else f"mfmasim {text}", remark) for text, remark in EXAMPLES[verb]]
    width = max((len(text) for text, _ in commands if len(text) <= WIDEST), default=0)
    for text, remark in commands:
        if remark and len(text) > WIDEST:
            yield f"  # {remark}"
        yield f"  {text:<{width}}  # {remark}" if remark and len(text) <= WIDEST else f"  {text}"


def with_examples(parser: argparse.ArgumentParser, prog: str = "") -> argparse.ArgumentParser:
    """Add the examples of their verbs to a parser and its subparsers.

    Args:
        parser: of a verb.
        prog: its spelling, such as ``mfmasim lds find``, if it differs from the parser's own.

    Returns:
        The parser.
    """
    parser.prog = prog or parser.prog
    verb = parser.prog.partition(" ")[2]
    parser.formatter_class = Help
    parser.epilog = examples_of(verb) or parser.epilog
    for action in parser._actions:  # noqa: SLF001 (argparse has no public way to read a parser)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for below in action.choices.values():
                with_examples(below)
    return parser
