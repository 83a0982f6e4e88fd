"""Wrong grid maps, and a comparison that is published both ways and makes no difference."""

from mfmasim.verify import Mutant

XCD = "asked[name=xcd]"

MUTANTS = [
    Mutant(
        "limit_itself_remapped",
        XCD,
        ("return id >= limit ?", "return id > limit ?"),
        (),
        equivalent="the limit is a multiple of a block of xcds * chunk numbers, whose first number stays where it is",
    ),
    Mutant("rest_remapped", XCD, ("return id >= limit ?", "return false ?"), ("outputs",)),
    Mutant("first_number_of_the_rest_only", XCD, ("return id >= limit ?", "return id == limit ?"), ("outputs",)),
]
