"""Damage copies of a trained model in more than a hundred ways, the same every time."""

import io
import json
import os
import random
import shutil
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SEED = 20180715
FILES = ("config.toml", "vocabulary.json", "weights.npz")
TABLES = ("words", "chars", "upos", "xpos", "feats", "labels")


@dataclass(frozen=True)
class Damage:
    """A change to a copy of a model folder.

    sound: whether the model is still intact, so that every command must work; if not, every command must reject the
    model. None if this is unknown, as for a setting that changes to another valid value.
    """

    name: str
    apply: Callable[[Path], object]  # what it returns is not used
    sound: bool | None = False


def damages() -> Iterator[Damage]:
    yield Damage("none", lambda folder: None, sound=True)
    yield Damage("another file beside it", lambda folder: (folder / "notes.txt").write_text("mine"), sound=True)
    for name in FILES:
        yield from _of_any_file(name)
    yield Damage("an empty folder", lambda folder: [os.unlink(folder / name) for name in FILES])
    yield Damage("a file instead of the folder", _file_for_folder)
    yield Damage("a folder of folders", lambda folder: [_folder_for_file(folder / name) for name in FILES])
    yield from _of_config()
    yield from _of_vocabulary()
    yield from _of_weights()
    yield from _of_calibration()
    yield from _of_records()


# ------------------------------------------------------------------------------------------------------------ any file


def _of_any_file(name: str) -> Iterator[Damage]:
    def rewritten(what: str, change: Callable[[bytes], bytes], sound: bool | None = False) -> Damage:
        return Damage("%s: %s" % (name, what), lambda folder: _rewrite(folder / name, change), sound)

    # A number in config.toml may change to another valid number, and in an archive, a date that is not read may change.
    unknown = False if name == "vocabulary.json" else None

    yield Damage(name + ": missing", lambda folder: os.unlink(folder / name))
    yield Damage(name + ": a folder", lambda folder: _folder_for_file(folder / name))
    yield Damage(name + ": a FIFO", lambda folder: _fifo(folder / name))
    yield Damage(name + ": a device that never ends", lambda folder: _link(folder / name, "/dev/zero"))
    yield Damage(name + ": a link to itself", lambda folder: _link(folder / name, name))
    yield Damage(name + ": a link to nothing", lambda folder: _link(folder / name, "nothing"))
    yield rewritten("empty", lambda content: b"")
    yield rewritten("zeros", lambda content: bytes(len(content)))
    yield rewritten("reversed", lambda content: content[::-1])
    yield rewritten("twice", lambda content: content * 2, None if name == "weights.npz" else False)  # zip reads from the end
    yield rewritten("not UTF-8", lambda content: content[:20] + b"\xff\xfe" + content[20:])
    yield rewritten("UTF-16", lambda content: content.decode("latin-1").encode("utf-16"))
    for share in (0.01, 0.3, 0.5, 0.9, 0.999):
        yield rewritten("the first %.1f %%" % (100 * share), lambda content, share=share: _first(share, content), unknown)
    for seed in range(8):
        yield rewritten("a random byte, %d" % seed, lambda content, seed=seed: _flip(content, seed), unknown)


def _rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def _first(share: float, content: bytes) -> bytes:
    """Return this share of the content without the white space at its end, whose loss would do no damage."""
    return content[: int(share * len(content.rstrip()))]


def _flip(content: bytes, seed: int) -> bytes:
    rng = random.Random(SEED + seed)
    changed = bytearray(content)
    changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _folder_for_file(path: Path) -> None:
    os.unlink(path)
    path.mkdir()


