"""Libraries, copies described by a structure, and fills of rectangles: calls answered from words."""

import ctypes

from mfmasim.hiprt.calls.rectangles import Copy
from tests.hiprt.test_hiprt_runtime import INTRO, Caller, address

SUCCESS, INVALID_VALUE, BAD_PITCH, INVALID_HANDLE, NOT_FOUND, NOT_SUPPORTED = 0, 1, 12, 400, 500, 801
NAME = "mfma_f32_16x16x16_f16.gfx942"


def text(words):
    return ctypes.create_string_buffer(words.encode())


def test_a_library_is_a_module_by_other_names():
    call = Caller(arch="gfx942")
    data = ctypes.create_string_buffer((INTRO / f"{NAME}.hsaco").read_bytes())
    error, library = call.out("hipLibraryLoadData", address(data), 0, 0, 0, 0, 0, 0)
    assert error == SUCCESS
    assert call.out("hipLibraryGetKernelCount", library, kind=ctypes.c_uint) == (SUCCESS, 1)
    kernels = (ctypes.c_uint64 * 2)()
    assert call("hipLibraryEnumerateKernels", address(kernels), 2, library) == SUCCESS
    assert kernels[0]
    assert kernels[1] == 0
    error, place = call.out("hipKernelGetName", kernels[0])
    name = ctypes.string_at(place).decode()
    assert name in call.runtime.find(library, object).code.kernels
    wanted = text(name)
    error, kernel = call.out("hipLibraryGetKernel", library, address(wanted))
    assert error == SUCCESS
    assert call.out("hipKernelGetFunction", kernel) == (SUCCESS, kernel)
    assert call.out("hipKernelGetLibrary", kernel) == (SUCCESS, library)
    assert call.out("hipKernelGetAttribute", 0, kernel, 0, kind=ctypes.c_int)[0] == SUCCESS
    offset, size = ctypes.c_size_t(), ctypes.c_size_t()
    assert call("hipKernelGetParamInfo", kernel, 1, address(offset), address(size)) == SUCCESS
    assert (offset.value, size.value) == (8, 8)
    assert call("hipKernelGetParamInfo", kernel, 99, address(offset), 0) == INVALID_VALUE
    absent = text("absent")
    assert call.out("hipLibraryGetKernel", library, address(absent))[0] == NOT_FOUND
    path = text(str(INTRO / f"{NAME}.hsaco"))
    assert call.out("hipLibraryLoadFromFile", address(path), 0, 0, 0, 0, 0, 0)[0] == SUCCESS
    assert call("hipLibraryUnload", library) == SUCCESS
    assert call("hipLibraryUnload", library) == INVALID_HANDLE


def test_copies_described_by_a_structure():
    call = Caller(arch="gfx942")
    device = call.out("hipMalloc", 64 * 8)[1]
    host = (ctypes.c_ubyte * 100)(*range(100))
    given = Copy()
    given.source.kind, given.source.host, given.source.pitch, given.source.x, given.source.y = (
        1,
        address(host),
        10,
        2,
        3,
    )
    given.to.kind, given.to.device, given.to.pitch, given.to.x, given.to.y = 2, device, 64, 5, 1
    given.width, given.height = 4, 3
    assert call("hipMemcpyParam2D", address(given)) == SUCCESS
    rows = [ctypes.string_at(device + 64 * row + 5, 4) for row in (1, 2, 3)]
    assert rows == [bytes(range(10 * row + 2, 10 * row + 6)) for row in (3, 4, 5)]
    given.to.x = 60
    given.width = 5
    assert call("hipMemcpyParam2DAsync", address(given), 0) == BAD_PITCH
    given.to.kind = 10
    assert call("hipDrvMemcpy2DUnaligned", address(given)) == NOT_SUPPORTED
    assert call("hipMemcpyParam2D", 0) == INVALID_VALUE


def test_rectangles_are_filled_on_a_stream():
    call = Caller(arch="gfx942")
    stream = call.out("hipStreamCreate")[1]
    device = call.out("hipMalloc", 64 * 4)[1]
    for name, value, size in (("8", 0xAB, 1), ("16", 0x1234, 2), ("32", 0x12345678, 4)):
        assert call("hipMemset", device, 0, 64 * 4) == SUCCESS
        assert call(f"hipMemsetD2D{name}Async", device, 64, value, 3, 2, stream) == SUCCESS
        filled = value.to_bytes(size, "little") * 3
        assert ctypes.string_at(device, 64 * 2) == (filled + bytes(64 - len(filled))) * 2
    assert call("hipMemsetD2D8Async", device, 64, 0, 3, 2, 12345) == INVALID_HANDLE
