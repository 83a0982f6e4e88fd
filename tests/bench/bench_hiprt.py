"""Cost of a launch through hip-python and the simulated HIP runtime against a direct one.

Prints the least time of a direct launch of an introductory kernel, of one through hip-python (hipModuleLaunchKernel and
hipDeviceSynchronize), of one through the back end hip (buffers, copies and module included), what the first two differ
by (the aim: at most 2 ms), and the time of one call that does nothing; then the calls of HIP of a launch on the back
end: the first one, a later one, and one if nothing were kept from launch to launch. It starts itself on the runtime.
"""

import sys

import numpy as np

import mfmasim
from mfmasim.devices.hip import HipDevice
from mfmasim.hiprt import start
from mfmasim.hiprt.serving import current
from mfmasim.resources import folder
from tests.bench.measuring import least

REPEATS = 200


def milliseconds(call):
    """Least time of some runs."""
    return least(call, REPEATS) * 1000


def calls(device, kernel, arrays):
    """Calls of HIP of a launch on the back end, in this process."""

    def spent(*acts):
        before = current().counts.calls.total()
        for act in acts:
            act()
        return current().counts.calls.total() - before

    def launch():
        device.launch(kernel, 1, 64, arrays)

    found = {"first launch": spent(launch), "later launch": spent(launch)}
    device.close()
    return {**found, "nothing kept": spent(launch, device.close)}


def inside():
    """The measurement, in a process that the runtime serves."""
    from hip import hip

    def check(answer):
        assert not int(answer[0]), answer
        return answer[1] if len(answer) > 1 else None

    code = mfmasim.load(folder("golden") / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco")
    kernel = code["mfma_f32_32x32x2_f32"]
    arrays = [np.ones((32, 2), np.float32), np.ones((2, 32), np.float32), np.zeros((32, 32), np.float32)]
    sim, gpu = mfmasim.device("sim"), mfmasim.device("hip")
    module = check(hip.hipModuleLoadData(np.frombuffer(code.object.data, np.uint8)))
    function = check(hip.hipModuleGetFunction(module, kernel.name.encode()))
    buffers = tuple(check(hip.hipMalloc(array.nbytes)) for array in arrays)
    for buffer, array in zip(buffers, arrays, strict=True):
        check(hip.hipMemcpyHtoD(buffer, array, array.nbytes))

    def through():
        check(hip.hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, None, None, buffers))
        check(hip.hipDeviceSynchronize())

    direct = milliseconds(lambda: sim.launch(kernel, 1, 64, arrays, checks="bounds"))
    hipped = milliseconds(through)
    print(f"direct launch                     {direct:8.3f} ms")
    print(f"through hip-python                {hipped:8.3f} ms")
    print(f"through mfmasim.device('hip')     {milliseconds(lambda: gpu.launch(kernel, 1, 64, arrays)):8.3f} ms")
    print(f"hip-python over direct            {hipped - direct:+8.3f} ms   (at most +2)")
    for name, count in calls(HipDevice(), kernel, arrays).items():
        print(f"calls of HIP, {name:20} {count:3}")
    print(f"hipGetDevice                      {milliseconds(hip.hipGetDevice):8.4f} ms")


if __name__ == "__main__":
    if sys.argv[1:] == ["inside"]:
        inside()
    else:
        sys.exit(start([sys.executable, "-m", "tests.bench.bench_hiprt", "inside"]))
