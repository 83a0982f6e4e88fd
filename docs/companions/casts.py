"""The change of TransformerEngine about FP8 casts."""

from docs.companions import speed
from docs.companions.page import Companion, Part

PAGE = Companion(
    "003",
    """The change brings FP8 casts, with and without transposition, for MI300 and MI350, and lists what was kept and
    what was tried and rejected. `hipkernels/cast` has kernels for all of it, written from the description; nothing of
    the change is printed as code. Bytes, conflicts, registers and launches are checked, and every output bit for
    bit:""",
    (("verify text:003 --arch gfx950 --case 'transpose[given=bf16,load=8,store=8]'", "^PASS"),),
    ("Stores of a wave, and the LDS tile that turns them", "cast.svg"),
    {
        "Known Limitations": Part(
            "How a matrix is divided into launches is a plan in Python, held to the text's rule and to the published "
            "code."
        )
    },
    "[cast.md](../cast.md)",
    """Two times of the text are of one kernel. Both lie within the range of the timeline, whose middle does not tell
    the grid that was rejected from the other one: memory bounds both. The peak rates and gains of the tables have no
    times.""",
    speed.casts,
)
