"""The toy treebank: a small artificial language with every kind of crossing, to run everything without network access.

    mh4 data toy      writes toy-ud-train.conllu, toy-ud-dev.conllu and toy-ud-test.conllu

Endings mark the structure, so that a parser that reads characters can learn it from 320 sentences. Nouns end in a
case marker (-a nominative, -o accusative, -i dative, -u genitive), determiners (t-) and adjectives (-l-) agree with
their noun in case wherever they stand, and a genitive also repeats the case of the noun it modifies (-ua "of the
subject", -uo "of the object"). The finite verb ends in -et or -it, infinitives in -en, causative infinitives in -un.

Non-projectivity arises from word order (node 0 is the root; the heads of the bare pattern are in parentheses):

    fronting        Adj-o  S-a  V  O-o              an adjective leaves its noun           (4 3 0 3)      MH4 and 1EC
    extraposition   S-a  V  O-o  Gen-ua             a genitive leaves its noun             (2 0 2 1)      MH4 and 1EC
    serial          S-a  O-o  V  Inf                the object depends on the infinitive   (3 4 0 3)      MH4 and 1EC
    both            S-a  Adj-o  V  O-o  Gen-ua      fronting and extraposition             (3 4 0 3 1)    MH4 only
    deep            Adj-u  S-a  V  Gen-ua           fronting out of an extraposed phrase   (4 3 0 2)      1EC only
    serial3         S-a  D-i  O-o  V  Caus  Inf     cross-serial with two infinitives      (4 5 6 0 4 5)  neither

The generator only draws from random.Random.random, whose sequence Python guarantees for a given seed: the files are
byte for byte the same with every version of Python.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from mh4.errors import InputError
from mh4.util.files import make_folder, write_text

Item = TypeVar("Item")

SEED = 2018
SIZES = {"train": 320, "dev": 80, "test": 80}
LENGTHS = range(3, 15)

NOUNS = (
    "kalum berod tinav mosur pelik garud zenit folak ruvem dakin sivor lomet nabur vetil hodak "
    "jarem pisol kuvar temig bolan rifes gomid salup wenor fadik"
).split()
ADJECTIVES = "brem sodi tuv gali nerp fosk wid morg peli zan hest kur".split()
VERBS = "dorp mavik suln tegr wibon hask rulf peng jost binar kelv fomt".split()
CONTROL_VERBS = "velt gund ospar timk".split()  # take an infinitive
CAUSATIVES = "lag nurm".split()  # as infinitives, they take another infinitive
ADVERBS = "mels tovis rapis guns welis pors".split()
SYLLABLES = "ba do ge hi ku la me no pi ro su ta ve wi zo".split()  # of names

CASES = {"a": "Nom", "o": "Acc", "i": "Dat", "u": "Gen"}
# How often each pattern occurs in 40 sentences.
PATTERNS = {"plain": 27, "fronting": 4, "extraposition": 3, "serial": 2, "both": 2, "deep": 1, "serial3": 1}


class Word:
    """A word of a sentence; its head is another Word, or None for the root."""

    def __init__(self, form: str, lemma: str, upos: str, xpos: str, feats: str, deprel: str, head: "Word | None" = None) -> None:
        self.form, self.lemma, self.upos, self.xpos, self.feats = form, lemma, upos, xpos, feats
        self.deprel, self.head = deprel, head


class Grammar:
    """A source of random sentences, lists of Words in surface order."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self.random() * len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        return sorted(items, key=lambda _: self.random())

    # Phrases. `case` is the vowel of the case: "a", "o", "i", or "u" before the vowel of the noun modified.

    def noun(self, case: str, deprel: str, head: Word) -> Word:
        feats = "Case=" + CASES[case[0]]
        if self.chance(0.12):
            stem = "".join(self.pick(SYLLABLES) for _ in range(3)).capitalize() + "n"
            return Word(stem + case, stem, "PROPN", "NNP" + case, feats, deprel, head)
        stem = self.pick(NOUNS)
        return Word(stem + case, stem, "NOUN", "NN" + case, feats, deprel, head)

    def adjective(self, noun: Word, case: str) -> Word:
        stem = self.pick(ADJECTIVES)
        return Word(stem + "l" + case, stem, "ADJ", "JJ" + case, "Case=" + CASES[case], "amod", noun)

    def determiner(self, noun: Word, case: str) -> Word:
        return Word("t" + case, "t", "DET", "DT" + case, "Case=" + CASES[case], "det", noun)

    def noun_phrase(self, case: str, deprel: str, head: Word) -> tuple[Word, list[Word]]:
        """Return the head noun, and the words in order: [determiner] [adjective] noun [genitive, or "ve" noun]."""
        noun = self.noun(case, deprel, head)
        words = [noun]
        if self.chance(0.3):
            words.insert(0, self.adjective(noun, case[0]))
        if self.chance(0.3):
            words.insert(0, self.determiner(noun, case[0]))
        if case in "ao" and len(words) == 1 and self.chance(0.3):
            if self.chance(0.5):
                words.append(self.noun("u" + case, "nmod", noun))
            else:
                other = self.noun(case, "conj", noun)
                words += [Word("ve", "ve", "CCONJ", "CC", "_", "cc", other), other]
        return noun, words

    def oblique(self, verb: Word) -> list[Word]:
        """Return the words of "ke" and a dative. "ke" and the determiner "ti" are written together as "kei"."""
        noun, words = self.noun_phrase("i", "obl", verb)
        return [Word("ke", "ke", "ADP", "IN", "_", "case", noun)] + words

    def verb(self, stems: Sequence[str], ending: str, deprel: str, head: Word | None) -> Word:
        stem = self.pick(stems)
        feats = {
            "et": "Tense=Past|VerbForm=Fin",
            "it": "Tense=Pres|VerbForm=Fin",
            "en": "VerbForm=Inf",
            "un": "VerbForm=Inf|Voice=Cau",
        }[ending]
        return Word(stem + ending, stem, "VERB", "VB" + ending, feats, deprel, head)

    # Clauses

    def clause(self, pattern: str, deprel: str, head: Word | None) -> tuple[Word, list[Word]]:
        """Return the finite verb and the words, in order, of a clause with this pattern."""
        stems = CONTROL_VERBS if pattern.startswith("serial") else VERBS
        verb = self.verb(stems, self.pick(["et", "it"]), deprel, head)
        return verb, getattr(self, pattern)(verb)

    def plain(self, verb: Word) -> list[Word]:
        if self.chance(0.15):  # the subject is dropped
            phrases = [[verb], self.noun_phrase("o", "obj", verb)[1]]
        else:
            _, subject = self.noun_phrase("a", "nsubj", verb)
            if self.chance(0.3):
                phrases = [subject, [verb]]
            else:
                _, object_ = self.noun_phrase("o", "obj", verb)
                phrases = self.pick([[subject, [verb], object_], [subject, object_, [verb]], [object_, [verb], subject]])
        if self.chance(0.3):
            phrases.append(self.oblique(verb))
        return self.adverb(verb) + sum(phrases, [])

    def fronting(self, verb: Word) -> list[Word]:
        object_ = self.noun("o", "obj", verb)
        _, subject = self.noun_phrase("a", "nsubj", verb)
        rest = self.pick([[verb, object_], [object_, verb]])
        return [self.adjective(object_, "o")] + subject + rest + self.adverb(verb)

    def extraposition(self, verb: Word) -> list[Word]:
        subject = self.noun("a", "nsubj", verb)
        _, object_ = self.noun_phrase("o", "obj", verb)
        return self.adverb(verb) + [subject, verb] + object_ + self.noun_phrase("ua", "nmod", subject)[1]

    def serial(self, verb: Word) -> list[Word]:
        infinitive = self.verb(VERBS, "en", "xcomp", verb)
        _, subject = self.noun_phrase("a", "nsubj", verb)
        _, object_ = self.noun_phrase("o", "obj", infinitive)
        return subject + object_ + [verb, infinitive] + self.adverb(verb)

    def both(self, verb: Word) -> list[Word]:
        subject, object_ = self.noun("a", "nsubj", verb), self.noun("o", "obj", verb)
        genitive = self.noun_phrase("ua", "nmod", subject)[1]
        return [subject, self.adjective(object_, "o"), verb, object_] + genitive

    def deep(self, verb: Word) -> list[Word]:
        subject = self.noun("a", "nsubj", verb)
        genitive = self.noun("ua", "nmod", subject)
        object_ = self.noun_phrase("o", "obj", verb)[1] if self.chance(0.6) else []
        return [self.adjective(genitive, "u"), subject, verb] + object_ + [genitive]

    def serial3(self, verb: Word) -> list[Word]:
        causative = self.verb(CAUSATIVES, "un", "xcomp", verb)
        infinitive = self.verb(VERBS, "en", "xcomp", causative)
        _, subject = self.noun_phrase("a", "nsubj", verb)
        causee = self.noun("i", "iobj", causative)
        object_ = self.noun("o", "obj", infinitive)
        return subject + [causee, object_, verb, causative, infinitive]

    def adverb(self, verb: Word) -> list[Word]:
        if self.chance(0.75):
            return []
        form = self.pick(ADVERBS)
        return [Word(form, form, "ADV", "RB", "_", "advmod", verb)]

    # Sentences

    def sentence(self, pattern: str) -> list[Word]:
        """Draw a clause with this pattern, perhaps joined to a plain one by ", ve" ("and") or ", da" ("that").

        Clauses are drawn until the length of the sentence is in LENGTHS.
        """
        while True:
            verb, words = self.clause(pattern, "root", None)
            if self.chance(0.25):
                deprel, linker = self.pick(
                    [("conj", ("ve", "ve", "CCONJ", "CC", "_", "cc")), ("ccomp", ("da", "da", "SCONJ", "IN", "_", "mark"))]
                )
                second, more = self.clause("plain", deprel, verb)
                words = words + [Word(",", ",", "PUNCT", ",", "_", "punct", second), Word(*linker, second)] + more
            words.append(Word(".", ".", "PUNCT", ".", "_", "punct", verb))
            if len(words) in LENGTHS:
                return words


