"""The page as a reader uses it: pointer, keyboard, address bar, themes, widths."""

import base64
import gzip
import json
import random
import re
from importlib.resources import files
from urllib.parse import quote, urlencode

import numpy as np
import pytest

from mfmasim.explorer import explorer_page, view_state
from mfmasim.explorer.page import VIEWS
from mfmasim.explorer.rebuild import EXAMPLES, record_all
from mfmasim.explorer.recording import record_case
from mfmasim.explorer.rows import shipped_runs
from mfmasim.lds import conflicts, layout_offsets
from mfmasim.lds.patterns import Pattern
from mfmasim.matrix import instruction
from mfmasim.verify.files import find

SCALED = "v_mfma_scale_f32_32x32x64_f8f6f4"


def state_of(page):
    return page.evaluate("decodeURIComponent(location.hash)")


def test_one_file_of_limited_size():
    text = explorer_page()
    assert len(text.encode()) <= 400_000
    assert not re.search(r"""(src|href)=["']?(https?:)?//|@import|url\(|\bimport\b[^;\n]*from""", text)


def test_names_of_the_modules_are_unique():
    script = explorer_page().partition('<script type="module">')[2]
    names = re.findall(r"^(?:async )?(?:const|let|function\*?|class) (\w+)", script, re.MULTILINE)
    assert len(names) > 100
    assert sorted(names) == sorted(set(names))


