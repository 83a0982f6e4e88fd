"""Mutants that no test can kill, each with the reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Equivalent:
    """A change without effect: the file under mfmasim, the lines before and after, and why nothing differs."""

    path: str
    before: str
    after: str
    reason: str


EQUIVALENTS = (
    Equivalent(
        "formats/conversions/model.py",
        'if kind == "b64":',
        'if kind >= "b64":',
        "the kinds are b32, b32xN and b64, of which b64 is the last in order.",
    ),
    Equivalent(
        "formats/rounding.py",
        "beyond = target.nan_code or 0 if target.inf_code is None else target.inf_code",
        "beyond = target.nan_code or 1 if target.inf_code is None else target.inf_code",
        "a format that is not `finite` and has no Inf has a NaN, whose code is not 0.",
    ),
    Equivalent(
        "lds/advice.py",
        "before: int = 0",
        "before: int = -1",
        "it is read beside an `after` that is not 0, and both are set together.",
    ),
    Equivalent(
        "lds/advice.py",
        "end = -1",
        "end = - 0",
        "no account begins below byte 0: the first one begins a group with either.",
    ),
    Equivalent(
        "lds/linear_maps.py",
        "together = collision.differences[collision.differences & fixed == 0]",
        "together = collision.differences[collision.differences & fixed <= 0]",
        "differences are exclusive-ors of offsets, which are not negative.",
    ),
    Equivalent(
        "lds/search.py",
        "break",
        "continue",
        "the file's one `break`: its condition stays true for every larger padding, and the loop does nothing more.",
    ),
    Equivalent(
        "machine/ops/lds.py",
        "for write, readers in zip(writes, data, strict=True):",
        "for write, readers in zip(writes, data, strict=False):",
        "both lists have two entries: a pair has two addresses and two operands of data.",
    ),
    Equivalent(
        "machine/ops/lds_barrier.py",
        'base, offset = read_dword(instruction.src[0], 0, instruction), instruction.modifiers.get("offset", 0)',
        'base, offset = read_dword(instruction.src[0], 0, instruction), instruction.modifiers.get("offset", 1)',
        "the decoder gives every instruction of this encoding its offset, also 0.",
    ),
    Equivalent(
        "machine/ops/vector_halves.py",
        'write = [vector_writer(o, "u16", instruction, high=h) for o, h in zip((first, second), upper, strict=True)]',
        'write = [vector_writer(o, "u16", instruction, high=h) for o, h in zip((first, second), upper, strict=False)]',
        "both have two entries.",
    ),
    Equivalent(
        "machine/ops/lds_count.py",
        'offset, target = instruction.modifiers.get("offset", 0), instruction.dst[0]',
        'offset, target = instruction.modifiers.get("offset", -1), instruction.dst[0]',
        "the decoder gives every instruction of this encoding its offset, also 0.",
    ),
    Equivalent(
        "matrix/arithmetic/complete.py",
        "value = np.where(c & np.uint32(0x7F800000) == np.uint32(0x7F800000), np.uint32(0), c).view(np.float32)",
        "value = np.where(c >> np.uint32(0x7F800000) == np.uint32(0x7F800000), np.uint32(0), c).view(np.float32)",
        "it keeps NaN and Inf out of arithmetic whose result is overruled where the addend is one of them.",
    ),
    Equivalent(
        "matrix/arithmetic/aligned_steps.py",
        "addend, e = c.reshape(-1)[indices], total.e.reshape(-1)[indices]",
        "addend, e = c.reshape(- 2)[indices], total.e.reshape(-1)[indices]",
        "NumPy takes any negative size for the one that is left.",
    ),
    Equivalent(
        "matrix/arithmetic/dispatch.py",
        "flat = out.reshape(-1, m, n)",
        "flat = out.reshape(- 2, m, n)",
        "NumPy takes any negative size for the one that is left.",
    ),
    Equivalent(
        "matrix/modifiers.py",
        'if (modes.neg | modes.neg_hi) & 4 and words & {"neg", "neg_32", "neg_64", "neg_c"}:',
        'if (modes.neg | modes.neg_hi) // 4 and words & {"neg", "neg_32", "neg_64", "neg_c"}:',
        "both fields are 0 to 7, which `check` has made sure of: bit 2 is set exactly from 4 on.",
    ),
    Equivalent(
        "observe/numerics.py",
        "for words, operand in zip(event.sources, event.instruction.src, strict=True):",
        "for words, operand in zip(event.sources, event.instruction.src, strict=False):",
        "an event has the values of every source.",
    ),
    Equivalent(
        "observe/ordering/check.py",
        "if self.lds is not None and other.lds is not None:",
        "if self.lds is not None or other.lds is not None:",
        "both are parts of one launch, whose kernel has LDS or has none.",
    ),
    Equivalent(
        "observe/ordering/history.py",
        "while place < len(pending) and pending[place].event.instruction.pc == ins.pc:",
        "while place != len(pending) and pending[place].event.instruction.pc == ins.pc:",
        "the place begins at 0 and grows by one: it is never beyond the length.",
    ),
    Equivalent(
        "observe/ordering/touched.py",
        "return bool((grid == grid[0]).all())",
        "return bool((grid == grid[ -1]).all())",
        "rows that all equal the last one all equal the first one.",
    ),
    Equivalent(
        "observe/ordering/sharing.py",
        "MANY = -1",
        "MANY = ~1",
        "it marks more than one wave, and -2 is no wave's number either.",
    ),
    Equivalent(
        "observe/paths.py",
        "@abstractmethod def after(self, state: State, event: BlockEvent, index: int) -> State:",
        "",
        "a declaration for the type checker: no instance of the class itself is made.",
    ),
)


def reason(path, before, after):
    """Why a change has no effect, or None."""
    for row in EQUIVALENTS:
        if (f"mfmasim/{row.path}", row.before, row.after) == (path, before, after):
            return row.reason
    return None
