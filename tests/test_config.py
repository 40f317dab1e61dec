"""Settings: defaults, files, single values, and rejected input."""

import pytest

from mh4 import config
from mh4.config import Config
from mh4.errors import InputError


def test_toml_round_trip():
    changed = config.with_settings(Config(), ["training.learning_rate=1e-3", "encoder.units=64", "scorer.single_root=false"])
    changed = config.with_settings(changed, ["training.loss=likelihood"])
    assert changed == config.with_settings(changed, ["training.loss='likelihood'"]) and changed.training.loss == "likelihood"
    assert changed.training.learning_rate == 0.001 and changed.encoder.units == 64 and not changed.scorer.single_root
    assert config.override(Config(), config.tables(changed.to_toml(), "here"), "here") == changed


def test_a_file_sets_what_it_names_and_leaves_the_rest(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("[training]\npatience = 2\nclip = 1\n")
    read = config.read(str(path))
    assert read.training.patience == 2 and read.training.clip == 1.0 and read.encoder == Config().encoder


@pytest.mark.parametrize(
    "assignment, message",
    [
        ("training.learning_rate", "expected section.name=value"),
        ("learning_rate=1", "expected section.name=value"),
        ("training.rate=1", "no setting training.rate"),
        ("train.patience=1", "no section 'train'"),
        ("training.patience=1.5", "expected a whole number"),
        ("training.patience=0", "cannot be 0"),
        ("encoder.units=63", "cannot be 63"),
        ("dropout.lstm=1.0", "cannot be 1.0"),
        ("scorer.single_root=1", "expected true or false"),
        ("training.clip=big", "not a number"),
        ("training.loss=square", "cannot be 'square'"),
        ("training.loss=1", "expected a name"),
    ],
)
def test_what_is_no_setting_is_refused(assignment, message):
    with pytest.raises(InputError) as error:
        config.with_settings(Config(), [assignment])
    assert message in str(error.value) and assignment in str(error.value)


def test_a_file_that_is_not_toml_or_not_there(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("[training\n")
    with pytest.raises(InputError, match="a.toml: not TOML"):
        config.read(str(path))
    with pytest.raises(InputError, match="cannot be read"):
        config.read(str(tmp_path / "none.toml"))
