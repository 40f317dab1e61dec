"""All functions of decoders: consecutive calls, scores in other forms, and invalid arguments."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from calls import CALLS, comparable
from common import DECODERS, KINDS, VARIANTS, WITH_ARCS, bad_scores, decoders, rng_for

every_call = pytest.mark.parametrize("of, call, options", CALLS.values(), ids=CALLS)


@every_call
def test_sentences_do_not_disturb_each_other(of, call, options):
    """Long and short sentences with various options have the same results forwards, backwards and in two threads."""
    rng = rng_for("turns")
    most = {"mhk-5": 16, "mhk-6": 11}.get(of.name, 30)
    sentences = []
    for i, n in enumerate(np.minimum(rng.integers(1, 30, 24), most).tolist()):
        scores, choices = of.sample(n, rng, KINDS[i % len(KINDS)]), options(n, rng)
        if i % 3 == 2 and of in WITH_ARCS:
            del scores["arcs"]
        sentences.append((scores, choices[i % len(choices)]))

    def found(sentence):
        return comparable(call(sentence[0], **sentence[1]))

    forwards = [found(sentence) for sentence in sentences]
    assert [found(sentence) for sentence in reversed(sentences)] == forwards[::-1]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(found, sentences)) == forwards


@every_call
def test_arguments_and_results_stay_as_they_are(of, call, options):
    n, rng = 9, rng_for("kept")
    scores = of.sample(n, rng)
    arguments = {**scores, **{name: value for choice in options(n, rng) for name, value in choice.items() if name == "cost"}}
    before = comparable(arguments)
    found = call(scores, **{name: value for name, value in arguments.items() if name == "cost"})
    kept = comparable(found)
    call(of.sample(n, rng))
    assert comparable(found) == kept and comparable(arguments) == before


@every_call
@pytest.mark.parametrize("variant", VARIANTS)
def test_other_layouts_and_precisions_of_the_same_scores(of, call, options, variant):
    scores, changed = of.sample(5, rng_for("layout")), VARIANTS[variant]
    for choice in options(5, rng_for("layout")):
        other = {name: changed(value) if name == "cost" else value for name, value in choice.items()}
        expected = comparable(call(scores, **choice))
        assert comparable(call({name: changed(tensor) for name, tensor in scores.items()}, **other)) == expected


@every_call
def test_bad_scores(of, call, options):
    """Invalid scores are rejected with all options, as options may choose other charts."""
    for choice in options(4, rng_for("bad options")):
        good = {**of.sample(4, rng_for("bad")), **{name: value for name, value in choice.items() if name == "cost"}}
        for scores, message, what in bad_scores(good):
            more = {**choice, "cost": scores.pop("cost")} if "cost" in scores else choice
            with pytest.raises(ValueError, match=message):
                call(scores, **more)
                pytest.fail(what)


@every_call
def test_tensors_of_different_sentences(of, call, options):
    four, five = of.sample(4, rng_for("four")), of.sample(5, rng_for("five"))
    for name in list(four)[1:]:
        with pytest.raises(ValueError, match=name):
            call({**four, name: five[name]})


@every_call
@pytest.mark.parametrize("wrong", ["no", "", None, 2, [], [True]], ids=repr)
def test_a_single_root_that_is_neither_true_nor_false(of, call, options, wrong):
    with pytest.raises(ValueError, match="^single_root: expected True or False, got "):
        call(of.sample(3, rng_for("root")), single_root=wrong)


@decoders(*DECODERS)
def test_heads_of_any_type(decoder):
    scores = decoder.sample(5, rng_for("heads"))
    heads = decoder.decode(scores).heads
    for form in (heads.tolist(), heads.astype(np.int64), tuple(heads.tolist())):
        np.testing.assert_array_equal(decoder.decode(scores, heads=form).heads, heads)
