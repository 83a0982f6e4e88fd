"""The golden data itself: reproducible, complete, undamaged, telling, and right by a third reckoning."""

import ast
import doctest
import hashlib
import json
import shutil
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from golden import attention, casts, generate, gradients
from golden.cases import DATA_CLASSES, FAMILIES, FAMILY_OF
from golden.inputs import draw
from tests.longtier import this_round
from tests.slow.rounding import nearest_f32, values

GOLDEN = Path(generate.__file__).parent
MANIFEST = json.loads((GOLDEN / "manifest.json").read_text(encoding="utf-8"))
EVERY = MANIFEST["entries"]
ENTRIES = [entry for entry in EVERY if entry["family"] in FAMILIES]
"""Matrix products; casts and attention have tests of their own below."""
INTRO = [entry for entry in ENTRIES if entry["family"] == "intro"]
IDS = [entry["id"] for entry in ENTRIES]
NAN = 0x7FC00000
SHARES = {"intro": 4}
SHARE = 48
"""One of so many entries of a family is made again in the quick tier, others each round; `SHARES` first."""


def remade(entry):
    """An entry and its file, made anew."""
    if entry["family"] not in FAMILIES:
        maker = {"cast": casts, "attention_backward": gradients}.get(entry["family"], attention)
        return next(one for one in maker.entries() if one[0]["id"] == entry["id"])
    case = next(one for one in FAMILIES[entry["family"]] if one.name == entry["case"])
    return generate.make(entry["family"], case, entry["arch"], entry["data"], entry["opsel"])


@pytest.fixture(scope="module")
def made():
    """All entries: a share of each family made anew, the rest as they are stored."""
    shares = [SHARES.get(entry["family"], SHARE) for entry in EVERY]
    again = [
        remade(entry) if number % share == this_round() % share else None
        for number, (entry, share) in enumerate(zip(EVERY, shares, strict=True))
    ]
    stored = [(entry, (GOLDEN / entry["file"]).read_bytes()) for entry in EVERY]
    return [new or old for new, old in zip(again, stored, strict=True)]


@pytest.mark.long
def test_everything_is_what_the_generator_makes():
    assert generate.check(GOLDEN) == []


@pytest.fixture
def copy(tmp_path, made, monkeypatch):
    """A copy of the data, and a generator that need not compute everything again."""
    monkeypatch.setattr(generate, "entries", lambda: iter(made))
    for family in {entry["family"] for entry in EVERY}:
        shutil.copytree(GOLDEN / family, tmp_path / family)
    shutil.copy(GOLDEN / "manifest.json", tmp_path)
    return tmp_path


def load(entry):
    with np.load(GOLDEN / entry["file"]) as archive:
        return dict(archive)


# --- Reproducible and undamaged ----------------------------------------------------------------------------------


def test_check_passes_on_the_repository(made, monkeypatch, capsys):
    monkeypatch.setattr(generate, "entries", lambda: iter(made))
    assert generate.main(["--check"]) == 0
    assert capsys.readouterr().out == "golden data is up to date\n"
    assert len(made) == len(EVERY) == 120 + 332 + 50 + 8 + 2


def test_written_files_are_the_repository_s(copy, tmp_path):
    again = tmp_path / "again"
    assert generate.main(["--folder", str(again)]) == 0
    assert generate.check(again) == []
    assert (again / "manifest.json").read_bytes() == (GOLDEN / "manifest.json").read_bytes().replace(b"\r\n", b"\n")


