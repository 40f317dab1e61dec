"""`mh4 settings` prints all settings as a file to edit."""

import dataclasses
import tomllib

from running import succeeds

from mh4.parser import config, systems
from mh4.parser.config import Config
from mh4.parser.settings_help import THEIRS, sections


def test_the_list_can_be_edited_and_read(tmp_path):
    text = succeeds("settings").decode()
    assert config.override(Config(), tomllib.loads(text), "the file") == Config()
    assert {name: list(values) for name, values in tomllib.loads(text).items()} == {
        section.name: [setting.name for setting in section.settings] for section in sections()
    }
    assert max(map(len, text.splitlines())) <= 80
    unwrapped = " ".join(text.replace("\n# ", " ").split())
    for section in sections():
        for setting in section.settings:
            assert "%s (%s) %s = %s " % (setting.meaning, setting.allowed, setting.name, setting.default) in unwrapped + " "
    ours, theirs = text[text.index("[scorer]") : text.index("[dropout]")].split("# " + THEIRS)
    assert "greedy = " in theirs and "greedy = " not in ours and "mlp_units = " not in theirs
    path = tmp_path / "my.toml"
    path.write_text(
        text.replace("learning_rate = 0.002", "learning_rate = 0.5").replace("word_input = 'sum'", "word_input = 'embedding'")
    )
    changed = systems.settings([str(path)], "mst")
    assert changed.training.learning_rate == 0.5 and changed.encoder.word_input == "embedding"
    assert dataclasses.replace(changed.training, learning_rate=0.002) == Config().training
