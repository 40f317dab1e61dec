"""Use a transformer of the `transformers` library as the encoder of torch_parser.py."""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Transformer(nn.Module):
    """Vectors (B, N+2, units) of the root, the words and the end of each sentence, from a model in a local folder.

    They are those of the first token, such as [CLS], the first token of each word, and the last token, such as [SEP].
    """

    def __init__(self, folder: str) -> None:
        super().__init__()
        from transformers import AutoModel, AutoTokenizer  # only this encoder needs them

        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, add_prefix_space=True)
        self.model = AutoModel.from_pretrained(folder, local_files_only=True)
        self.units = self.model.config.hidden_size

    def forward(self, sentences: list[list[str]]) -> torch.Tensor:
        tokens = self.tokenizer(sentences, is_split_into_words=True, padding=True, padding_side="right", return_tensors="pt")
        hidden = self.model(**tokens).last_hidden_state
        rows = []
        for b, sentence in enumerate(sentences):
            of = tokens.word_ids(b)  # the word of each token
            first = [of.index(word) if word in of else 0 for word in range(len(sentence))]  # some words may have no tokens
            rows.append(hidden[b, [0, *first, int(tokens.attention_mask[b].sum()) - 1]])
        return pad_sequence(rows, batch_first=True)