@pytest.mark.parametrize("at", [0, 100, -30, "middle"])
def test_a_damaged_file_is_named(copy, at):
    victim = copy / ENTRIES[7]["file"]
    content = bytearray(victim.read_bytes())
    content[len(content) // 2 if at == "middle" else at] ^= 0x10
    victim.write_bytes(content)
    differences = generate.check(copy)
    assert len(differences) == 1
    assert differences[0].startswith(f"{ENTRIES[7]['file']}: SHA-256 is ")
    assert ENTRIES[7]["sha256"] in differences[0]


def test_missing_foreign_and_edited_files_are_named(copy, capsys):
    (copy / ENTRIES[3]["file"]).unlink()
    (copy / "intro" / "foreign.npz").write_bytes(b"")
    text = (copy / "manifest.json").read_text(encoding="utf-8")
    (copy / "manifest.json").write_text(
        text.replace('"saturation": "none"', '"saturation": "max"', 1), encoding="utf-8"
    )
    assert generate.main(["--check", "--folder", str(copy)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{ENTRIES[3]['file']}: missing",
        "intro/foreign.npz: not in the manifest",
        "manifest.json: differs from the generator's",
    ]
    (copy / "manifest.json").unlink()
    assert generate.check(copy)[-1] == "manifest.json: missing"


def test_manifest_hashes_are_the_files():
    for entry in EVERY:
        assert hashlib.sha256((GOLDEN / entry["file"]).read_bytes()).hexdigest() == entry["sha256"], entry["id"]
    families = {entry["family"] for entry in EVERY}
    assert {entry["file"] for entry in EVERY} == {f"{f}/{p.name}" for f in families for p in (GOLDEN / f).iterdir()}
    assert sum(p.stat().st_size for p in GOLDEN.rglob("*") if p.is_file() and p.suffix != ".pyc") < 12 << 20
    keys = {"id", "seed", "formats", "sha256", "expected", "made_by", "rounding", "saturation"}
    assert all(keys <= set(entry) for entry in EVERY)
    assert all(way["fidelity"] for entry in EVERY for way in entry["expected"].values())
    assert {entry["made_by"] for entry in EVERY} == {"python -m golden.generate"}


def test_golden_imports_nothing_of_mfmasim():
    allowed = {"golden", "numpy", "ml_dtypes", *sys.stdlib_module_names}
    files = [p for p in GOLDEN.rglob("*.py") if "code" not in p.relative_to(GOLDEN).parts]
    assert len(files) >= 9
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] in allowed, f"{path.name} imports {name}"


def test_readme_examples_run(monkeypatch):
    monkeypatch.chdir(GOLDEN.parent)
    result = doctest.testfile(str(GOLDEN / "README.md"), module_relative=False)
    assert result.attempted >= 3
    assert result.failed == 0


# --- Complete ----------------------------------------------------------------------------------------------------


def test_manifest_has_every_combination():
    assert MANIFEST["schema_version"] == 1
    wanted = {
        (family, case.name, arch, data, opsel)
        for family, cases in FAMILIES.items()
        for case in cases
        for arch in case.arches
        for data in case.data
        for opsel in case.opsels
    }
    assert {(e["family"], e["case"], e["arch"], e["data"], e["opsel"]) for e in ENTRIES} == wanted
    assert len(set(IDS)) == len(ENTRIES) == len(wanted)
    assert len({e["seed"] for e in EVERY}) == len({e["id"] for e in EVERY}) == len(EVERY)
    assert {e["arch"] for e in ENTRIES} == set(FAMILY_OF)


@pytest.mark.parametrize("entry", ENTRIES, ids=IDS)
def test_arrays_fit_the_manifest(entry):
    arrays = load(entry)
    m, n, k = (entry["shape"][axis] for axis in "MNK")
    dtypes = {"f32": np.uint32, "f16": np.uint16, "bf16": np.uint16}
    a, b = entry["formats"]["A"], entry["formats"]["B"]
    wanted = {
        "A": ((m, k), dtypes.get(a, np.uint8)),
        "B": ((k, n), dtypes.get(b, np.uint8)),
        "exact": ((m, n), np.uint32),
        "model": ((m, n), np.uint32),
    }
    if entry["block"]:
        wanted |= {"scale_A": ((m, k // 32, 4), np.uint8), "scale_B": ((k // 32, n, 4), np.uint8)}
    assert {name: (array.shape, array.dtype.type) for name, array in arrays.items()} == wanted
    if a == "e2m1fn":
        assert arrays["A"].max() <= 15
        assert arrays["B"].max() <= 15
    fnuz = entry["arch"] == "gfx942"
    assert all(name in {"f32", "f16", "bf16"} or name.endswith("fnuz") == fnuz for name in (a, b))
    guessed = entry["arch"] in {"gfx950", "gfx1250"} or (
        entry["arch"] in {"gfx1200", "gfx1201"} and dtypes.get(a) is None
    )
    assert (entry["expected"]["model"]["fidelity"] == "assumed") == guessed


# --- Telling -----------------------------------------------------------------------------------------------------


def test_scale_bytes_are_told_apart():
    words = 0
    for entry in INTRO:
        if entry["opsel"] is None:
            continue
        for name in ("scale_A", "scale_B"):
            scale = load(entry)[name]
            ordered = np.sort(scale.reshape(-1, 4), axis=1)
            assert (ordered[:, 1:] != ordered[:, :-1]).all()
            words += len(ordered)
            if entry["data"] not in {"bits", "special"}:
                real = scale[..., entry["opsel"]]
                first, second = (real[:, 0], real[:, 1]) if name == "scale_A" else (real[0], real[1])
                assert (first != second).all()
                assert len(np.unique(real)) >= 5
                assert (abs(real.astype(int) - 127) <= 15).all()
    assert words == 48 * 128


def test_rows_and_columns_differ():
    drawn = [entry for entry in ENTRIES if entry["data"] in {"integers", "normal", "range"}]
    assert len(drawn) == len(ENTRIES) // 2
    for entry in drawn:
        if entry["shape"]["K"] < 16 and entry["family"] != "intro":
            continue  # rows of few integers may be the same
        arrays = load(entry)
        assert len(np.unique(arrays["A"], axis=0)) == entry["shape"]["M"]
        assert len(np.unique(arrays["B"], axis=1).T) == entry["shape"]["N"]
        assert not np.array_equal(arrays["exact"], arrays["exact"].T)


def test_exact_and_model_agree_where_they_must_and_differ_where_they_can():
    differ = dict.fromkeys(DATA_CLASSES, 0)
    for entry in ENTRIES:
        arrays = load(entry)
        unequal = int((arrays["exact"] != arrays["model"]).sum())
        if entry["expected"]["model"]["kind"] == "dot2" and entry["data"] == "integers":
            continue  # RDNA3 loses a unit where signs differ
        differ[entry["data"]] += unequal
        if entry["data"] in {"cancel", "range"} and entry["family"] == "intro":
            assert unequal > 0, entry["id"]
    assert differ["integers"] == 0
    assert min(differ[data] for data in DATA_CLASSES if data != "integers") > 1000


def test_special_results_occur():
    counts = dict.fromkeys(("nan", "inf", "-inf", "-0", "subnormal"), 0)
    for entry in ENTRIES:
        for name in ("exact", "model"):
            d = load(entry)[name]
            magnitude = d & 0x7FFFFFFF
            assert (d[magnitude > 0x7F800000] == NAN).all()
            counts["nan"] += int((d == NAN).sum())
            counts["inf"] += int((d == 0x7F800000).sum())
            counts["-inf"] += int((d == 0xFF800000).sum())
            counts["-0"] += int((d == 0x80000000).sum())
            counts["subnormal"] += int(((magnitude > 0) & (magnitude < 0x00800000)).sum())
            if entry["data"] in {"integers", "normal"}:
                assert (magnitude < 0x7F800000).all()
    assert min(counts.values()) > 50, counts


# --- Right, by a third reckoning ---------------------------------------------------------------------------------


def factors(entry, arrays):
    """A and B as float64 with their scales, by ml_dtypes: powers of two and short significands, so exact."""
    a, b = values(arrays["A"], entry["formats"]["A"]), values(arrays["B"], entry["formats"]["B"])
    if entry["block"]:
        a = a * np.repeat(values(arrays["scale_A"][..., entry["opsel"]], "e8m0fnu"), 32, axis=1)
        b = b * np.repeat(values(arrays["scale_B"][..., entry["opsel"]], "e8m0fnu"), 32, axis=0)
    return a, b


def test_integers_equal_a_float64_product():
    compared = 0
    for entry in ENTRIES:
        if entry["data"] == "integers":
            arrays = load(entry)
            a, b = factors(entry, arrays)
            np.testing.assert_array_equal(arrays["exact"].view(np.float32), a @ b)
            compared += arrays["exact"].size
    assert compared == 20 * 1024 - 2 * 768 + 81 * 256 + 2 * 512


def test_a_sample_of_every_entry_equals_fractions():
    rng = np.random.default_rng(9)
    compared = special = 0
    for entry in ENTRIES:
        arrays = load(entry)
        a, b = factors(entry, arrays)
        m, n = arrays["exact"].shape
        for i, j in zip(rng.integers(0, m, 12), rng.integers(0, n, 12), strict=True):
            got = int(arrays["exact"][i, j])
            with np.errstate(invalid="ignore"):
                products = a[i] * b[:, j]  # only to find Inf and NaN; float64 holds every factor's product finitely
            if np.isfinite(products).all():
                total = sum(Fraction(x) * Fraction(y) for x, y in zip(a[i].tolist(), b[:, j].tolist(), strict=True))
                want = nearest_f32(total)
            else:
                with np.errstate(invalid="ignore"):
                    total = float(products.sum())
                want = NAN if np.isnan(total) else 0xFF800000 if total < 0 else 0x7F800000
                special += 1
            assert got == want, (entry["id"], int(i), int(j))
            compared += 1
    assert compared == 12 * len(ENTRIES)
    assert special > 100


@pytest.mark.parametrize("entry", [entry for entry in EVERY if entry["family"] == "cast"], ids=lambda one: one["id"])
def test_casts_are_those_of_the_formats(entry):
    """Against ml_dtypes and the package's own encoder, which share no code with golden's."""
    import mfmasim

    arrays, fmt = load(entry), mfmasim.format(entry["formats"]["C"])
    assert arrays["A"].shape == arrays["exact"].shape == (entry["shape"]["M"], entry["shape"]["K"])
    with np.errstate(invalid="ignore"):  # signalling NaNs
        x = arrays["A"].view(np.float32).astype(np.float64)
    if entry["block"]:
        x = x / np.repeat(values(arrays["scale"], "e8m0fnu"), entry["block"], axis=1)
    else:
        x = np.where(np.isinf(x), np.sign(x) * 1e30, x)
    want, nan = fmt.encode(np.where(np.isnan(x), 0, x)), np.isnan(x)
    assert np.array_equal(arrays["exact"][~nan], want[~nan])
    assert np.isnan(values(arrays["exact"], entry["formats"]["C"])[nan]).all()
    assert len(np.unique(arrays["exact"])) > min(fmt.bits**2, 12)
    assert nan.any() == (entry["data"] == "bits")


FORWARD = [one for one in EVERY if one["family"] in ("attention", "attention_fp8")]


@pytest.mark.parametrize("entry", FORWARD, ids=lambda one: one["id"])
def test_attention_is_near_a_float64_reckoning(entry):
    arrays = load(entry)
    q, k, v = (values(arrays[name], entry["formats"][name]) for name in "QKV")
    if "scale_Q" in arrays:
        q, k, v = (
            x * arrays[f"scale_{n}"].view(np.float32).astype(float) for n, x in zip("QKV", (q, k, v), strict=True)
        )
    scores = q @ k.T / np.sqrt(q.shape[1])
    if entry["causal"]:
        scores = np.where(np.tri(*scores.shape, entry.get("ahead", 0), dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    want = weights / weights.sum(axis=1, keepdims=True) @ v
    found = arrays["exact"].view(np.float32).astype(np.float64)
    assert (abs(found - want) <= 2.0**-24 * abs(found) + 1e-12).all()
    assert np.unique(found).size > 2000


BACKWARD = [one for one in EVERY if one["family"] == "attention_backward"]


@pytest.mark.parametrize("entry", BACKWARD, ids=lambda one: one["id"])
def test_gradients_are_near_a_float64_reckoning(entry):
    """By matrices of float64, and dV by differences of the forward pass, which knows nothing of the formulas."""
    arrays = load(entry)
    q, k, v, d_o = (values(arrays[name], "bf16") for name in ("Q", "K", "V", "dO"))
    lse, delta = (arrays[name].view(np.float32).astype(float)[:, None] for name in ("lse", "delta"))
    scale = q.shape[1] ** -0.5
    seen = np.tri(len(q), len(k), dtype=bool) if entry["causal"] else np.ones((len(q), len(k)), bool)
    p = np.where(seen, np.exp(q @ k.T * scale - lse), 0)
    ds = p * (d_o @ v.T - delta) * scale
    for name, want in (("dQ", ds @ k), ("dK", ds.T @ q), ("dV", p.T @ d_o)):
        found = arrays[name].view(np.float32).astype(float)
        assert (abs(found - want) <= 2.0**-24 * abs(found) + 1e-11).all()
        assert np.unique(found).size > 1000

    def loss(q, k, v):
        scores = np.where(seen, q @ k.T * scale, -np.inf)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return (weights / weights.sum(axis=1, keepdims=True) @ v * d_o).sum()

    step, parts = 1e-5, {"dQ": q, "dK": k, "dV": v}
    for name, part in parts.items():
        place = 3, 11
        old = part[place]
        part[place] = old + step
        more = loss(q, k, v)
        part[place] = old - step
        less = loss(q, k, v)
        part[place] = old
        assert abs((more - less) / (2 * step) - float(arrays[name].view(np.float32)[place])) < 1e-5


def test_unknown_data_class_is_named():
    with pytest.raises(ValueError, match="unknown data class 'gauss'; known: integers, normal"):
        draw("gauss", 1, ("f16", "f16"), (2, 2, 2), None, None)