def text_and_tokens(words: Sequence[Word]) -> tuple[str, list[list[Word]]]:
    """Return the text, and the tokens: lists of one word, or of the two words of "kei"."""
    tokens: list[list[Word]] = []
    for word in words:
        if word.form == "ti" and tokens and tokens[-1][-1].form == "ke":
            tokens[-1].append(word)
        else:
            tokens.append([word])
    text = " ".join("kei" if len(token) == 2 else token[0].form for token in tokens)
    return text.replace(" ,", ",").replace(" .", "."), tokens


def conllu(words: Sequence[Word], sent_id: str) -> str:
    """Return a sentence in CoNLL-U. A dropped subject of the main verb is an empty node before it, only in DEPS."""
    number = {word: i for i, word in enumerate(words, 1)}
    text, tokens = text_and_tokens(words)
    root = next(word for word in words if word.head is None)
    dropped = not any(word.head is root and word.deprel == "nsubj" for word in words)
    lines = ["# sent_id = " + sent_id, "# text = " + text]
    for token, following in zip(tokens, tokens[1:] + [[None]], strict=True):
        space = "SpaceAfter=No" if following[0] and following[0].upos == "PUNCT" else "_"
        if len(token) == 2:
            span = f"{number[token[0]]}-{number[token[1]]}"
            lines.append("\t".join([span, "kei"] + ["_"] * 7 + [space]))
            space = "_"
        for word in token:
            if dropped and word is root:
                empty = f"{number[word] - 1}.1"
                deps = f"{number[word]}:nsubj"
                lines.append("\t".join([empty, "za", "za", "PRON", "PRP", "Case=Nom", "_", "_", deps, "_"]))
            head = str(number[word.head]) if word.head else "0"
            deps = head + ":" + word.deprel
            columns = [str(number[word]), word.form, word.lemma, word.upos, word.xpos, word.feats]
            lines.append("\t".join(columns + [head, word.deprel, deps, space]))
    return "\n".join(lines) + "\n\n"


