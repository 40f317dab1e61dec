"""Settings: defaults, files, single values, and rejected input."""

import pytest

from mh4.errors import InputError
from mh4.parser import config, systems
from mh4.parser.config import Config


def test_toml_round_trip():
    changed = config.with_settings(Config(), ["training.learning_rate=1e-3", "encoder.units=64", "scorer.single_root=false"])
    changed = config.with_settings(changed, ["training.loss=likelihood"])
    assert changed == config.with_settings(changed, ["training.loss='likelihood'"]) and changed.training.loss == "likelihood"
    assert changed.training.learning_rate == 0.001 and changed.encoder.units == 64 and not changed.scorer.single_root
    assert config.override(Config(), config.tables(changed.to_toml(), "here"), "here") == changed


def test_a_file_sets_what_it_names_and_leaves_the_rest(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("[training]\npatience = 2\nclip = 1\n", encoding="utf-8-sig")  # with a byte order mark
    read = systems.settings([str(path)], "mst")
    assert read.training.patience == 2 and read.training.clip == 1.0 and read.encoder == Config().encoder


@pytest.mark.parametrize(
    "assignment, message",
    [
        ("training.learning_rate", "expected section.name=value"),
        ("learning_rate=1", "expected section.name=value"),
        (1, "--set 1: expected section.name=value"),
        ("training.rate=1", "no setting 'training.rate'"),
        ("train.patience=1", "no section 'train'"),
        ("training.patience=1.5", "expected a whole number"),
        ("training.patience=0", "cannot be 0"),
        ("encoder.units=63", "cannot be 63"),
        ("dropout.lstm=1.0", "cannot be 1.0"),
        ("scorer.single_root=1", "expected true or false"),
        ("training.clip=big", "not a number"),
        ("training.loss=square", "cannot be 'square', expected hinge or likelihood"),
        ("training.clip=inf", "cannot be inf, expected a number from 1e-30 to 1e+30"),
        ("training.clip=1979-05-27", "cannot be datetime.date(1979, 5, 27)"),
        ("training.max_updates=1000000000000", "cannot be 1000000000000, expected a whole number from 1 to 1000000000"),
        ("encoder.units=20000", "cannot be 20000, expected an even number from 2 to 10000"),
        ("encoder.units=true", "cannot be True"),
        ("encoder.x.y=1", "no setting 'encoder.x.y'"),
        ("__class__.encoder=1", "no section '__class__'"),
        ("training.label_weight=0", "expected a number from 1e-30 to 1e+30"),  # labels are always learned
    ],
)
def test_what_is_no_setting_is_refused(assignment, message):
    with pytest.raises(InputError) as error:
        config.with_settings(Config(), [assignment])
    assert message in str(error.value) and str(assignment) in str(error.value)


@pytest.mark.parametrize(
    "assignment",
    [
        "training.clip=1" + "0" * 5000,
        "training.clip=0x" + "f" * 9000,
        "encoder.units=" + "[" * 100_000,
        "training.clip=1\nclip=2",
        "x" * 9000 + ".y=1",
        "encoder." + "x" * 9000 + "=1",
        "x" * 9000,
    ],
)
def test_hostile_assignments_are_refused_in_a_short_line(assignment):
    with pytest.raises(InputError) as error:
        config.with_settings(Config(), [assignment])
    assert "\n" not in str(error.value) and len(str(error.value)) < 300


def test_a_file_that_is_not_toml_or_not_there(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("[training\n")
    with pytest.raises(InputError, match="a.toml: not TOML"):
        systems.settings([str(path)], "mst")
    with pytest.raises(InputError, match="cannot be read"):
        systems.settings([str(tmp_path / "none.toml")], "mst")
