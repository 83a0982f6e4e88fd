"""Make docs/schemas.md from the JSON Schemas in the package: ``python -m docs.make_schemas``."""

from docs import DOCS
from mfmasim.schemas import names, schema

PAGE = DOCS / "schemas.md"
HEAD = """\
# JSON schemas

Which fields has the JSON that a verb writes, and when may they change?

Every record has `schema_version`. Fields may be added to a schema only with a new version; what a version says stays
so. The schemas (draft 2020-12) are in the wheel: `mfmasim.schemas.schema("verify")` gives one as a dictionary. They
forbid fields that they do not name, so that a wrong reader or writer shows; tests hold real output against each.
`docs/make_schemas.py` makes this page from them.
"""


def kind(found, definitions):
    """A schema's type in a cell."""
    if "$ref" in found:
        name = found["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if "const" in found:
        return f"`{found['const']!r}`".replace("'", '"')
    if "enum" in found:
        return ", ".join(f"`{value}`" if value else "empty" for value in found["enum"])
    types = found.get("type", "any")
    if types == "array":
        return f"list of {kind(found.get('items', {}), definitions)}"
    return " or ".join(types) if isinstance(types, list) else types


def table(found, definitions):
    """The fields of an object, as a table."""
    yield "| field | | holds | type |\n|---|---|---|---|"
    for name, part in found["properties"].items():
        text = part.get(
            "description", definitions.get(part.get("$ref", "").rpartition("/")[2], {}).get("description", "")
        )
        always = "" if name in found.get("required", ()) else "may be absent"
        yield f"| `{name}` | {always} | {text} | {kind(part, definitions)} |"


def page():
    """The page."""
    parts = [HEAD]
    for name in names():
        found = schema(name)
        definitions = found.get("$defs", {})
        version = found["$id"].rpartition(":")[2]
        file = f"[{name}.json](../mfmasim/schemas/{name}.json)"
        parts.append(f"## {found['title']}\n\nVersion {version}, {file}. {found['description']}\n")
        for title, part in (("", found), *definitions.items()):
            if "properties" in part:
                rows = "\n".join(table(part, definitions))
                parts.append(f"### {title}\n\n{rows}\n" if title else f"{rows}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