def treebank() -> dict[str, str]:
    """Return the text of the three files, by split, without duplicate sentences."""
    grammar, files = Grammar(SEED), {}
    seen: set[str] = set()
    deck = [pattern for pattern, count in PATTERNS.items() for _ in range(count)]
    for split, size in SIZES.items():
        sentences: list[str] = []
        for pattern in sum((grammar.shuffled(deck) for _ in range(size // len(deck))), []):
            words = grammar.sentence(pattern)
            while text_and_tokens(words)[0] in seen:
                words = grammar.sentence(pattern)
            seen.add(text_and_tokens(words)[0])
            sentences.append(conllu(words, f"toy-{split}-{len(sentences) + 1}"))
        files[split] = "".join(sentences)
    return files


def write(folder: str | Path) -> dict[str, Path]:
    """Write missing files to the folder, each whole or not at all; return the paths of all files, by split.

    Raises InputError if something else is in the place of a file.
    """
    folder = Path(folder)
    make_folder(folder)
    paths = {}
    for split, text in treebank().items():
        path = paths[split] = folder / f"toy-ud-{split}.conllu"
        if not path.exists():
            write_text(str(path), text)
        elif not path.is_file() or path.read_bytes() != text.encode("utf-8"):
            raise InputError("%s exists but is not the file of the toy treebank: move it away, or choose another folder" % path)
    return paths
