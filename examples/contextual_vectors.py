"""Write a transformer's vectors of the words of treebanks, for `mh4 train --contextual` and `mh4 parse --contextual`.

    python examples/contextual_vectors.py --transformer FOLDER -o vectors.safetensors TRAIN.conllu DEV.conllu TEST.conllu

FOLDER has a model of the `transformers` library. It needs `pip install safetensors torch transformers`.
"""

import click
import torch
from safetensors.torch import save
from transformers import AutoModel, AutoTokenizer

from mh4.cli.group import Commands
from mh4.cli.paths import NAMED_OUTPUT, PATH
from mh4.data import conllu
from mh4.parser.contextual_vectors import key
from mh4.util.files import write_bytes


class Encoder:
    """The hidden states of a layer of a transformer, averaged over the tokens of each word."""

    def __init__(self, folder: str, layer: int) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, add_prefix_space=True)
        self.model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
        positions = self.model.config.max_position_embeddings  # -1 if there may be any number of tokens
        self.layer, self.longest = layer, min([self.tokenizer.model_max_length] + [positions] * (positions > 0))

    @torch.no_grad()
    def __call__(self, words: list[str]) -> torch.Tensor:
        """Return vectors (n, units) of n words. Sentences that are too long for the transformer are split in halves.

        A single word that is too long is truncated.
        """
        tokens = self.tokenizer(
            words, is_split_into_words=True, return_tensors="pt", truncation=len(words) == 1, max_length=self.longest
        )
        if tokens.input_ids.shape[1] > self.longest:
            half = len(words) // 2
            return torch.cat([self(words[:half]), self(words[half:])])
        hidden = self.model(**tokens, output_hidden_states=True).hidden_states[self.layer][0]
        of = torch.tensor([len(words) if word is None else word for word in tokens.word_ids()])  # the word of each token
        sums = torch.zeros(len(words) + 1, hidden.shape[1]).index_add(0, of, hidden)
        return (sums / of.bincount(minlength=len(words) + 1).clamp(min=1)[:, None])[:-1]  # some words may have no tokens


@click.group(cls=Commands, invoke_without_command=True)
@click.argument("treebanks", nargs=-1, required=True, type=PATH, metavar="FILE.conllu...")
@click.option(
    "--transformer",
    required=True,
    type=click.Path(exists=True, file_okay=False),
    metavar="FOLDER",
    help="A model of the transformers library.",
)
@click.option("--layer", default=-1, show_default=True, help="The hidden layer; -1 is the last.")
@click.option("--output", "-o", required=True, type=NAMED_OUTPUT, metavar="OUT.safetensors")
def main(treebanks: tuple[str, ...], transformer: str, layer: int, output: str) -> None:
    """Write the vectors of all sentences of these files."""
    encoder = Encoder(transformer, layer)
    words = (block.sentence.words for path in treebanks for block in conllu.blocks(path, trees=False))
    sentences = {key(sentence): sentence for sentence in words}  # some recur
    vectors = {name: encoder(words).half().contiguous() for name, words in sentences.items()}
    write_bytes(output, save(vectors))  # save_file would make a file that only its owner may read
    click.echo("%s: vectors of %d sentences" % (output, len(vectors)))


if __name__ == "__main__":
    main()
