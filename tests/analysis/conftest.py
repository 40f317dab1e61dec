import pytest
import segmented


@pytest.fixture
def paths(tmp_path):
    """The files gold.conllu, a.conllu and b.conllu, counted by hand; see segmented.py."""
    files = {"gold": segmented.GOLD, "a": segmented.A, "b": segmented.B}
    for name, sentences in files.items():
        (tmp_path / (name + ".conllu")).write_text(segmented.as_conllu(sentences))
    return [str(tmp_path / (name + ".conllu")) for name in files]