def _file_for_folder(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("not a folder")


def _fifo(path: Path) -> None:
    os.unlink(path)
    os.mkfifo(path)


def _link(path: Path, target: str) -> None:
    os.unlink(path)
    path.symlink_to(target)


# -------------------------------------------------------------------------------------------------------------- config


def _of_config() -> Iterator[Damage]:
    def setting(name: str, value: str) -> Damage:
        return Damage("config.toml: %s = %s" % (name, value[:20]), lambda folder: _set(folder / "config.toml", name, value))

    for name, values in {
        "format": ("0", "1", "99", "2.0", '"2"', "true", "[2]", "9" * 5000),
        "system": ('"mh9"', '""', "1", "true", "[]", '"mh3\\n"', '"../mh3"', '"' + "x" * 100_000 + '"'),
        "seed": ('"1"', "-1", "1.5", "true", "[1]", "99999999999999999999"),
        "units": ("0", "-2", "3", "20000", "1000000000000", "64.0", '"64"', "true", "nan", "inf"),
        "char_dim": ("0", "17", "1000000"),
        "mlp_units": ("49", "-1", "1e3", "1000000000"),
        "layers": ("0", "3", "1000000", "-1"),
        "word_min_count": ("0", '"2"'),
        "single_root": ("1", '"true"', "maybe"),
        "learning_rate": ("nan", "inf", "-1.0", '"fast"'),
    }.items():
        for value in values:
            yield setting(name, value)
    for what, addition in {
        "unknown section": "\n[nonsense]\na = 1\n",
        "unknown setting": "\n[scorer2]\n",
        "section twice": "\n[encoder]\nunits = 64\n",
        "nested tables": "\n[encoder.units.more]\na = 1\n",
        "deep nesting": "\na = " + "[" * 1900 + "]" * 1900 + "\n",
        "deeper nesting": "\na = " + "[" * 20000 + "]" * 20000 + "\n",
        "a key of 200,000 parts": "\n%s = 1\n" % ".".join("a" * 200_000),
        "a key of 30,000 parts": "\n%s = 1\n" % ".".join("a" * 30_000),
        "keys of 1,900 parts": ("\n%s = 1\n" % ".".join("a" * 1900)) * 16,
        "a megabyte of comments": "\n# comment" * 100_000 + "\n",
        "not TOML": "\nunits 64\n",
    }.items():
        yield Damage(
            "config.toml: " + what, lambda folder, a=addition: _rewrite(folder / "config.toml", lambda c: c + a.encode())
        )


def _set(path: Path, name: str, value: str) -> None:
    lines = path.read_text().split("\n")
    assert any(line.startswith(name + " = ") for line in lines), name
    path.write_text("\n".join("%s = %s" % (name, value) if line.startswith(name + " = ") else line for line in lines))


# ---------------------------------------------------------------------------------------------------------- vocabulary


def _of_vocabulary() -> Iterator[Damage]:
    def changed(what: str, change: Callable[[dict], object]) -> Damage:
        def apply(folder: Path) -> None:
            tables = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
            result = change(tables)
            text = result if isinstance(result, str) else json.dumps(tables if result is None else result, ensure_ascii=False)
            (folder / "vocabulary.json").write_text(text, encoding="utf-8", errors="surrogatepass")

        return Damage("vocabulary.json: " + what, apply)

    def table(name: str, change: Callable[[dict], object]) -> Callable[[dict], None]:
        def apply(tables: dict) -> None:
            tables[name] = change(tables[name])

        return apply

    for name in TABLES:
        yield changed(name + " missing", lambda tables, name=name: tables.pop(name) and None)
        yield changed(name + " reordered", table(name, lambda t: dict(reversed(list(t.items())))))
        yield changed(name + " without the last", table(name, lambda t: dict(list(t.items())[:-1])))
        yield changed(name + " with one more", table(name, lambda t: {**t, "more": 1}))
        yield changed(name + " as a list", table(name, list))
        yield changed(name + " null", table(name, lambda t: None))
        for bad in (-1, 1.5, "1", None, [1], True, 10**30):
            yield changed("%s counted %r" % (name, bad), table(name, lambda t, bad=bad: dict.fromkeys(t, bad)))
    for bad in ("a\tb", "a\nb", "a\rb", "", " ", "\x00", "\ud800", "a" * 100_000):
        yield changed("a label %r" % bad[:10], table("labels", lambda t, bad=bad: {**dict(list(t.items())[:-1]), bad: 1}))
    yield changed("a list", lambda tables: list(tables.values()))
    yield changed("a number", lambda tables: "1")
    yield changed("null", lambda tables: "null")
    yield changed("deep nesting", lambda tables: "[" * 100_000 + "]" * 100_000)
    yield changed("an enormous number", lambda tables: '{"words": ' + "9" * 5000 + "}")
    yield changed("NaN", lambda tables: '{"words": NaN}')


# ------------------------------------------------------------------------------------------------------------- weights


def _of_weights() -> Iterator[Damage]:
    def changed(what: str, change: Callable[[dict], object]) -> Damage:
        def apply(folder: Path) -> None:
            with np.load(folder / "weights.npz") as file:
                arrays = dict(file)
            change(arrays)
            with open(folder / "weights.npz", "wb") as file:
                np.savez(file, **arrays)

        return Damage("weights.npz: " + what, apply)

    def first(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[dict], None]:
        def apply(arrays: dict) -> None:
            arrays["p0"] = change(arrays["p0"])

        return apply

    def value(number: float) -> Callable[[np.ndarray], np.ndarray]:
        def apply(array: np.ndarray) -> np.ndarray:
            array = array.astype(np.float64)
            array.flat[0] = number
            return array

        return apply

    yield changed("p0 missing", lambda arrays: arrays.pop("p0"))
    yield changed("no arrays", lambda arrays: arrays.clear())
    yield changed("p0 and p1 exchanged", lambda arrays: arrays.update(p0=arrays["p1"], p1=arrays["p0"]))
    yield changed("p0 negated", first(lambda a: -a))
    yield changed("p0 transposed", first(lambda a: a.T))
    yield changed("p0 flat", first(np.ravel))
    yield changed("p0 too small", first(lambda a: a[:-1]))
    yield changed("p0 without numbers", first(lambda a: a[:0]))
    yield changed("all zero", lambda arrays: arrays.update({name: np.zeros_like(a) for name, a in arrays.items()}))
    for number in (np.nan, np.inf, -np.inf, 1e300, 1e38, 3.4e38):
        yield changed("p0 with %g" % number, first(value(number)))
    for kind in ("complex64", "int64", "bool", "U8", "S4", "float16", "datetime64[s]", "object"):
        yield changed("p0 as " + kind, first(lambda a, kind=kind: _as(a, kind)))
    for what, names in {
        "a member that is no array": ["notes"],
        "a member that is no file of numpy": ["notes.npy"],
        "p0 twice": ["p0.npy"],
        "p0 with and without its extension": ["p0"],
        "a folder": ["folder/"],
        "members with odd names": ["../../p0.npy", "/p0.npy", "\x1b[31m.npy", "x" * 60_000],
        "30,000 members": ["%d.npy" % k for k in range(30_000)],
    }.items():
        yield Damage("weights.npz: " + what, lambda folder, names=names: _add_members(folder / "weights.npz", names))
    yield Damage("weights.npz: a single array", lambda folder: (folder / "weights.npz").write_bytes(_npy(np.zeros(3))))
    yield Damage("weights.npz: an enormous array", lambda folder: (folder / "weights.npz").write_bytes(_enormous()))


def _add_members(path: Path, names: list[str]) -> None:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")  # the warning about a repeated name
        for name in names:
            archive.writestr(name, b"not an array")


def _as(array: np.ndarray, kind: str) -> np.ndarray:
    return array.astype(np.int64).astype(kind) if kind.startswith("datetime") else array.astype(kind)


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _enormous() -> bytes:
    """Return an archive whose first array claims to have 10^15 numbers."""
    header = _npy(np.zeros(1, dtype=np.float32)).replace(b"(1,), }" + b" " * 15, b"(%d,), }" % 10**15)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("p0.npy", header)
    return file.getvalue()


# --------------------------------------------------------------------------------------------- calibration, and records


def _of_calibration() -> Iterator[Damage]:
    name = "calibration.json"
    yield Damage(name + ": missing", lambda folder: os.unlink(folder / name), sound=True)
    yield Damage(name + ": a folder", lambda folder: _folder_for_file(folder / name))
    yield Damage(name + ": a FIFO", lambda folder: _fifo(folder / name))
    for target in ("/dev/zero", "/dev/null", "nothing", name):
        yield Damage("%s: a link to %s" % (name, target), lambda folder, target=target: _link(folder / name, target))
    good = {"temperature": 1.5, "nll": 0.5, "uncalibrated_nll": 0.75}
    texts = ["", "1", "null", "[]", "{}", "[" * 100_000, '{"a":' * 100_000, "9" * 5000, '"\udcff"', " " * 10**6]
    for bad in (0, -1, None, True, "1", [1], {}, float("nan"), float("inf"), 1e-300, 1e300, 10**400):
        texts.append(json.dumps({**good, "temperature": bad}))
    for changed in ({"nll": "1"}, {"nll": None}, {"more": 1}, {"temperature ": 1.5}):
        texts.append(json.dumps({**good, **changed}))
    for k, text in enumerate(texts):
        content = text.encode("utf-8", "surrogateescape")
        yield Damage("%s: text %d" % (name, k), lambda folder, content=content: (folder / name).write_bytes(content))


def _of_records() -> Iterator[Damage]:
    """Damage the records of training, which only `mh4 info` reads. It may reject them, or print their content."""
    for name in ("summary.json", "metrics.jsonl"):

        def damaged(what: str, apply: Callable[[Path], object], name: str = name) -> Damage:
            def both(folder: Path) -> None:
                if name == "metrics.jsonl":  # only read if training has not finished
                    os.unlink(folder / "summary.json")
                apply(folder / name)

            return Damage("%s: %s" % (name, what), both, sound=None)

        yield damaged("a FIFO", _fifo)
        yield damaged("a folder", _folder_for_file)
        for target in ("/dev/zero", "/dev/null", "nothing", name):
            yield damaged("a link to " + target, lambda path, target=target: _link(path, target))
        infinite = '{"updates": Infinity, "best_dev_uas": -Infinity, "evaluations": NaN}'
        for k, text in enumerate(
            ("", "1\n", "{}\n", "[" * 100_000 + "\n", '{"a":' * 100_000 + "\n", infinite + "\n", "x" * 10**7)
        ):
            yield damaged("text %d" % k, lambda path, text=text: path.write_bytes(text.encode()))
