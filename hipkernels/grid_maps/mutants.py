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
    Mutant("shares_of_equal_length", "asked[name=shares]", (" + min(xcd, count % xcds)", ""), ("outputs",)),
    Mutant("band_from_its_first_column", "experts", ("place = id - top * cols", "place = id - top"), ("outputs",)),
    Mutant("bands_of_the_first_height", "experts", ("high = first[band + 1] - top", "high = first[1]"), ("outputs",)),
    Mutant("first_number_of_the_rest_only", XCD, ("return id >= limit ?", "return id == limit ?"), ("outputs",)),
]