@pytest.mark.oracle
class TestFragments:
    STATE = view_state("fragment", arch="gfx950", op=SCALED)

    def test_a_selected_element_and_its_factors(self, show):
        page = show(state=self.STATE + "&sel=D:5,30,0")
        said = page.inner_text(".info")
        assert "D[5, 30]: lane 62, v1" in said
        assert "lane 5: A[5; 0–15, 32–47] in v0–7" in said
        assert "lane 37: A[5; 16–31, 48–63] in v0–7" in said
        assert "lane 62: scale_B[30; 1] in v0 bits 7:0" in said

    def test_pointing_and_clicking(self, show):
        page = show(state=self.STATE)
        grid = page.locator(".at-D canvas")
        box = grid.bounding_box()
        cell = (box["width"] - 27) / 32
        at = {"x": 26 + 9.5 * cell, "y": 16 + 2.5 * cell}
        grid.hover(position=at)
        assert page.inner_text(".info h2").startswith("D[2, 9]: lane 9, v2")
        assert "sel" not in state_of(page)
        grid.click(position=at)
        assert "sel=D:2,9,0" in state_of(page)
        page.mouse.move(5, 5)
        assert page.inner_text(".info h2").startswith("D[2, 9]")  # a click keeps it
        page.keyboard.press("Escape")
        assert "sel" not in state_of(page)

    def test_keyboard(self, show):
        page = show(state=self.STATE)
        page.locator(".at-A canvas").focus()
        for key in ("ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
            page.keyboard.press(key)
        assert "sel=A:1,2,0" in state_of(page)
        assert page.inner_text(".info h2").startswith("A[1, 2]: lane 1, v0, bits 23:16")

    def test_a_lane_by_its_number(self, show):
        page = show(state=self.STATE)
        page.fill("input[name=lane]", "40")
        page.keyboard.press("Enter")
        assert "sel=lane:40" in state_of(page)
        assert "lane 40: D[4–7, 12–15, 20–23, 28–31; 8] in v0–15" in page.inner_text(".info")

    def test_the_head_of_a_register_column_is_a_lane(self, show):
        page = show(state=self.STATE)
        page.locator(".registers canvas").first.click(position={"x": 30, "y": 6})
        assert "sel=lane:0" in state_of(page)

    def test_formats_change_the_registers(self, show):
        page = show(state=self.STATE)
        page.select_option("select[name=a]", "e2m1fn")
        assert "registers of A: 4 VGPRs" in page.inner_text(".registers")
        assert "a=e2m1fn" in state_of(page)

    def test_modifiers_and_blocks(self, show):
        page = show(state=view_state("fragment", arch="gfx942", op="v_mfma_f32_4x4x4_16b_f16", sel="D:1,2,9"))
        assert page.input_value("select[name=block]") == "9"  # that of the selection
        page.click("details.more summary")
        page.select_option("select[name=cbsz]", "2")
        page.select_option("select[name=abid]", "3")
        page.evaluate("location.hash += '&sel=A:1,0,9'")
        page.wait_for_function("document.querySelector('.info h2')?.textContent.startsWith('A[1, 0] of block 9')")
        place = page.evaluate(
            "window.mfmasim.locate('gfx942', 'v_mfma_f32_4x4x4_16b_f16', 'A', 1, 0, {block: 9, cbsz: 2, abid: 3})"
        )
        assert page.inner_text(".info h2").startswith(f"A[1, 0] of block 9: lane {place[0]['lane']},")
        assert place[0]["lane"] == 1 + 4 * 11  # block 11 is broadcast to blocks 8 to 11

    def test_copies_of_rdna3(self, show):
        page = show(state=view_state("fragment", arch="gfx1151", op="v_wmma_f32_16x16x16_f16", sel="A:3,5,0"))
        assert "lane 3, v2, bits 31:16; copy in lane 19, v2, bits 31:16" in page.inner_text(".info h2")

    def test_sparse(self, show):
        page = show(state=view_state("fragment", arch="gfx942", op="v_smfmac_f32_16x16x32_f16", sel="A:2,5,0"))
        said = page.inner_text(".info")
        assert "B[8–11; 0]" in said  # the four k of the pair that kept element 5 belongs to
        assert "index[2; 5]" in said

    def test_fields_answer_or_say_why_not(self, show):
        page = show(state=view_state("fragment", arch="gfx950", op="v_mfma_scale_f32_16x16x128_f8f6f4", a="e2m1fn"))

        def said(**fields):
            for name, text in fields.items():
                page.fill(f"input[name={name}]", text)
            page.press(f"input[name={name}]", "Enter")
            return page.inner_text(".info")

        assert said(element="d[5,6]").startswith("D[5, 6]: lane 22, v1\n")
        assert said(element="A[3, 40]").startswith("A[3, 40]: lane 19, v1, bits 3:0\n")
        byte = said(lane="37", byte="0")
        table = instruction("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4", a="e2m1fn").A.table()
        low, high = (table[(table["lane"] == 37) & (table["vgpr"] == 0) & (table["bit"] == bit)][0] for bit in (0, 4))
        assert (
            f"A: A[{low['row']}, {low['col']}] in v0, bits 3:0; A[{high['row']}, {high['col']}] in v0, bits 7:4" in byte
        )
        assert "sel=lane:37,0" in state_of(page)
        assert "scale_A: nothing that the instruction reads" in said(byte="1")
        assert said(byte="400") == "byte 400 is not within 0..31"
        assert said(lane="99", byte="0") == "lane 99 is not within 0..63"
        assert said(element="D5") == "'D5' is not an element such as D[5, 6] or A[3, 12]"
        assert said(element="E[1, 2]").startswith("no operand 'E'; it has A, B, C, D")

    def test_an_element_of_a_tile_of_instructions(self, show):
        page = show(state=view_state("fragment", arch="gfx950", op=SCALED, sel="D:5,40,0"))
        said = page.inner_text(".info")
        assert "D[5, 40] is not in one instruction: D is 32×32." in said
        assert "it is D[5, 8] of the instruction number 1 along columns (columns 32–63)" in said
        assert "D[5, 8]: lane 40, v1" in said
        assert "sel=D:5,40,0" in state_of(page)
        assert page.input_value("input[name=element]") == "D[5, 40]"

    @pytest.mark.parametrize(
        ("sel", "message"),
        [
            ("D:5,4000,0", "The address selects 'D:5,4000,0': column of D 4000 is not within 0..31."),
            ("Q:1,2,0", "The address selects 'Q:1,2,0': no operand 'Q'"),
            ("lane:64", "The address selects 'lane:64': lane 64 is not within 0..63."),
        ],
    )
    def test_a_link_to_what_does_not_exist_says_so(self, show, sel, message):
        page = show(state=view_state("fragment", arch="gfx950", op=SCALED, sel=sel))
        assert page.inner_text(".info .problem").startswith(message)
        assert f"sel={sel}" in state_of(page)

    def test_a_lane_is_in_its_field_after_a_reload(self, show):
        page = show(state=self.STATE + "&sel=lane:37,2")
        assert (page.input_value("input[name=lane]"), page.input_value("input[name=byte]")) == ("37", "2")

    def test_bits_that_are_not_read_are_not_marked(self, show):
        """Of a scale's register the instruction reads 8 bits: the marks of lane 0 fill one cell of four."""
        page = show(state=self.STATE + "&sel=lane:0")
        marked = page.evaluate(
            """() => [...document.querySelectorAll(".registers figure")].map((figure) => {
                const canvas = figure.querySelector("canvas");
                const ratio = canvas.width / canvas.getBoundingClientRect().width;
                const height = canvas.height / ratio - 17;
                const column = canvas.getContext("2d").getImageData(29 * ratio, 16 * ratio, 1, height * ratio).data;
                let red = 0;
                for (let n = 0; n < column.length; n += 4) {
                    red += column[n] > 100 && column[n + 1] < 40 && column[n + 2] < 60;
                }
                return [figure.textContent, (4 * red) / column.length];
            })"""
        )
        found = {text.split()[2].rstrip(":"): share for text, share in marked}
        assert found["A"] > 0.1
        assert 0 < found["scale_A"] < found["A"]

    def test_comparison(self, show):
        page = show(state=view_state("fragment", arch="gfx942", op="v_mfma_f32_32x32x8_f16"))
        page.click("details.more summary")
        page.select_option("select[name=with]", "gfx950 v_mfma_f32_32x32x16_f16")
        said = page.inner_text(".differences")
        assert "A: 128 of 256 common elements at the same place" in said
        assert "D: 1024 of 1024 common elements at the same place" in said

    def test_numbering(self, show):
        page = show(state=view_state("fragment", arch="gfx950", op="v_mfma_f32_16x16x16_f16"))
        assert page.locator("select[name=numbering]").count() == 1
        scaled = show(state=self.STATE)
        assert scaled.locator("select[name=numbering]").count() == 0  # block scales bind the numbers of k

    def test_a_wrong_address_is_one_line(self, show):
        page = show(state=view_state("fragment", arch="gfx942", op="v_mfma_f32_32x32x9_f16"))
        assert "unknown matrix instruction of gfx942 'v_mfma_f32_32x32x9_f16'; nearest: v_mfma" in page.inner_text(
            ".problem"
        )


@pytest.mark.oracle
class TestOtherViews:
    def test_lds_conflicts_and_the_change_that_removes_them(self, show):
        page = show(state=view_state("lds", arch="gfx942", ds="ds_read_b64", address="lane * 128"))
        passes = int(conflicts("gfx942", "ds_read_b64", np.arange(64) * 128).extra_passes)
        assert f"addresses as given: {passes} extra passes" in page.inner_text("main")
        page.click("button.take")
        assert "after the change: 0 extra passes" in page.inner_text("main")
        assert "change=xor" in state_of(page)
        line = page.inner_text(".facts .codeline code")
        moved = np.array(
            [eval(line[len("offset ^= ") : -1], {"offset": lane * 128}) ^ lane * 128 for lane in range(64)]
        )
        assert conflicts("gfx942", "ds_read_b64", moved).free  # the line of C++ is also Python

    def test_lds_why_a_pattern_conflicts(self, show):
        page = show(state=view_state("lds", arch="gfx950", ds="ds_read_b128", address="lane * 128"))
        said = page.inner_text(".reason")
        assert "128 bytes are 32 banks of 64, so every other lane meets the same 4 banks" in said
        page.fill("input[name=address]", "lane % 3 * 256")
        page.press("input[name=address]", "Enter")
        assert "Bank 0 has 3 of them in one phase" in page.inner_text(".reason")
        page.fill("input[name=address]", "lane * 16")
        page.press("input[name=address]", "Enter")
        assert page.locator(".reason").count() == 0

    def test_lds_two_addresses(self, show):
        page = show(state=view_state("lds", arch="gfx942", ds="ds_read2_b64", address="lane * 16", offset1=64))
        assert "Two accesses: at address + 0 × 8 and at address + 64 × 8 bytes." in page.inner_text("main")
        found = conflicts("gfx942", "ds_read2_b64", np.arange(64) * 16, offset=(0, 64))
        assert page.get_attribute("section.card", "data-passes") == str(int(found.extra_passes.sum()))
        page.fill("input[name=offset0]", "300")
        page.press("input[name=offset0]", "Enter")
        assert page.inner_text(".problem") == "offset0 300 is not within 0..255"

    def test_lds_banks_by_tap_and_keys(self, show):
        page = show(state=view_state("lds", address="lane * 128"), has_touch=True)
        page.locator("section.card canvas").tap(position={"x": 88, "y": 40})
        assert page.inner_text(".detail").startswith("phase 0, bank 1: bytes 4–7: lane 0; ")
        page.locator("section.card canvas").focus()
        page.keyboard.press("ArrowRight")
        assert page.inner_text(".detail").startswith("phase 0, bank 2: bytes 8–11: lane 0; ")
        page.keyboard.press("ArrowDown")
        assert page.inner_text(".detail").startswith("phase 1, bank 2: bytes ")

    def test_lds_reads_of_an_operand(self, show):
        page = show(state=view_state("lds", arch="gfx950", ds="ds_read_b128", op="v_mfma_f32_32x32x16_f16", pitch=128))
        fragment = instruction("gfx950", "v_mfma_f32_32x32x16_f16").A
        pattern = Pattern.operand("ds_read_b128", fragment)
        found = conflicts("gfx950", "ds_read_b128", pattern.rows * 128 + pattern.columns)
        assert page.get_attribute("section.card", "data-passes") == str(int(found.extra_passes.sum()))

    def test_lds_layout_of_another_library(self, show):
        page = show(state=view_state("lds", arch="gfx950", ds="ds_read_b128"))
        page.select_option("select[name=op]", "layout")
        assert "addresses as given: 0 extra passes" in page.inner_text("main")  # the example is swizzled
        page.fill("input[name=layout]", "(16,4):(64,8)")
        page.press("input[name=layout]", "Enter")
        passes = int(conflicts("gfx950", "ds_read_b128", layout_offsets("(16,4):(64,8)", 64) * 2).extra_passes)
        assert f"addresses as given: {passes} extra passes" in page.inner_text("main")
        assert passes > 0

    def test_a_wrong_expression_is_one_line(self, show):
        page = show(state=view_state("lds", address="lane / 4"))
        assert page.inner_text(".problem") == "'/' in 'lane / 4' is not an integer operation; write // for the quotient"

    def test_bits_of_a_code(self, show):
        page = show(state=view_state("formats", format="e4m3fn", code="0x2b", scale=118))
        assert page.inner_text("output.value") == "0.34375"
        page.click("button.bit >> nth=0")
        assert page.inner_text("output.value") == "-0.34375"
        assert "-0.171875" in page.inner_text(".readings")  # FNUZ reads half of it
        assert "-0.00067138671875" in page.inner_text(".readings")  # times 2^-9, exact
        assert "code=0xab" in state_of(page)

    def test_rounding_of_a_typed_number(self, show):
        page = show(state=view_state("formats", format="fp4", number="2.5"))
        rows = page.inner_text("table.rounding")
        assert "nearest_even\tsaturate\t0x4\t2" in rows
        assert "up\tsaturate\t0x5\t3" in rows

    @pytest.mark.parametrize("view", VIEWS)
    @pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
    def test_no_view_is_wider_than_the_window(self, show, view, width, scheme):
        page = show(state=view_state(view), viewport={"width": width, "height": 800}, color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    def test_the_chosen_view_is_in_sight_on_a_phone(self, show):
        page = show(state=view_state("slides"), viewport={"width": 390, "height": 800})
        link = page.locator("nav a[aria-current=page]").bounding_box()
        assert link["x"] >= 0
        assert link["x"] + link["width"] <= 390

    def test_a_number_is_not_broken_on_a_phone(self, show):
        page = show(state=view_state("formats", format="e4m3fn", number="0.3"), viewport={"width": 390, "height": 800})
        lines = page.evaluate("""() => [...document.querySelectorAll("td:last-child")].map((cell) => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            return [cell.innerText, range.getClientRects().length];
        })""")
        numbers = {text: count for text, count in lines if re.fullmatch(r"[-\d.e]+", text)}
        assert len(numbers) >= 3, lines
        assert set(numbers.values()) == {1}, numbers

    def test_theme(self, show):
        page = show()
        before = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.click("#theme")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before

    def test_views_by_their_links(self, show):
        page = show()
        assert len(VIEWS) >= 2
        for view in VIEWS:
            page.click(f"nav a[data-view={view}]")
            assert state_of(page).startswith(f"#{view}")
            assert page.get_attribute(f"nav a[data-view={view}]", "aria-current") == "page"


@pytest.mark.oracle
class TestStepper:
    def run(self, title):
        return [run["case"] for run in shipped_runs()].index(title)

    def test_elements_follow_the_data(self, show):
        page = show(state=view_state("stepper", run=self.run("lds_tile"), step=74, reg="v6"))
        lanes = [page.locator(f"[data-wave='{wave}'] .lanes .lane") for wave in (0, 1)]
        # Lane 17 of each wave holds row 1 (of wave 1: 17) of A, k 4 and 5.
        assert lanes[0].nth(17).inner_text().endswith("A[1, 4] A[1, 5]")
        assert lanes[1].nth(17).inner_text().endswith("A[17, 4] A[17, 5]")

    def test_initial_contents_of_the_lds_are_not_writes(self, show):
        page = show(state=view_state("stepper", run=self.run("lds_tile"), step=1))
        assert "Nothing has been written to the LDS: it holds its initial contents." in page.inner_text("body")

    def test_results_by_the_layout(self, show):
        page = show(state=view_state("stepper", run=self.run("f16_16x16x16"), step=30, reg="v2"))
        assert "v_mfma_f32_16x16x16_f16" in page.inner_text(".now")
        assert page.locator(".lanes .lane").nth(21).inner_text().endswith("D[6, 5]")

    def test_registers_in_formats(self, show):
        page = show(state=view_state("stepper", run=self.run("f16_16x16x16"), step=30, reg="v2"))
        held = page.locator(".lanes .lane")
        word = int(held.nth(21).inner_text().split()[1], 16)
        page.select_option("select[name=as]", "f32")
        assert float(held.nth(21).inner_text().split()[1]) == np.uint32(word).view(np.float32)
        page.select_option("select[name=as]", "f16")
        low, high = np.array([word], np.uint32).view(np.float16)
        shown = held.nth(21).inner_text().partition("[")[2].partition("]")[0]
        assert [float(one) for one in shown.split()] == pytest.approx([float(low), float(high)], rel=1e-6)

    def test_forward_back_and_jump(self, show):
        page = show(state=view_state("stepper", run=self.run("lds_tile"), step=5))
        page.click("button[name=forward]")
        assert "step=6" in state_of(page)
        page.click("button[name=back]")
        assert "step=5" in state_of(page)
        page.click(".listing button:has-text('s_barrier')")
        assert "s_barrier" in page.inner_text(".now")
        assert page.locator(".listing [aria-current=true]").inner_text().count("s_barrier") == 1

    def test_runs_say_what_they_show(self, show):
        page = show(state=view_state("stepper", run=6))
        chosen = page.inner_text("select[name=run] option:checked")
        assert chosen == "the same without its barrier: a race (gfx942)"

    def test_arrow_keys_step(self, show):
        page = show(state=view_state("stepper", run=0, step=1))
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        assert "step=2" in state_of(page)

    def test_play(self, show):
        page = show(state=view_state("stepper", run=0, step=1))
        page.click("button[name=play]")
        page.wait_for_function("location.hash.includes('step=4')")
        page.click("button[name=play]")
        assert "play" not in state_of(page)

    def test_loads_in_flight(self, show):
        page = show(state=view_state("stepper", run=self.run("f16_16x16x16"), step=18))
        said = page.inner_text("[data-wave='0']")
        assert "vmcnt 2 (not yet in v10, v11, v4)" in said
        assert "v4 in flight" in said

    def test_what_the_barrier_orders(self, show):
        """Without it the second wave's writes are not waited for: the code has no s_barrier."""
        right, wrong = (
            show(state=view_state("stepper", run=self.run(title), step=1)).inner_text(".listing")
            for title in ("lds_tile", "lds_tile_without_barrier")
        )
        assert "s_barrier" in right
        assert "s_barrier" not in wrong


def test_shipped_runs_are_up_to_date():
    text = files("mfmasim.explorer").joinpath("static", "records.txt").read_text()
    shipped = json.loads(gzip.decompress(base64.b64decode(text)))
    assert [run["title"] for run in shipped] == [run["case"] for run in shipped_runs()]
    assert json.loads(json.dumps(record_all())) == shipped, "python -m mfmasim.explorer.rebuild"


def test_a_record_has_what_instructions_wrote_to_the_lds():
    """The initial contents of 4 KiB would be 1,024 dwords at the first step that accesses memory."""
    case = next(one for _, cases in find(str(EXAMPLES / "cases.py")) for one in cases if one.title == "lds_tile")
    stored = [step[8][0] for step in record_case(case, "gfx942")["steps"] if step[8]]
    assert 0 < max(map(len, stored)) <= 2 * 64 * 4


HOSTILE = ["__proto__", "valueOf", "%ff", "<img src=x onerror=alert(1)>"]


@pytest.mark.oracle
def test_names_and_values_of_an_address_that_no_view_has(show):
    """Also names that every object of JavaScript inherits: the view says what is wrong, and nothing else happens."""
    page = show()
    states = [f"#{part}{quote(text)}" for part in ("", "puzzles?ask=", "stepper?reg=") for text in HOSTILE]
    for state in states:
        page.evaluate("hash => { location.hash = hash }", state)
        page.wait_for_timeout(1)
    assert page.said == []
    assert len(states) == 12
    assert page.evaluate("() => window.mfmasim.instructions('gfx950').length") > 50


VALUES = [
    *HOSTILE,
    "",
    "0",
    "-1",
    "1e99",
    "99999999999999999999",
    "NaN",
    "gfx950",
    "gfx942",
    "A",
    "D[0,0]",
    "x" * 3000,
    "[1,2]",
    "{}",
    '"><svg onload="window.hostile=1">',
    "javascript:window.hostile=1",
    "${window.hostile=1}",
    "'-(window.hostile=1)-'",
    "</script><script>window.hostile=1</script>",
    "\u202e\0\ud83d",
    "1\n2",
    "constructor",
    "__proto__[hostile]",
    "ds_read_b128",
]


@pytest.mark.oracle
def test_addresses_drawn_at_random_execute_nothing(show):
    """Two hundred addresses of all views, with all names of values: no script of theirs, no request, no error."""
    scripts = [
        path.read_text() for path in files("mfmasim.explorer").joinpath("static").iterdir() if path.name.endswith(".js")
    ]
    names = sorted({name for text in scripts for name in re.findall(r'\bvalue\("(\w+)"', text)})
    assert len(names) > 25
    page = show()
    views = page.evaluate("() => [...document.querySelectorAll('nav [data-view]')].map(one => one.dataset.view)")
    assert len(views) >= 4
    rng = random.Random(11)
    for _ in range(200):
        given = {name: rng.choice(VALUES) for name in rng.sample(names, rng.randint(1, 8))}
        state = f"#{rng.choice([*views, 'slides', 'nosuch'])}?" + urlencode(given, errors="replace")
        page.evaluate("hash => { location.hash = hash }", state)
        page.wait_for_timeout(1)
        page.said = [one for one in page.said if "cannot be parsed" not in one]  # Chromium, of a field for numbers
        assert page.said == [], state
    found = page.evaluate("() => [window.hostile, ({}).hostile, document.querySelectorAll('img, iframe').length]")
    assert found == [None, None, 0]
