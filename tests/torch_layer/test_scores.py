"""Score tensors from vectors of nodes, against the registry of systems and the scorer in DyNet."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from common import rng_for

from mh4.decoders.batch import DECODERS
from mh4.parser.config import Config, with_settings
from mh4.parser.systems import SYSTEMS

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make torch-test` runs these tests")
from mh4.torch import Scores, TreeDistribution  # noqa: E402
from mh4.torch.scores import ENDS, NODES, POSITIONS  # noqa: E402

SYSTEM_OF = {"mh3": "mh3", "mh4": "mh4-hybrid", "mh5": "mh5-hybrid", "mst": "mst", "1ec": "1ec"}
LENGTHS, LONGEST, UNITS, MLP_UNITS = [3, 1, 4], 5, 7, 6
every_decoder = pytest.mark.parametrize("name", DECODERS)
every_kind_of_nodes = pytest.mark.parametrize("nodes", NODES)


def vectors(name, nodes="words", padding=0.0, lengths=LENGTHS, longest=LONGEST):
    """Return random vectors of nodes, with `padding` beyond each sentence, and lengths."""
    rng = rng_for("scores", name)
    more = 2 if nodes == "all" else 0
    hidden = torch.from_numpy(rng.normal(size=(len(lengths), longest + 2, UNITS)).astype(np.float32))
    hidden = hidden if more else hidden[:, 1:-1].clone()
    for b, n in enumerate(lengths):
        hidden[b, n + more :] = padding
    return hidden, torch.tensor(lengths)


def scorer(name, nodes="words", **options):
    torch.manual_seed(1)
    return Scores(name, UNITS, MLP_UNITS, 0.3, nodes=nodes, **options).eval()


def loss(name, scores, lengths):
    """Return a loss that has gradients with respect to every score tensor."""
    gold = torch.tensor([[-1, 2, 0, 2, -1, -1], [-1, 0, -1, -1, -1, -1], [-1, 2, 0, 4, 2, -1]])
    trees = TreeDistribution(name, scores, lengths)
    return (trees.log_partition if DECODERS[name].marginals else trees.structured_hinge(gold)).sum()


def inside(name, tensor, b):
    """Return the index of the corner of a tensor that a sentence uses."""
    return (b, ...) + tuple(slice(side) for side in DECODERS[name].tensors[tensor].of(LENGTHS[b])[-2:])


@every_decoder
@every_kind_of_nodes
def test_a_distribution_takes_them(name, nodes):
    hidden, lengths = vectors(name, nodes)
    made = scorer(name, nodes)(hidden, lengths)
    expected = {
        tensor: (3, *shape.of(LONGEST)) for tensor, shape in DECODERS[name].tensors.items() if tensor != "arcs" or name == "mst"
    }
    assert {tensor: tuple(numbers.shape) for tensor, numbers in made.items()} == expected
    trees = TreeDistribution(name, made, lengths).argmax
    assert trees.shape == (3, LONGEST + 1) and ((trees == 0).sum(1) == 1).all()


def test_positions_are_those_of_the_systems():
    """Tensors have the positions and shapes of the systems in the registry."""
    for name, system in SYSTEM_OF.items():
        for tensor in SYSTEMS[system].tensors:
            shape = DECODERS[name].tensors[tensor.name]
            assert POSITIONS[tensor.name] == tensor.positions
            assert (shape.rows, shape.columns) == tuple(1 + sentinel for sentinel in tensor.sentinel)
            assert shape.layers == (() if tensor.matrices is None else (tensor.matrices,))
        made = list(scorer(name).shapes)
        assert made == [tensor.name for tensor in SYSTEMS[system].tensors]


def used(tensor, shape, n):
    """Return the pairs of nodes of a tensor that a decoder may read.

    Node n+1 is a missing sibling or grandparent, or the end of the buffer, but never on the stack.
    """
    more = [shape.rows, shape.columns]
    sides = [n + (m if p in ENDS else 1) for p, m in zip(POSITIONS[tensor], more)]
    return itertools.product(*map(range, sides))


@every_decoder
@every_kind_of_nodes
def test_the_padding_has_no_influence(name, nodes):
    """Scores and gradients, which all parameters have, do not depend on the padding."""
    model = scorer(name, nodes)
    results = []
    for padding in (0.0, 5.0, torch.nan, torch.inf):
        hidden, lengths = vectors(name, nodes, padding)
        hidden.requires_grad_()
        model.zero_grad()
        made = model(hidden, lengths)
        loss(name, made, lengths).backward()
        more = 2 if nodes == "all" else 0
        for b, n in enumerate(LENGTHS):
            assert (hidden.grad[b, n + more :] == 0).all()
            assert (hidden.grad[b, :n] != 0).any(dim=1).all() or n == 1  # one tree only
        results.append([*(made[tensor][inside(name, tensor, b)] for tensor in made for b in range(3))])
        results[-1] += [weights.grad.clone() for weights in model.parameters()]
        assert all(weights.grad.any() for weights in model.parameters())
    for others in results[1:]:
        for first, other in zip(results[0], others, strict=True):
            torch.testing.assert_close(first, other)
    alone = model(hidden[:1, : LENGTHS[0] + more].detach(), lengths[:1])  # with less padding
    for tensor, numbers in alone.items():
        torch.testing.assert_close(numbers[inside(name, tensor, 0)], made[tensor][inside(name, tensor, 0)])


@pytest.mark.parametrize("end", ["encoded", "learned"])
@pytest.mark.parametrize("name", SYSTEM_OF)
def test_they_are_those_of_the_scorer_in_dynet(name, end):
    """With the same weights and vectors, scores are those of the scorer in DyNet."""
    pytest.importorskip("dynet", reason="DyNet is not installed")
    from mh4.parser import authors
    from mh4.parser.network.graph import dy, lock

    config = with_settings(Config(), ["scorer.end=%s" % end, "scorer.mlp_units=%d" % MLP_UNITS, "encoder.units=%d" % 8])
    chosen = authors.parts(SYSTEMS[SYSTEM_OF[name]], config)
    system = replace(chosen.system, tree_class="any")  # otherwise, mh3 has learned ends before the MLPs
    torch.manual_seed(1)
    model = Scores(name, 8, MLP_UNITS, nodes="all" if end == "encoded" else "words").eval()
    columns, stop = [], 0
    for n in LENGTHS:
        columns.append((stop, stop + n + 2))
        stop += n + 2
    rows = torch.from_numpy(rng_for("scores in dynet", name).normal(size=(stop, 8)).astype(np.float32))
    sentences = [rows[start:stop].clone() for start, stop in columns]
    if end == "learned":
        for sentence in sentences:
            sentence[0] = model.root.detach()
        rows = torch.cat(sentences)
        sentences = [sentence[1:-1] for sentence in sentences]
    with torch.no_grad():
        found = model(torch.nn.utils.rnn.pad_sequence(sentences, batch_first=True), torch.tensor(LENGTHS))
    with lock:
        dy.renew_cg()
        parameters = dy.ParameterCollection()  # must outlive the scorer
        theirs = chosen.scorer(system, config, parameters)
        ends = theirs.after.vectors if end == "learned" else {}
        assert set(theirs.mlps) == set(model.mlps) and set(ends) >= set(getattr(model, "ends", ()))
        for position, mlp in theirs.mlps.items():
            mlp.map.weights.set_value(model.mlps[position][0].weight.detach().numpy())
            mlp.map.bias.set_value(model.mlps[position][0].bias.detach().numpy())
        for position, vector in getattr(model, "ends", {}).items():
            ends[position].set_value(vector.detach().numpy()[:, None])
        for tensor, layer in theirs.layers.items():
            layer.weights.set_value(model.weights[tensor].detach().numpy().reshape(layer.weights.shape()))
        scores = theirs(dy.inputTensor(rows.numpy().T), columns, training=False)
        dy.forward([expression for each in scores.expressions.values() for expression in each])
        for b, arrays in enumerate(scores.arrays()):
            assert set(arrays) == set(found)
            for tensor, array in arrays.items():
                for i, j in used(tensor, model.shapes[tensor], LENGTHS[b]):
                    np.testing.assert_allclose(found[tensor][b, ..., i, j].numpy(), array[..., i, j], atol=1e-5)


def test_other_tensors():
    hidden, lengths = vectors("mh4")
    two = scorer("mh4", tensors=("shift", "reduce_s0b0"))
    assert list(two(hidden, lengths)) == ["shift", "reduce_s0b0"] and "s1" not in two.mlps
    arcs = scorer("mh4", tensors=["arcs", "shift", "reduce_s0b0", "reduce_s1s0"])(hidden, lengths)
    assert arcs["arcs"].shape == (3, LONGEST + 1, LONGEST + 1)
    assert TreeDistribution("mh4", arcs, lengths).log_partition.isfinite().all()


def test_other_types_and_no_sentences():
    hidden, lengths = vectors("mh4")
    assert scorer("mh4").double()(hidden.double(), lengths)["shift"].dtype == torch.float64
    assert scorer("mh4")(hidden[:0], lengths[:0])["shift"].shape == (0, LONGEST + 2, LONGEST + 2)
    empty = scorer("mh4")(torch.zeros(1, 0, UNITS), torch.zeros(1, dtype=torch.long))
    assert TreeDistribution("mh4", empty, torch.tensor([0]), single_root=False).argmax.tolist() == [[-1]]


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8], ids=str)
def test_lengths_of_a_narrow_type(dtype):
    """Lengths may be the largest number of their type, although the end of the sentence is one more."""
    words = torch.iinfo(dtype).max
    hidden = torch.from_numpy(rng_for("narrow", words).normal(size=(1, words, 7))).float()
    model = scorer("mh3")
    found, expected = (model(hidden, torch.tensor([words], dtype=each)) for each in (dtype, torch.long))
    assert all(torch.equal(found[tensor], expected[tensor]) for tensor in expected)


@pytest.mark.parametrize(
    "arguments, options, message",
    [
        (("mh6", 4), {}, "^no decoder 'mh6'; there are "),
        (("mh4", 4), {"tensors": ("shift",)}, "^tensors: mh4 has shift, reduce_s0b0, reduce_s1s0, arcs, got shift$"),
        (("mst", 4), {"tensors": ("arcs", "arc")}, "^tensors: mst has arcs, got arcs, arc$"),
        (("mst", 4), {"nodes": "root"}, "^nodes: expected words or all, got 'root'$"),
        (("mst", 0), {}, "^units, mlp_units: expected at least 1, got 0 and 192$"),
    ],
)
def test_what_cannot_be_made(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        Scores(*arguments, **options)


def test_what_it_does_not_take():
    hidden, lengths = vectors("mst")
    for wrong in (hidden[0], hidden[..., 1:]):
        with pytest.raises(ValueError, match=r"^hidden: expected the shape \(B, N, 7\), got \("):
            scorer("mst")(wrong, lengths)
    with pytest.raises(ValueError, match=r"^hidden: expected the shape \(B, N\+2, 7\), got \(3, 1, 7\)"):
        scorer("mst", "all")(hidden[:, :1], lengths)
    for wrong, name in ((hidden.tolist(), "hidden"), (lengths.tolist(), "lengths")):
        with pytest.raises(ValueError, match="^%s: expected a tensor, got list$" % name):
            scorer("mst")(*((wrong, lengths) if name == "hidden" else (hidden, wrong)))
    for wrong in (lengths[1:], lengths.float(), lengths > 0, lengths + 2, lengths - 2):
        with pytest.raises(ValueError, match="^lengths: expected 3 integers from 0 to 5, got "):
            scorer("mst")(hidden, wrong)
