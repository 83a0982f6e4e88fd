"""Programs of AMD's header libraries, compiled from clones of their repositories and run: a table of what came out.

``python -m tests.foreign.libraries [--arch gfx942] [--checks bounds] [NAME ...]`` with ``MFMASIM_LIBRARIES=FOLDER``,
whose subfolders are clones of ROCm/rocPRIM, hipCUB, rocThrust, rocRAND, libhipcxx and rocWMMA. Added to the sources
are only the headers with version numbers, which CMake generates, and what `MENDED` says.
"""

from __future__ import annotations

import os
import re
import sys
from functools import partial
from pathlib import Path

from tests.foreign import programs

FOLDER = Path(os.environ.get("MFMASIM_LIBRARIES", "/nonexistent"))
INCLUDES = """rocPRIM/rocprim/include hipCUB/hipcub/include rocThrust rocRAND/library/include libhipcxx/include
rocWMMA/library/include rocWMMA/samples rocRAND/test rocPRIM/test"""
VERSIONS = {
    "rocPRIM/rocprim/include/rocprim/rocprim_version.hpp": "rocprim",
    "hipCUB/hipcub/include/hipcub/hipcub_version.hpp": "hipcub",
    "rocThrust/thrust/rocthrust_version.hpp": "rocthrust",
    "rocRAND/library/include/rocrand/rocrand_version.h": "rocrand",
    "rocWMMA/library/include/rocwmma/internal/rocwmma-version.hpp": "rocwmma",
}
"""Headers that CMake writes from their ``.in``, and the prefix of the variables in them."""
WRITTEN = {
    "rocThrust/test/thrust/include/rocthrust_version.hpp": "#include <thrust/rocthrust_version.hpp>\n",
    "rocWMMA/test/rocm_smi/rocm_smi.h": "",
    "rocWMMA/test/rocwmma/rocwmma-version.hpp": "#include <rocwmma/internal/rocwmma-version.hpp>\n",
}
"""Headers of CMake's output folder, and of a library that only rocWMMA's benchmarks call."""
SEED = "rocThrust/test/test_seed"
SLICED = "rocPRIM/test/rocprim", "hipCUB/test/hipcub"
"""Folders with tests that CMake compiles in slices, each defined in a copy of the source."""
NVIDIA = (
    (r"<cub/\w+/\w+\.cuh>", "<hipcub/hipcub.hpp>"),
    (r'"../../test/test_util.h"', '"../example_utils.hpp"'),
    ("namespace cub;", "namespace hipcub;"),
    (r"MaxSmOccupancy\((\w+), (.*), (\w+)\)\)", r"hipOccupancyMaxActiveBlocksPerMultiprocessor(&\1, \2, \3, 0))"),
    (r"\bcuda(?=[A-Z])", "hip"),
)
SMALLER = (
    (r"(,\s*(1?\d{5,6}|\(1 << \d\d\)( [-+] \d+)?|1134 \* 256))+(?=,?\s*\};)", ""),
    (r"sizes\.push_back\(1 << 23\);", ""),
    (r"(get_random_data<\w+>\(\d+, \d), (10{5,6}|1 << (17|20)),", r"\1, 5000,"),
)
"""Of sizes in tests those up to some thousands stay."""
MENDED = {
    "hipCUB/examples/example_utils.hpp": (
        (
            r"if HIPCUB_IF_CONSTEXPR\(std::is_floating_point<K>::value\)",
            "if (!std::is_floating_point<K>::value) break; else",
        ),
    ),
    **{f"hipCUB/examples/block/example_block_{name}.cu": NVIDIA for name in ("radix_sort", "reduce", "scan")},
    "rocWMMA/samples/perf_*.cpp": (
        (r"gemm_test\(7168, 7168, 7168", "gemm_test(256, 256, 64"),
        (r"(warmups|recordRuns)( *)= \d+u", r"\1\2= 1u"),
    ),
    "rocThrust/test/test_utils.hpp": SMALLER,
    "rocPRIM/test/rocprim/*.[ch]pp": SMALLER,
    "hipCUB/test/hipcub/*.[ch]pp": SMALLER,
}
"""Defects of the sources themselves, and what replaces them: hipCUB 84d9c1c draws random integers in a loop that only
floating-point numbers leave, so that seven of its nine device examples never reach the device; and its block examples
have CUB's headers and CUDA's names."""
GTEST = ("-lgtest_main", "-lgtest")
RAND = (
    *GTEST,
    "-Wl,--defsym=rocrand_create_poisson_distribution=abort",
    "-Wl,--defsym=rocrand_destroy_discrete_distribution=abort",
)
"""rocRAND's library is not built: the Poisson distribution, which needs it, is left out."""
WMMA = """@test/hip_device.cpp @test/rocwmma_gtest_main.cpp @test/unit/unit_kernel_base.cpp -I@test -I@test/unit -lgtest
-mcmodel=large""".replace("@", f"{FOLDER}/rocWMMA/")
PASSED = r"\[  PASSED  \]"
HIPCUB = """partition_flagged partition_if radix_sort reduce scan select_flagged select_if select_unique
sort_find_non_trivial_runs"""
THRUST = """arbitrary_transformation basic_vector bounding_box bucket_sort2d constant_iterator counting_iterator
device_ptr discrete_voronoi dot_products_with_zip expand fill_copy_sequence histogram lambda lexicographical_sort
max_abs_diff minmax mode monte_carlo_disjoint_sequences mr_basic norm padded_grid_reduction permutation_iterator
raw_reference_cast remove_points2d repeated_range run_length_decoding run_length_encoding saxpy scan_by_key
scan_matrix_by_rows set_operations simple_moving_average sort sorting_aos_vs_soa sparse_vector stream_compaction
strided_range sum sum_rows summary_statistics summed_area_table tiled_range transform_input_output_iterator
transform_iterator transform_output_iterator uninitialized_vector version weld_vertices word_count"""
FIRST = f"-include {Path(__file__).with_name('first_type.h')}"
LAST = f"{FIRST} -DLAST_TYPE"
"""Of each list of types one: the last of rocThrust's is on the device."""
SLICE = "-DHIPCUB_TEST_SLICE=1 -DHIPCUB_TEST_TYPE_SLICE=0 -DHIPCUB_TEST_SUITE_SLICE=1"
SMALL = "-*Large*:*Over4G*:*Huge*:*Uniform*:*Spacing*"
ROCPRIM = """block_adjacent_difference block_discontinuity block_exchange block_histogram block_load_store
block_radix_rank block_radix_sort block_reduce block_run_length_decode block_scan block_sort_bitonic block_sort_merge
device_adjacent_difference device_binary_search device_histogram device_merge device_merge_sort device_nth_element
device_partial_sort device_partition device_radix_sort device_reduce device_reduce_by_key device_run_length_encode
device_segmented_radix_sort device_segmented_reduce device_segmented_scan device_select device_transform warp_exchange
warp_load warp_reduce warp_scan warp_sort warp_store zip_iterator"""
CUB = """block_adjacent_difference block_discontinuity block_exchange block_histogram block_load_store
block_merge_sort block_radix_rank block_radix_sort block_reduce block_run_length_decode block_scan block_shuffle
device_adjacent_difference device_copy device_histogram device_memcpy device_merge_sort device_partition
device_radix_sort device_reduce device_reduce_by_key device_run_length_encode device_scan device_segmented_reduce
device_segmented_sort device_select grid iterators thread_operators thread_sort util_ptx warp_exchange warp_load
warp_merge_sort warp_reduce warp_scan warp_store"""
ROCTHRUST = """adjacent_difference async_sort async_transform binary_search_vector copy complex_transform count equal
fill find for_each gather inner_product is_sorted max_element merge merge_by_key minmax_element pair_sort partition
random reduce reduce_by_key remove replace scan scan_by_key scatter sequence set_difference set_intersection
set_symmetric_difference set_union shuffle sort_by_key stable_sort transform transform_reduce tuple_sort unique
unique_by_key zip_iterator_scan"""
SUITES = {
    "rocPRIM/test/rocprim/test_intrinsics": "*",
    "rocPRIM/test/rocprim/test_thread": "*",
    "rocPRIM/test/rocprim/test_constant_iterator": "*",
    "rocPRIM/test/rocprim/test_block_shuffle": "*",
    f"rocPRIM/test/rocprim/test_device_scan {FIRST}": "*Empty*",
    "hipCUB/test/hipcub/test_hipcub_thread": "*",
    **{f"rocPRIM/test/rocprim/test_{name} {FIRST} -DROCPRIM_TEST_SLICE=0": SMALL for name in ROCPRIM.split()},
    **{f"hipCUB/test/hipcub/test_hipcub_{name} {FIRST} {SLICE}": SMALL for name in CUB.split()},
    **{f"rocThrust/test/test_{name} {LAST}": SMALL for name in ROCTHRUST.split()},
    f"rocThrust/test/test_sort {LAST}": "*Simple*",
    "rocRAND/test/test_rocrand_kernel_philox4x32_10": "-*poisson*",
    "rocRAND/test/test_rocrand_kernel_xorwow": "-*poisson*",
    "rocRAND/test/test_rocrand_kernel_mrg": "-*poisson*:*range*:*discrete*",
    "rocRAND/test/test_rocrand_kernel_threefry4x64_20": "-*poisson*:*range*",
    "rocRAND/test/test_rocrand_kernel_lfsr113": "-*poisson*:*range*",
    "rocWMMA/test/unit/vector_test/test/vector": "*",
    "rocWMMA/test/unit/cross_lane_ops_test/test/dpp_rotate_r4": "*",
    "rocWMMA/test/unit/transforms_test/test/transforms": "*",
    "rocWMMA/test/unit/cross_lane_ops_test/test/permute_gather_scatter": "*",
    "rocWMMA/test/unit/cross_lane_ops_test/test/blend_zip_byte": "*",
    "rocWMMA/test/unit/fill_fragment_test/test/fill_fragment_a_16": "*",
    "rocWMMA/test/unit/load_store_matrix_sync_test/test/load_store_matrix_sync_b_16": "*",
}
"""GoogleTest suites with what defines the part that is compiled, and the tests of them that are run."""
LINKED = {
    "rocPRIM": GTEST, "hipCUB": GTEST, "rocThrust": (*GTEST, "-lsqlite3"), "rocRAND": RAND, "rocWMMA": WMMA.split(),
}  # fmt: skip
MATRICES = """simple_sgemm simple_dgemm simple_hgemm simple_dlrm simple_sgemv simple_dgemv perf_sgemm perf_dgemm
perf_hgemm"""


