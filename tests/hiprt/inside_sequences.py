"""Random sequences of what a program does with devices: `sim`, `hip` in a process of its own, and `hip` in this one.

Each launch gives the same memory on all, or errors of the same kind. Run by test_hiprt_suites.py.
"""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import mfmasim
from mfmasim.devices.hip import HipDevice
from mfmasim.errors import MfmasimError
from mfmasim.hiprt.serving import current
from tests.hiprt.inside_isolated import MAKERS, SOURCE, values

HANGS = "hipModuleLaunchKernel@hang"
FAULTS = "MFMASIM_HIPRT_FAULTS"


def result(device, kernel, make):
    """What a launch left in the memory that its arrays show, or the kind of its error."""
    memory, x, y = make()
    try:
        report = device.launch(kernel, 1, 64, [np.float32(2), x, y, np.int32(min(x.size, y.size))])
    except MfmasimError as error:
        return error.kind
    return report.ok, memory.tobytes()


def kind_of(act, *args, **keywords):
    """The kind of an action's error; empty where it succeeds."""
    try:
        act(*args, **keywords)
    except MfmasimError as error:
        return error.kind
    return ""


class Sequences(RuleBasedStateMachine):
    """Two devices that recover from everything, and one whose process has to be started again after a fault."""

    def __init__(self):
        super().__init__()
        self.restart()
        self.sim, self.process = mfmasim.device("sim"), mfmasim.device("hip")
        self.kernel = mfmasim.compile(SOURCE, "gfx942")["axpy"]

    def teardown(self):
        self.process.close()
        current().inject("")

    @property
    def devices(self):
        """Those that have to agree."""
        return [self.sim, self.process] + ([self.here] if self.lost == "" else [])

    def restart(self):
        """What a new process begins with, where `hip` is used without one of its own."""
        if current() is not None:  # there is no runtime before the first call
            current().inject("")
        self.here, self.lost = HipDevice(), ""

    @rule(make=st.sampled_from(MAKERS), thread=st.booleans())
    def launch(self, make, thread):
        with ThreadPoolExecutor(1) as pool:
            do = (lambda *args: pool.submit(*args).result()) if thread else (lambda act, *args: act(*args))
            found = [do(result, device, self.kernel, make) for device in self.devices]
        assert found == [found[0]] * len(found)
        assert found[0] == "argument" or found[0][0]

    @rule(makers=st.lists(st.sampled_from(MAKERS), min_size=2, max_size=4))
    def launch_from_threads(self, makers):
        for device in (self.sim, self.process):
            expected = [result(self.sim, self.kernel, make) for make in makers]
            with ThreadPoolExecutor(len(makers)) as pool:
                assert list(pool.map(lambda make, to=device: result(to, self.kernel, make), makers)) == expected

    @rule()
    def compile_again(self):
        self.kernel = mfmasim.compile(SOURCE, "gfx942", flags=["-O1"])["axpy"]

    @rule(bad=st.sampled_from([[], [1, 2], [None, None, 3, 4.5], "text", {"z": 1}]))
    def refused_arguments(self, bad):
        assert [kind_of(device.launch, self.kernel, 1, 64, bad) for device in self.devices] == ["argument"] * len(
            self.devices
        )

    @rule(block=st.sampled_from([0, 2048, (64, 64)]))
    def refused_sizes(self, block):
        assert {kind_of(device.launch, self.kernel, 1, block, []) for device in self.devices} == {"size"}

    @rule()
    def another_architecture(self):
        kernel = mfmasim.compile(SOURCE, "gfx1201")["axpy"]
        assert {kind_of(device.launch, kernel, 1, 64, [2.0, None, None, 0]) for device in self.devices[1:]} == {
            "target"
        }

    @rule()
    def fault(self):
        far = [np.float32(2), values(), values(), np.int32(1 << 18)]
        assert not self.sim.launch(self.kernel, 4096, 64, far).ok
        for device in self.devices[1:]:
            assert kind_of(device.launch, self.kernel, 4096, 64, far) == "device"
        assert not self.process._workers, "the context is lost"
        self.lost = self.lost or "fault"

    @precondition(lambda self: self.lost == "fault")
    @rule(make=st.sampled_from(MAKERS))
    def a_lost_context_stays_lost(self, make):
        assert result(self.here, self.kernel, make) in ("device", "argument")
        assert kind_of(self.here.reset) == "device"

    @rule()
    def time_out(self):
        os.environ[FAULTS] = HANGS
        try:
            self.process = mfmasim.device("hip")
        finally:
            del os.environ[FAULTS]
        given = [np.float32(2), values(), values(), np.int32(64)]
        assert kind_of(self.process.launch, self.kernel, 1, 64, given, timeout=0.2) == "time-out"
        assert not self.process._workers
        assert kind_of(self.process.versions) == "", "the next request starts another process"
        self.process.close()
        self.process = mfmasim.device("hip")
        if not self.lost:
            current().inject(HANGS)
            self.here.timeout = 0.2
            assert kind_of(self.here.launch, self.kernel, 1, 64, given) == "time-out"
            self.lost = "time-out"

    @precondition(lambda self: self.lost)
    @rule()
    def the_process_is_started_again(self):
        self.restart()

    @rule(number=st.sampled_from([signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV]))
    def the_device_s_process_ends(self, number):
        for worker in self.process._workers:
            worker.process.send_signal(number)
            worker.process.wait()

    @rule(how=st.sampled_from(["reset", "close"]))
    def given_back(self, how):
        assert {kind_of(getattr(device, how)) for device in self.devices} == {""}

    @rule()
    def opened_again(self):
        self.process.close()
        self.process = mfmasim.device("hip")
        if not self.lost:
            self.here.close()
            self.here = HipDevice()

    @invariant()
    def at_most_one_process(self):
        assert len(self.process._workers) <= 1


def test_any_sequence_gives_the_same_on_three_devices():
    many = int(os.environ.get("MFMASIM_TEST_EXAMPLES", "6"))
    run_state_machine_as_test(Sequences, settings=settings(max_examples=many, stateful_step_count=12, deadline=None))


def test_faults_and_time_outs_once_each_with_launches_between():
    """What a short run of random sequences may leave out."""
    machine = Sequences()
    try:
        for act in (machine.fault, machine.restart, machine.time_out, machine.restart):
            act()
            machine.at_most_one_process()
            machine.launch(MAKERS[1], thread=False)
    finally:
        machine.teardown()
