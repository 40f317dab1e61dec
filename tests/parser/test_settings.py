"""`mh4 settings`: everything that can be set, as text and as a file to be edited."""

import dataclasses
import tomllib

from click.testing import CliRunner

from mh4 import cli
from mh4.parser import config, systems
from mh4.parser.config import Config
from mh4.parser.settings_help import THEIRS, sections


def printed(*options):
    done = CliRunner().invoke(cli.main, ["settings", *options])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_text_has_every_setting_in_80_columns():
    text = printed()
    assert max(map(len, text.splitlines())) <= 80
    for section in sections():
        for setting in section.settings:
            line = "%s.%s = %s  (%s)\n" % (section.name, setting.name, setting.default, setting.allowed)
            assert line in text
            assert " ".join(setting.meaning.split()) in " ".join(text.split())
    ours, theirs = text.split(THEIRS)
    assert "scorer.greedy = " in theirs and "scorer.greedy" not in ours and "scorer.mlp_units" not in theirs
    assert "training.learning_rate = 0.002  (a number from 1e-30 to 1e+30)\n    of Adam\n" in text


def test_the_file_can_be_edited_and_read(tmp_path):
    text = printed("--toml")
    assert config.override(Config(), tomllib.loads(text), "the file") == Config()
    assert {name: list(values) for name, values in tomllib.loads(text).items()} == {
        section.name: [setting.name for setting in section.settings] for section in sections()
    }
    assert max(map(len, text.splitlines())) <= 80
    path = tmp_path / "my.toml"
    path.write_text(
        text.replace("learning_rate = 0.002", "learning_rate = 0.5").replace("word_input = 'sum'", "word_input = 'embedding'")
    )
    changed = systems.settings([str(path)], "mst")
    assert changed.training.learning_rate == 0.5 and changed.encoder.word_input == "embedding"
    assert dataclasses.replace(changed.training, learning_rate=0.002) == Config().training
