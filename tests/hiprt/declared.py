"""What one version of hip-python declares, as JSON: ``python -m tests.hiprt.declared 7`` (or 10)."""

import json
import re
import sys

from tests.hiprt.make_api import Interface

SAME = {
    "size_t": "unsigned long", "uint64_t": "unsigned long", "unsigned long long": "unsigned long",
    "uint32_t": "unsigned int", "unsigned": "unsigned int", "uint8_t": "unsigned char", "int64_t": "long",
    "uint16_t": "unsigned short", "long long": "long", "int32_t": "int", "bint": "bool",
}  # fmt: skip
"""Spellings of one type on this system."""
NUMBER = re.compile(
    r"(?:unsigned |signed )?(?:char|short|int|long long|long|float|double|bool)\b|(?:size_t|u?int\d+_t)\b"
)


def canonical(kind):
    """One spelling of a type, without const and without the name that may follow it."""
    kind = re.sub(r"\bconst\b ?", "", kind).strip()
    stars = kind.count("*")
    base = kind.replace("*", "").strip()
    number = NUMBER.match(base)
    base = number[0] if number else base.split()[0]
    return SAME.get(base, base) + "*" * stars


def field(line):
    """Type, name and size of a member, whichever way its size is written."""
    text = line.rstrip(";").partition(" : ")[0]
    size = "".join(re.findall(r"\[\d+\]", text))
    *kind, name = re.sub(r"\[\d+\]", "", text).replace("*", "* ").split()
    return [canonical(" ".join(kind).replace("* ", "*")), name, size]


def declared(newest):
    """Numbers by name; members of structures; return type and parameters of functions; names of enumerations."""
    hip, rtc = Interface("hip", newest), Interface("hiprtc", newest)
    numbers = {}
    for text in hip.numbers + rtc.numbers:
        for name, value in re.findall(r"^  (\w+) = (-?\d+),$", text, re.MULTILINE):
            numbers[name] = int(value)
        for name, value in re.findall(r"^#define (\w+) (-?0x[0-9a-f]+)$", text, re.MULTILINE):
            numbers[name] = int(value, 16)
    structures, aliases = {}, {}
    for text in hip.types + rtc.types:
        if found := re.match(r"typedef (?:struct|union) (\w+) \1;\n", text):
            body = text[text.index("{") + 1 : text.rindex("}")]
            members = [line.strip() for line in body.splitlines() if line.strip()]
            structures[found[1]] = [field(one) if one.endswith(";") and one[0] != "}" else one for one in members]
        elif found := re.fullmatch(r"typedef (.+?)(\w+);", text):
            aliases[found[2]] = canonical(found[1])
    calls = {}
    for text in hip.calls + rtc.calls:
        returned, name, given = re.fullmatch(r"(.+?)(\w+)\((.*)\);", text).groups()
        plain = re.sub(r" MFMASIM_DEFAULT\([^)]*\)", "", given)
        calls[name] = [canonical(returned), [] if plain == "void" else list(map(canonical, plain.split(", ")))]
    enums = [found[1] for text in hip.numbers + rtc.numbers if (found := re.match(r"typedef enum (\w+)", text))]
    return {"numbers": numbers, "structures": structures, "aliases": aliases, "calls": calls, "enums": enums}


if __name__ == "__main__":
    json.dump(declared(int(sys.argv[1])), sys.stdout)
