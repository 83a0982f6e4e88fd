"""The puzzles: what the page takes for right is what the library computes, and mistakes are explained."""

import tomllib
from importlib.resources import files

import numpy as np
import pytest

from mfmasim.explorer import view_state
from mfmasim.formats import format as number_format
from mfmasim.lds import conflicts
from mfmasim.learn import exercises
from mfmasim.machine.ops.lds_transposed import transposed
from mfmasim.matrix import instruction
from tests.explorer.test_explorer_page import state_of

PUZZLES = tomllib.loads(files("mfmasim.explorer").joinpath("puzzles.toml").read_text())["puzzle"]
MAPPINGS = [puzzle for puzzle in PUZZLES if puzzle["ask"] != "banks"]
BANKS = [puzzle for puzzle in PUZZLES if puzzle["ask"] == "banks"]


def names(puzzles):
    return [puzzle["id"] for puzzle in puzzles]


def fragment_of(puzzle):
    op = instruction(puzzle["arch"], puzzle["op"], **{side: puzzle[side] for side in "ab" if side in puzzle})
    return op.operands[puzzle["operand"]]


def of_operand(puzzle):
    """Names and accepted values of each slot of a puzzle about an operand, from its table."""
    fragment = fragment_of(puzzle)
    first, second = fragment.axes
    found = {}
    several = any(vgpr or bit for *_, vgpr, bit, _ in fragment.table().tolist())
    for row, col, _, lane, vgpr, bit, width in fragment.table().tolist():
        n = (32 * vgpr + bit) // width
        known = {first: row, second: col, "lane": lane, "vgpr": vgpr, "bit": bit, "n": n}
        known["index"] = row * puzzle.get("pitch", 0) + col
        registers = {"lane": lane, "n": n} if several else {"lane": lane}
        slot = registers if puzzle["ask"] in ("element", "index") else {first: row, second: col}
        found.setdefault(tuple(slot.items()), []).append([known[field] for field in puzzle["fields"]])
    return found


def expected(puzzle):
    """The same of every kind of puzzle."""
    if puzzle["ask"] == "code":
        row = number_format(puzzle["format"])
        return {(("e", e),): [[int(row.encode(np.float64(2.0**e)))]] for e in range(puzzle["from"], puzzle["to"] + 1)}
    if puzzle["ask"] == "direct":
        order = {}
        for row in range(puzzle["rows"]):
            for column in range(puzzle["chunks"]):
                place = puzzle["chunks"] * row + (column ^ eval(puzzle["swizzle"], {"row": row}))
                order[(("p", place),)] = [[puzzle["chunks"] * row + column]]
        return order
    if puzzle["ask"] == "transposed":
        return of_transposed(puzzle["count"])
    return of_operand(puzzle)


def of_transposed(count):
    """Lane and element that each element comes from, by what the machine's instruction does to numbers."""
    bits = 64 // count
    halves = []
    for number in (lambda lane, n: lane, lambda lane, n: n):
        held = np.array([[number(lane, n) for n in range(count)] for lane in range(64)], f"<u{bits // 8}")
        words = held.view("<u4").T[:, None, :]
        got = np.stack(transposed(list(np.ascontiguousarray(words)), bits, count), axis=-1)
        halves.append(np.ascontiguousarray(got.reshape(64, -1)).view(f"<u{bits // 8}"))
    return {
        (("lane", lane), ("n", n)): [[int(halves[0][lane, n]), int(halves[1][lane, n])]]
        for lane in range(64)
        for n in range(count)
    }


def test_there_are_enough_and_each_leads_to_an_exercise():
    assert len(PUZZLES) >= 24
    assert len(set(names(PUZZLES))) == len(PUZZLES)
    assert {puzzle["exercise"] for puzzle in PUZZLES} <= {exercise.name for exercise in exercises()}
    archs = {puzzle["arch"] for puzzle in PUZZLES if "arch" in puzzle}
    assert archs >= {"gfx942", "gfx950", "gfx1100", "gfx1200", "gfx1250"}


@pytest.mark.parametrize("puzzle", MAPPINGS, ids=names(MAPPINGS))
def test_the_solution_is_what_the_library_says(puzzle):
    found = expected(puzzle)
    given = {slot: [eval(formula, dict(slot)) for formula in puzzle["solution"]] for slot in found}
    assert len(found) >= 15
    assert {slot: values for slot, values in given.items() if values not in found[slot]} == {}


