"""The time view: what `mfmasim cost` records, read by pointer, keys and address."""

import base64
import gzip
import json
import random
from importlib.resources import files

import numpy as np
import pytest

from mfmasim.explorer import view_state
from mfmasim.explorer.timelines import record_timeline, shipped_timelines
from tests.explorer.test_explorer_page import state_of


def shipped():
    text = files("mfmasim.explorer").joinpath("static", "timelines.txt").read_text()
    return json.loads(gzip.decompress(base64.b64decode(text)))


@pytest.mark.parametrize("number", range(3))
def test_shipped_timelines_are_up_to_date(number):
    row = shipped_timelines()[number]
    assert json.loads(json.dumps(record_timeline(row))) == shipped()[number], "python -m mfmasim.explorer.rebuild"


def test_three_schedules_are_shipped():
    assert [run["title"] for run in shipped()] == ["8-wave ping-pong", "4-wave interleave", "double buffer"]
    for run in shipped():
        reasons = {run["reasons"][reason] for lane in run["lanes"] for reason in lane[5]}
        assert {"barrier", "vmcnt", "lgkmcnt", "matrix core"} <= reasons
        assert {kind for *_, kind in run["operations"]} >= {"matrix", "LDS", "memory", "VALU"}


@pytest.mark.oracle
class TestTime:
    @pytest.mark.parametrize("number", range(3))
    def test_instructions_and_waits_are_those_of_the_record(self, show, number):
        run = shipped()[number]
        page = show(state=view_state("time", run=number))
        draw = random.Random(20261125 + number)
        waited = 0
        for _ in range(12):
            wave, simd, issued, lasts, numbers, reason, stood, causes = draw.choice(run["lanes"])
            n = draw.choice([place for place, clocks in enumerate(stood) if clocks])
            page.evaluate("(hash) => { location.hash = hash; }", view_state("time", run=number, at=f"{wave}.{n}"))
            clock, op = int(np.cumsum(issued)[n]), int(np.cumsum(numbers)[n])
            head = f"wave {wave} of SIMD {simd}, clock {clock:,}: {run['operations'][op][0]}"
            page.wait_for_function("(text) => document.querySelector('.info h2')?.textContent === text", arg=head)
            why = page.inner_text(".info .why")
            assert why.startswith(f"It waits {stood[n]} clocks ({run['reasons'][reason[n]]}): ")
            assert f"{lasts[n]} clocks of its pipe" in page.inner_text(".info")
            if "cnt" in run["reasons"][reason[n]]:
                assert run["operations"][op + causes[n]][0] in why
            waited += 1
        assert waited == 12

    def test_the_last_wave_at_a_barrier(self, show):
        run = shipped()[0]
        clocks = [np.cumsum(lane[2]) for lane in run["lanes"]]
        texts = [[run["operations"][op][0] for op in np.cumsum(lane[4])] for lane in run["lanes"]]
        barrier = run["reasons"].index("barrier")
        n = next(n for n, reason in enumerate(run["lanes"][0][5]) if reason == barrier and n > 300)
        until = clocks[0][n]
        arrived = {
            lane[0]: max(
                clock for clock, text in zip(clocks[k], texts[k], strict=True) if text == "s_barrier" and clock < until
            )
            for k, lane in enumerate(run["lanes"])
        }
        last = max(arrived, key=arrived.get)
        page = show(state=view_state("time", run=0, at=f"0.{n}"))
        assert f"(barrier): wave {last} arrives last, at clock {arrived[last]}." in page.inner_text(".info .why")

    def test_pointer_keys_and_zoom(self, show):
        page = show(state=view_state("time", run=0, clocks="6000-8000"), has_touch=True)
        canvas = page.locator("canvas.time")
        canvas.tap(position={"x": 400, "y": 52})
        assert "at=0." in state_of(page)
        before = page.inner_text(".info h2")
        canvas.focus()
        page.keyboard.press("ArrowRight")
        after = page.inner_text(".info h2")
        assert before != after
        assert after.startswith("wave 0 of SIMD 0")
        page.keyboard.press("ArrowDown")
        assert page.inner_text(".info h2").startswith("wave 1 of SIMD 1")
        page.keyboard.press("+")
        assert "clocks=6500-7500" in state_of(page)
        page.click("button[name=later]")
        assert "clocks=7000-8000" in state_of(page)
        page.click("button[name=all]")
        assert f"clocks=0-{shipped()[0]['clocks']}" in state_of(page)
        page.keyboard.press("Escape")
        page.locator("canvas.time").focus()
        page.keyboard.press("Escape")
        assert "at=" not in state_of(page)
        page.mouse.move(600, 300)
        page.mouse.wheel(0, -400)
        page.wait_for_function("!location.hash.includes('clocks=0-')")