def includes() -> list[str]:
    """Options of hipcc for the libraries' headers."""
    return [word for place in INCLUDES.split() for word in ("-isystem", str(FOLDER / place))]


def command(source: str, flags: tuple[str, ...], arch: str, to: Path) -> list[str]:
    """Arguments of hipcc; the host's part, which only compares, is not optimised."""
    del arch, to
    path = FOLDER / source
    return ["-std=c++17", "-Xarch_host", "-O0", *includes(), f"-I{path.parents[1]}", str(path), *flags]


def program(
    source: str, flags: tuple[str, ...] = (), right: str = "", runs: tuple[str, ...] = ("",)
) -> programs.Program:
    """A program of one source; its name is the source's stem after its repository."""
    name = f"{source.partition('/')[0]}/{Path(source).stem}"
    return programs.Program(name, partial(command, source, flags), runs, right)


PROGRAMS = [
    *(program(f"hipCUB/examples/device/example_device_{name}.cpp") for name in HIPCUB.split()),
    *(
        program(f"hipCUB/examples/block/example_block_{name}.cu", (), "PASS", ("--i=1",))
        for name in ("radix_sort", "reduce", "scan")
    ),
    *(program(f"rocThrust/examples/{name}.cu") for name in THRUST.split()),
    program("rocPRIM/example/example_temporary_storage.cpp"),
    *(
        program(f"{path}.cpp", (*defined, *LINKED[path.partition("/")[0]]), PASSED, (f"--gtest_filter={tests}",))
        for (path, *defined), tests in ((key.split(), tests) for key, tests in SUITES.items())
    ),
    program("libhipcxx/examples/hip/concurrent_hash_table.hip"),
    *(program(f"rocWMMA/samples/{name}.cpp", (), "PASSED") for name in MATRICES.split()),
]