@pytest.mark.parametrize("puzzle", BANKS, ids=names(BANKS))
def test_a_solution_has_no_extra_pass(puzzle):
    def extra(formula):
        lane, total = np.arange(64), 0
        for step in range(puzzle.get("steps", 1)):
            known = {"lane": lane, "step": step}
            known |= {name: eval(puzzle.get(name, "0"), dict(known)) for name in ("row", "column")}
            known[puzzle["fields"][0]] = eval(formula, dict(known))
            total += int(conflicts(puzzle["arch"], puzzle["ds"], eval(puzzle["address"], known)).extra_passes)
        return total

    assert extra(puzzle["solution"][0]) == 0
    assert extra("0") > 0


@pytest.mark.oracle
class TestPage:
    def check(self, page, puzzle, answer):
        return page.evaluate("([id, answer]) => window.mfmasim.check(id, answer)", [puzzle["id"], answer])

    def test_slots_equal_the_library(self, plain):
        assert plain.evaluate("window.mfmasim.puzzles.map((one) => one.id)") == names(PUZZLES)
        compared = 0
        for puzzle in MAPPINGS:
            slots = plain.evaluate("(id) => window.mfmasim.slots(id).slots", puzzle["id"])
            found = {tuple(slot["names"].items()): slot["want"] for slot in slots if slot}
            assert found == expected(puzzle), puzzle["id"]
            compared += len(found)
        assert compared > 10_000

    @pytest.mark.parametrize("puzzle", PUZZLES, ids=names(PUZZLES))
    def test_right_and_wrong(self, plain, puzzle):
        right = dict(zip(puzzle["fields"], puzzle["solution"], strict=True))
        found = self.check(plain, puzzle, right)
        assert (found["solved"], found["right"], found["message"]) == (True, found["of"], "")
        for field in puzzle["fields"]:
            for wrong in ("0", f"({right[field]}) ^ 1", f"({right[field]}) + 1"):
                if puzzle["ask"] == "banks" and (wrong != "0"):
                    continue  # other paddings and swizzles can be right, or not allowed
                answer = self.check(plain, puzzle, right | {field: wrong})
                assert not answer["solved"], wrong
                assert answer["right"] < answer["of"], wrong
                assert answer["message"], wrong

    @pytest.mark.parametrize(
        ("puzzle", "answer", "pattern"),
        [
            ("row_of_d_16", {"i": "lane % 16", "j": "lane // 16 * 4 + n"}, "i and j are exchanged."),
            ("k_of_16x16x16", "0", "The formula gives the same for every slot"),
            ("k_of_16x16x16", "lane // 16 * 4 + (n ^ 1)", "Neighbouring elements are exchanged"),
            ("row_of_d", "n // 4 * 8 + (1 - lane // 32) * 4 + n % 4", "The halves of the wave are exchanged"),
            ("place_of_d", {"lane": "j + 32 * (i // 4 % 2)", "n": "(i % 4 + 4 * (i // 8)) ^ 1"}, "Neighbouring"),
            ("code_ocp", "(e + 8) << 3", "code is 8 too large everywhere."),
            ("load_a", "2 * (2 * (lane % 32) + lane // 32)", "index is too large by a factor of 2"),
            ("row_of_a", "lane", "i takes the value 32, outside of 0 to 31"),
            ("rdna4_d", "2 * n + lane // 16", "This is the layout of D of v_wmma_"),
            (
                "row_of_d_16",
                {"i": "lane // 16 * 4 + n", "j": "lane % 8"},
                "i is right. j is wrong exactly where lane is",
            ),
        ],
    )
    def test_a_pattern_is_named(self, plain, puzzle, answer, pattern):
        said = self.check(plain, {"id": puzzle}, answer)["pattern"]
        assert said.startswith(pattern)

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            ("lane / 16 * 4 + n", None),
            ("lane $ 2", "'lane $ 2' is not an expression"),
            ("alert(1)", "'alert(1)' is not an expression"),
            ("constructor", "unknown name 'constructor'; nearest: "),
            ("line % 4", "unknown name 'line'; nearest: lane, n"),
            ("lane // n", "'lane // n' divides by 0"),
            ("", "a formula for k is missing"),
        ],
    )
    def test_formulas_are_parsed(self, plain, answer, message):
        found = plain.evaluate(
            """(answer) => {
                try { return mfmasim.check("k_of_16x16x16", answer).solved; } catch (error) { return error.message; }
            }""",
            answer,
        )
        assert found is True if message is None else found.startswith(message)

    def test_a_range_is_said(self, plain):
        script = (
            "(answer) => { try { window.mfmasim.check('xor_b128', answer) } catch (error) { return error.message } }"
        )
        assert plain.evaluate(script, "row") == "f of row 8 is 8; allowed are 0 to 7"

    def test_typing_colours_at_once(self, show):
        page = show(state=view_state("puzzles", id="row_of_d_16"))
        assert "Type formulas for i and j." in page.inner_text(".result")
        page.type("input[name=answer-i]", "lane // 16 + 4 * n")
        page.type("input[name=answer-j]", "lane % 16")
        assert "lane 16, n 0: your formula gives i = 1, j = 0; right is i = 4, j = 0." in page.inner_text(".result")
        page.locator(".puzzle canvas").click(position={"x": 26 + 8, "y": 16 + 8})
        assert page.inner_text(".detail").startswith("lane 0, n 0: right; your formula gives i = 0, j = 0")
        page.fill("input[name=answer-i]", "lane // 16 * 4 + n")
        assert page.inner_text(".result") == "Solved: 256 of 256 slots are right."
        assert "1 of 32 solved" in page.get_attribute(".steps", "aria-label")
        assert page.locator(".steps h2").all_inner_texts() == list(dict.fromkeys(one["topic"] for one in PUZZLES))
        entries = page.locator(".steps a").all_inner_texts()
        solved = [" ".join(one.split()) for one in entries if "✓" in one]
        assert solved == ["7. The rows of a 16x16 D ✓ ••"]
        assert [one.count("•") for one in entries] == [one["level"] for one in PUZZLES]
        page.reload()
        page.wait_for_selector("html[data-ready]")
        assert page.input_value("input[name=answer-j]") == "lane % 16"
        page.click("a.next")
        assert state_of(page) == "#puzzles?id=pack_f16"

    def test_banks_are_counted(self, show):
        page = show(state=view_state("puzzles", id="xor_b128"))
        page.fill("input[name=answer-f]", "row % 8")
        said = page.inner_text(".result")
        lane = np.arange(64)
        extra = sum(
            int(
                conflicts(
                    "gfx950", "ds_read_b128", lane % 32 * 128 + ((2 * step + lane // 32) ^ lane % 8) * 16
                ).extra_passes
            )
            for step in range(4)
        )
        assert said.startswith(f"{extra} extra passes. Why: ")
        page.fill("input[name=answer-f]", "row // 2 % 8")
        assert page.inner_text(".result") == "Solved: no extra pass."

    def test_hints_and_solution(self, show):
        page = show(
            state=view_state("puzzles", id="k_of_16x16x16"), viewport={"width": 390, "height": 800}, has_touch=True
        )
        page.fill("input[name=answer-k]", "lane // 16 * 4 + (n ^ 1)")
        for _ in range(5):
            page.tap("button[name=hint]")
        said = page.inner_text(".hints").split("\n\n")
        assert said[0].startswith("Your answer: Neighbouring elements are exchanged")
        assert "The lane is made of 2 digits: i%16 (16 values), then k/4%4 (4 values)" in said[2]
        assert said[-1] == "There is no further hint."
        page.tap("button[name=solution]")
        assert "k = lane // 16 * 4 + n" in page.inner_text(".hints")

    def test_a_teacher_makes_a_puzzle(self, show):
        page = show(state="#puzzles")
        page.click(".teacher summary")
        page.select_option("select[name=teach-arch]", "gfx1200")
        page.select_option("select[name=teach-op]", "v_wmma_f32_16x16x16_bf16")
        page.select_option("select[name=teach-operand]", "B")
        page.select_option("select[name=teach-ask]", "place")
        page.select_option("select[name=teach-fields]", "lane")
        page.fill("input[name=teach-title]", "Columns of B")
        page.press("input[name=teach-title]", "Enter")
        link = page.url
        other = show(state=link[link.index("#") :])
        assert other.inner_text(".puzzle h2") == "Columns of B"
        other.fill("input[name=answer-lane]", "j + 16 * (k // 4 % 2)")
        assert other.inner_text(".result") == "Solved: 256 of 256 slots are right."

    def test_a_teacher_asks_about_banks(self, show):
        page = show(state="#puzzles")
        page.click(".teacher summary")
        page.select_option("select[name=teach-ask]", "banks")
        for name, text in {"field": "gap", "address": "lane % 32 * (256 + gap)", "most": "64", "unit": "8"}.items():
            page.fill(f"input[name=teach-{name}]", text)
            page.press(f"input[name=teach-{name}]", "Enter")
        page.select_option("select[name=teach-ds]", "ds_read_b64")
        link = page.url
        right = [
            gap
            for gap in range(0, 65, 8)
            if not conflicts("gfx950", "ds_read_b64", np.arange(64) % 32 * (256 + gap)).extra_passes
        ]
        assert page.inner_text(".solvable") == f"{len(right)} of 9 values are right."
        other = show(state=link[link.index("#") :])
        assert not other.locator(".teacher").get_attribute("open")
        assert "the lanes of ds_read_b64 access the bytes lane % 32 * (256 + gap)." in other.inner_text(".puzzle")
        for gap in range(0, 65, 8):
            other.fill("input[name=answer-gap]", str(gap))
            assert (other.inner_text(".result") == "Solved: no extra pass.") == (gap in right), gap
        assert 0 < len(right) < 9

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"most": "x"}, "at most: x is not a whole number from 1 to 4096"),
            ({"field": "lane"}, "'lane' cannot name what is asked"),
            ({"names": "wave"}, "depends on 'wave': it is row, or nothing"),
            ({"ds": "ds_red_b32"}, "unknown LDS instruction of gfx950 'ds_red_b32'; nearest: ds_read_b32"),
        ],
    )
    def test_a_wrong_question_about_banks_says_so(self, show, values, message):
        page = show(state=view_state("puzzles", ask="banks", **values))
        assert page.inner_text(".problem").startswith(message)

    @pytest.mark.parametrize("puzzle", PUZZLES, ids=names(PUZZLES))
    def test_bits_stand_for_the_formula(self, plain, puzzle):
        plain.goto(plain.url.partition("#")[0] + view_state("puzzles", id=puzzle["id"]))
        for field, formula in zip(puzzle["fields"], puzzle["solution"], strict=True):
            plain.fill(f"input[name=answer-{field}]", formula)
        if puzzle["ask"] == "code":  # of negative exponents
            assert plain.locator(".box").count() == 0
            return
        assert plain.inner_text(".result").startswith("Solved")
        solved = []
        for field in puzzle["fields"]:  # a bit to and fro: the formula is written anew
            for _ in range(2):
                plain.click(".tray .tile >> nth=0")
                plain.click(f".box[data-field={field}] >> nth=0")
                plain.click(".tray .tile >> nth=0")
                solved.append(plain.inner_text(".result").startswith("Solved"))
        assert solved == [False, True] * len(puzzle["fields"])

    def test_bits_are_dragged(self, show):
        page = show(state=view_state("puzzles", id="k_of_16x16x16"))

        def drag(source, target):
            for selector, button in ((source, page.mouse.down), (target, page.mouse.up)):
                box = page.locator(selector).bounding_box() if selector else {"x": 0, "y": 0, "width": 4, "height": 4}
                page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
                button()
            return page.input_value("input[name=answer-k]")

        def tile(name):
            return f".tray .tile:text-is('{name}')"

        box = [f".box[data-field=k][data-bit='{bit}']" for bit in range(4)]
        steps = [drag(tile(name), box[bit]) for bit, name in enumerate(["n[0]", "n[1]", "lane[4]", "lane[5]"])]
        assert steps == ["n & 1", "n", "((lane >> 4 & 1) << 2) ^ n", "((lane >> 4) << 2) ^ n"]
        assert page.inner_text(".result") == "Solved: 256 of 256 slots are right."
        assert drag(box[3], box[2]) == "((lane >> 4 & 1) << 2) ^ ((lane >> 5) << 2) ^ n"
        assert page.get_attribute(box[2], "aria-label") == "bit 2 of k: lane[5] ^ lane[4]"
        assert drag(box[0], None) == "((lane >> 5) << 2) ^ ((lane >> 4 & 1) << 2) ^ ((n >> 1) << 1)"
        page.fill("input[name=answer-k]", "n * 3")
        assert page.get_attribute(box[0], "aria-label") == "bit 0 of k: not a combination of bits"

    def test_bits_are_placed_by_keys_and_touch(self, show):
        page = show(
            state=view_state("puzzles", id="k_of_a"),
            viewport={"width": 390, "height": 800},
            has_touch=True,
            is_mobile=True,
        )
        page.focus(".tray .tile:text-is('lane[5]')")
        page.keyboard.press("Enter")
        page.focus(".box")
        page.keyboard.press("Enter")
        assert page.inner_text(".result") == "Solved: 64 of 64 slots are right."
        page.tap(".tray .tile[aria-pressed=true]")
        page.tap(".box")
        assert page.input_value("input[name=answer-k]") == "0"
        boxes = [page.locator(selector).bounding_box() for selector in (".tray .tile:text-is('lane[5]')", ".box")]
        (x, y), (to_x, to_y) = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
        session = page.context.new_cdp_session(page)
        points = [[x + (to_x - x) * part / 4, y + (to_y - y) * part / 4] for part in range(5)]
        for kind, at in [("touchStart", points[0]), *(("touchMove", at) for at in points[1:]), ("touchEnd", None)]:
            touched = [{"x": at[0], "y": at[1]}] if at else []
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched})
        assert page.input_value("input[name=answer-k]") == "lane >> 5"

    def test_a_wrong_link_says_so(self, show):
        page = show(state=view_state("puzzles", id="row_of_b"))
        assert page.inner_text(".problem").startswith("unknown puzzle 'row_of_b'; nearest: row_of_")