def _written(prefix: str, repository: Path, text: str) -> str:
    """A header as CMake writes it."""
    listed = (repository / "CMakeLists.txt").read_text()
    number = re.search(r"VERSION_STRING\s+\"?(\d+)\.(\d+)\.(\d+)", listed)
    major, minor, patch = map(int, number.groups() if number else (0, 0, 0))
    values = {"MAJOR": major, "MINOR": minor, "PATCH": patch, "NUMBER": 100000 * major + 100 * minor + patch}
    for name, value in values.items():
        text = text.replace(f"@{prefix}_VERSION_{name}@", str(value))
    return re.sub(r"@\w+@", "", text)


def prepare() -> None:
    """Write what CMake would write, and mend the sources."""
    for source in (path for folder in SLICED for path in (FOLDER / folder).glob("*.cpp.in")):
        source.with_suffix("").write_text(re.sub(r"(?m)^#cmakedefine.*$", "", source.read_text()))
    if (seed := FOLDER / f"{SEED}.in.hpp").is_file():
        (FOLDER / f"{SEED}.hpp").write_text(
            re.sub(r"\$\{RNG\w+\}", "0", seed.read_text()).replace("${PRNG_SEEDS_INITIALIZER}", "1")
        )
    for name, text in WRITTEN.items():
        if (FOLDER / name.partition("/")[0]).is_dir():
            (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
            (FOLDER / name).write_text(text)
    for name, prefix in VERSIONS.items():
        source = FOLDER / f"{name}.in"
        if source.is_file() and not (FOLDER / name).exists():
            (FOLDER / name).write_text(_written(prefix, FOLDER / name.partition("/")[0], source.read_text()))
    for name, changes in MENDED.items():
        for path in FOLDER.glob(name):
            text = before = path.read_text()
            for pattern, replacement in changes:
                text = re.sub(pattern, replacement, text)
            if text != before:
                path.write_text(text)


if __name__ == "__main__":
    prepare()
    sys.exit(programs.main(__doc__, PROGRAMS))
