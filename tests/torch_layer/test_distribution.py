"""Tree distributions for PyTorch, against the batches of decoders that they call and numerical gradients."""

import copy
import itertools
import pickle
import threading

import brute
import numpy as np
import pytest
from common import every_root, padded, rng_for

from mh4.decoders import batch
from mh4.decoders.batch import DECODERS

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make torch-test` runs these tests")
from mh4.torch import TreeDistribution  # noqa: E402

WITH_SUMS = [name for name, decoder in DECODERS.items() if decoder.marginals]
WITH_SAMPLES = [name for name, decoder in DECODERS.items() if decoder.sample]
every_decoder = pytest.mark.parametrize("name", DECODERS)
every_sum = pytest.mark.parametrize("name", WITH_SUMS)
LENGTHS, LONGEST = [3, 1, 4], 5
FORMS = {"mh3": [(), ("arcs",)], "mh4": [(), ("arcs",), ("reduce_s1s0",), ("arcs", "reduce_s1s0")]}  # optional tensors left out


def sample(name, rng, dtype=torch.float64, left_out=(), lengths=LENGTHS, longest=LONGEST, padding=float("nan")):
    """Return random scores of a batch, without the tensors in `left_out`, and lengths."""
    tensors = {}
    for tensor, numbers in padded(name, lengths, longest, rng, left_out=left_out).items():
        tensors[tensor] = torch.from_numpy(np.where(np.isnan(numbers), padding, numbers)).to(dtype)
    return tensors, torch.tensor(lengths)


def arrays(tensors):
    """Return the scores for the functions of mh4.decoders.batch."""
    return {tensor: numbers.numpy() for tensor, numbers in tensors.items()}


def forms(names):
    return [(name, left_out) for name in names for left_out in FORMS.get(name, [()])]


def dot(counts, tensors):
    """Return the sum of all scores, each times its count; (B,)."""
    return sum((counts[tensor] * numbers.nan_to_num().numpy()).reshape(3, -1).sum(axis=1) for tensor, numbers in tensors.items())


def near(found, expected, size=1e-9):
    np.testing.assert_allclose(found.detach().numpy(), expected, atol=size, rtol=size)


def some_trees(rng, single_root=True):
    rows = [[*brute.random_tree(n, rng, single_root), *[-1] * (LONGEST - n)] for n in LENGTHS]
    return torch.tensor(rows)


# ------------------------------------------------------------------------------------------------------ values


@pytest.mark.parametrize("name, left_out", forms(DECODERS), ids=str)
@every_root
def test_values_are_those_of_the_decoder(name, left_out, single_root):
    tensors, lengths = sample(name, rng_for("torch values", name, left_out), left_out=left_out)
    found = TreeDistribution(name, tensors, lengths, single_root=single_root)
    best = batch.decode(name, arrays(tensors), LENGTHS, single_root=single_root)
    assert found.argmax.dtype == torch.long and found.argmax.tolist() == best.heads.tolist()
    near(found.max, best.scores, 1e-6)  # the decoder rounds scores to float32
    if name in WITH_SUMS:
        sums = batch.marginals(name, arrays(tensors), LENGTHS, single_root=single_root)
        near(found.log_partition, sums.log_partition)
        near(found.marginals, sums.arcs)
        near(found.entropy, sums.log_partition - dot(sums.parts, tensors))


@every_sum
def test_the_probability_of_partial_trees(name):
    rng = rng_for("torch partial", name)
    tensors, lengths = sample(name, rng)
    found = TreeDistribution(name, tensors, lengths)
    near(found.log_prob(torch.full((3, LONGEST + 1), -1)), np.zeros(3))
    for _ in range(10):
        heads = some_trees(rng)
        heads[torch.from_numpy(rng.random(heads.shape) < 0.5)] = -1
        heads[:, 1:][torch.from_numpy(rng.random(heads[:, 1:].shape) < 0.2)] = -2
        with_heads = batch.log_partition(name, arrays(tensors), LENGTHS, heads=heads.numpy(), single_root=True, allow_none=True)
        expected = with_heads - found.log_partition.numpy()
        near(found.log_prob(heads), expected)
        heads[:, 0] = 0  # as in other libraries; this and the padding are ignored
        heads[1, 2:] = 77
        near(found.log_prob(heads), expected)
    cycle = torch.tensor([[-1, 2, 1, 0, -1, -1], [-1, 0, -1, -1, -1, -1], [-1, -1, -1, 3, -1, -1]])
    assert found.log_prob(cycle).tolist() == [-np.inf, pytest.approx(0, abs=1e-9), -np.inf]


@every_sum
def test_cross_entropy_and_kl(name):
    rng = rng_for("torch kl", name)
    (ours, lengths), (theirs, _) = sample(name, rng), sample(name, rng)
    p, q = (TreeDistribution(name, tensors, lengths) for tensors in (ours, theirs))
    counts = batch.marginals(name, arrays(ours), LENGTHS, single_root=True).parts
    expected = q.log_partition.numpy() - dot(counts, theirs)
    near(p.cross_entropy(q), expected)
    near(p.kl(q), expected - p.entropy.numpy())
    near(p.kl(p), np.zeros(3))
    first = next(iter(theirs))
    theirs[first] = theirs[first].clone()
    theirs[first][2, 1, 2] = -torch.inf
    assert p.kl(TreeDistribution(name, theirs, lengths)).isinf().tolist() == [False, False, True]
    assert p.kl(p).isfinite().all()
    with pytest.raises(ValueError, match="^the distributions differ in"):
        p.kl(TreeDistribution(name, theirs, lengths, single_root=False))


@every_decoder
def test_structured_hinge(name):
    rng = rng_for("torch hinge", name)
    tensors, lengths = sample(name, rng)
    found = TreeDistribution(name, tensors, lengths)
    tree = TreeDistribution(name, sample(name, rng)[0], lengths).argmax
    nodes = torch.arange(LONGEST + 1)
    for cost, open_share in itertools.product((None, torch.from_numpy(rng.random((3, LONGEST + 1, LONGEST + 1)))), (0, 0.5, 1)):
        gold = torch.where(torch.from_numpy(rng.random(tree.shape)) < open_share, -1, tree)
        wrong = (gold[:, None, :] != nodes[:, None]) & (gold[:, None, :] >= 0)
        costs = (wrong.double() if cost is None else cost).numpy()
        best = batch.decode(name, arrays(tensors), LENGTHS, cost=costs, single_root=True)
        right = batch.decode(name, arrays(tensors), LENGTHS, heads=gold.numpy(), single_root=True)
        near(found.structured_hinge(gold, cost), best.scores - right.scores, 1e-5)
    assert (found.structured_hinge(found.argmax, torch.zeros(3, LONGEST + 1, LONGEST + 1)) == 0).all()


@every_sum
def test_the_probability_of_several_trees_of_each_sentence(name):
    """log_prob accepts samples of any shape, as in PyTorch's own distributions."""
    rng = rng_for("torch samples", name)
    tensors, lengths = sample(name, rng)
    first = next(iter(tensors.values())).requires_grad_()
    trees = TreeDistribution(name, tensors, lengths)
    heads = torch.stack([some_trees(rng) for _ in range(6)]).reshape(2, 3, 3, LONGEST + 1)
    found = trees.log_prob(heads)
    for x in range(2):
        for y in range(3):
            assert torch.equal(found[x, y], trees.log_prob(heads[x, y]))
    (gradient,) = torch.autograd.grad(found.sum(), first)
    expected = sum(torch.autograd.grad(trees.log_prob(each).sum(), first)[0] for each in heads.flatten(0, 1))
    torch.testing.assert_close(gradient, expected)
    assert trees.log_prob(heads[:, :0]).shape == (2, 0, 3)
    assert trees.batch_shape == (3,) and trees.event_shape == (LONGEST + 1,)
    with pytest.raises(ValueError, match=r"^heads: expected integers of shape \(3, 6\), got torch.int64 of shape \(2, 6\)"):
        trees.log_prob(heads[:, :, :2])


# --------------------------------------------------------------------------------------------------- gradients


def gradients(name, function, rng, left_out=(), second=False, fast=True, **options):
    """Check the gradients of a function of a distribution with respect to all scores; fast: by a random projection."""
    tensors, lengths = sample(name, rng, lengths=[3, 1], longest=3, left_out=left_out, padding=0.3)
    names = list(tensors)
    inputs = [tensors[each].requires_grad_() for each in names]

    def of_scores(*numbers):
        return function(TreeDistribution(name, dict(zip(names, numbers, strict=True)), lengths, threads=1, **options))

    assert torch.autograd.gradcheck(of_scores, inputs, fast_mode=fast)
    if second:
        assert torch.autograd.gradgradcheck(of_scores, inputs, fast_mode=True)


@pytest.mark.parametrize("name, left_out", forms(WITH_SUMS), ids=str)
@pytest.mark.parametrize("what", ["log_partition", "marginals", "entropy"])
def test_gradients_of_sums(name, left_out, what):
    for single_root in (True, False):
        rng, second = rng_for("torch gradients", name, left_out), what == "log_partition"
        gradients(name, lambda trees: getattr(trees, what), rng, left_out, second, fast=False, single_root=single_root)


WHOLE, PARTIAL = torch.tensor([[-1, 2, 0, 2], [-1, 0, -1, -1]]), torch.tensor([[-1, -1, -1, 2], [-1, 0, -1, -1]])
GRADIENTS = {  # by name: a function of two distributions, and whether it can be differentiated twice
    "log_prob": (lambda trees, other: trees.log_prob(WHOLE), True),
    "log_prob of partial trees": (lambda trees, other: trees.log_prob(PARTIAL), True),
    "kl": (lambda trees, other: trees.kl(other), False),
    "kl of the other": (lambda trees, other: other.kl(trees), False),
    "max": (lambda trees, other: trees.max, True),
    "hinge": (lambda trees, other: trees.structured_hinge(WHOLE), False),
    "hinge of partial trees": (lambda trees, other: trees.structured_hinge(PARTIAL), False),
}


@pytest.mark.parametrize(
    "name, what", [(name, what) for name in DECODERS for what in GRADIENTS if name in WITH_SUMS or what[:3] in ("max", "hin")]
)
def test_gradients(name, what):
    function, second = GRADIENTS[what]
    tensors, lengths = sample(name, rng_for("torch other", name), lengths=[3, 1], longest=3, padding=0.7)
    other = TreeDistribution(name, tensors, lengths)
    gradients(name, lambda trees: function(trees, other), rng_for("torch", name), second=second)


@every_sum
def test_gradients_with_forbidden_scores_and_whatever_padding(name):
    """Gradients are finite, and 0 in the padding."""
    for padding in (float("nan"), float("inf"), -float("inf")):
        tensors, lengths = sample(name, rng_for("torch padding", name), padding=padding)
        first = next(iter(tensors))
        tensors[first][2, 0, 2] = -torch.inf
        for numbers in tensors.values():
            numbers.requires_grad_()
        found = TreeDistribution(name, tensors, lengths)
        results = [
            found.max,
            found.log_partition,
            found.entropy,
            found.log_prob(found.argmax),
            found.structured_hinge(found.argmax),
        ]
        # In the padding, the gradient of log(0) times 0 would be NaN.
        inside = torch.zeros(found.marginals.shape)
        for b, n in enumerate(LENGTHS):
            inside[b, : n + 1, 1 : n + 1] = 1
        results.append((found.marginals.clamp_min(1e-300).log() * inside).sum())
        for result in results:
            result.sum().backward()
        for tensor, numbers in tensors.items():
            shape = DECODERS[name].tensors[tensor]
            assert numbers.grad.isfinite().all(), tensor
            for b, n in enumerate(LENGTHS):
                assert (numbers.grad[b, ..., n + shape.rows :, :] == 0).all() and (
                    numbers.grad[b, ..., n + shape.columns :] == 0
                ).all()


def test_gradients_that_are_not_finite_stay_in_their_sentence():
    tensors, lengths = sample("mh4", rng_for("torch nan"))
    for numbers in tensors.values():
        numbers.requires_grad_()
    TreeDistribution("mh4", tensors, lengths).entropy.backward(torch.tensor([1.0, 1.0, torch.nan], dtype=torch.float64))
    for numbers in tensors.values():
        assert numbers.grad[:2].isfinite().all() and numbers.grad[2].isnan().any()


@pytest.mark.parametrize("what", ["entropy", "marginals", "log_partition"])
def test_what_is_not_known_is_refused(what):
    """Derivatives that are not implemented are errors: the third of log_partition, and the second of others."""
    tensors, lengths = sample("mst", rng_for("torch third"))
    arcs = tensors["arcs"].requires_grad_()
    result = getattr(TreeDistribution("mst", tensors, lengths), what)
    for _ in range(2 if what == "log_partition" else 1):
        (result,) = torch.autograd.grad((result**2).sum(), arcs, create_graph=True)
    with pytest.raises(RuntimeError, match="^log_partition and log_prob can be differentiated twice"):
        torch.autograd.grad(result.sum(), arcs)


def test_backward_can_be_called_for_each_result():
    tensors, lengths = sample("mh3", rng_for("torch twice"))
    tensors["shift"].requires_grad_()
    found = TreeDistribution("mh3", tensors, lengths)
    for _ in range(2):
        found.entropy.sum().backward()
        found.log_partition.sum().backward()


# ----------------------------------------------------------------------------------------------------- samples


@pytest.mark.parametrize("name", WITH_SAMPLES)
def test_samples_are_those_of_the_decoder(name):
    """Samples are those of the decoder with a seed that PyTorch draws."""
    tensors, lengths = sample(name, rng_for("torch sample", name), torch.float32)
    one, two = (TreeDistribution(name, tensors, lengths, threads=threads) for threads in (1, 2))
    assert one.sample().shape == (3, LONGEST + 1) and one.sample((0, 2)).shape == (0, 2, 3, LONGEST + 1)
    seed = int(torch.randint(2**63 - 1, (), generator=torch.Generator().manual_seed(3)))
    expected = batch.sample(name, arrays(tensors), LENGTHS, 20, rng=seed, single_root=True)
    torch.manual_seed(3)
    first, second = one.sample((4, 5)), one.sample(torch.Size([4, 5]))
    assert first.dtype == torch.long and torch.equal(first.flatten(0, 1).transpose(0, 1), torch.from_numpy(expected).long())
    assert not torch.equal(first, second)
    torch.manual_seed(3)
    assert torch.equal(two.sample(sample_shape=[4, 5]), first)
    state = torch.get_rng_state()
    own = one.sample((4, 5), generator=torch.Generator().manual_seed(3))
    assert torch.equal(own, first) and torch.equal(torch.get_rng_state(), state)


# ----------------------------------------------------------------------------------------- types, devices, threads


@every_decoder
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_types(name, dtype):
    tensors, lengths = sample(name, rng_for("torch types", name), dtype)
    exact = {tensor: numbers.double() for tensor, numbers in tensors.items()}
    for numbers in tensors.values():
        numbers.requires_grad_()
    found, expected = TreeDistribution(name, tensors, lengths), TreeDistribution(name, exact, lengths.int())
    assert torch.equal(found.argmax, expected.argmax)
    results = ["max"] + ["log_partition", "entropy", "marginals"] * (name in WITH_SUMS)
    for what in results:
        ours, theirs = getattr(found, what), getattr(expected, what)
        assert ours.dtype == dtype
        torch.testing.assert_close(ours, theirs.to(dtype))
        ours.sum().backward()
    assert all(numbers.grad.dtype == dtype for numbers in tensors.values())


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32], ids=str)
def test_integers_of_any_type(dtype):
    tensors, _ = sample("mh3", rng_for("torch integers"))
    found = TreeDistribution("mh3", tensors, torch.tensor(LENGTHS, dtype=dtype))
    expected = TreeDistribution("mh3", tensors, torch.tensor(LENGTHS))
    heads = expected.argmax
    assert torch.equal(found.log_prob(heads.to(dtype)), expected.log_prob(heads))
    assert torch.equal(found.structured_hinge(heads.to(dtype)), expected.structured_hinge(heads))


@every_sum
def test_another_default_device(name):
    """Results are on the device of the scores, not on another default device."""
    tensors, lengths = sample(name, rng_for("torch device", name))
    heads = TreeDistribution(name, tensors, lengths).argmax
    for numbers in tensors.values():
        numbers.requires_grad_()
    with torch.device("meta"):
        trees = TreeDistribution(name, tensors, lengths)
        results = [
            trees.max,
            trees.entropy,
            trees.log_prob(heads),
            trees.structured_hinge(heads),
            trees.kl(trees),
            trees.marginals,
        ]
        results += [trees.log_prob(heads[None])[0], trees.log_prob(heads[None][:0]).sum(0)]
        sum(each.sum() for each in results).backward()
        integers = [trees.argmax] + ([trees.sample((2,))] if name in WITH_SAMPLES else [])
    assert all(each.device.type == "cpu" for each in [*results, *integers])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))], ids=["deepcopy", "pickle"])
def test_copies(copied):
    tensors, lengths = sample("mh4", rng_for("torch copies"))
    tensors["shift"].requires_grad_()
    trees = TreeDistribution("mh4", tensors, lengths)
    assert torch.equal(copied(trees).log_partition, trees.log_partition)
    again = copied(trees)  # with computed results
    again.log_partition.sum().backward()
    assert torch.equal(again.marginals, trees.marginals) and torch.equal(again.argmax, trees.argmax)
    assert again.scores["shift"].grad.any() and tensors["shift"].grad is None


def test_threads_do_not_wait_for_each_other(monkeypatch):
    """While one thread computes sums, another thread, or a forked process, computes others."""
    tensors, lengths = sample("mh3", rng_for("torch at once"))
    begun, go_on, original = threading.Event(), threading.Event(), batch.marginals

    def slow(*arguments, **options):
        monkeypatch.setattr(batch, "marginals", original)
        begun.set()
        go_on.wait(60)
        return original(*arguments, **options)

    monkeypatch.setattr(batch, "marginals", slow)
    found = {}
    first, second = (
        threading.Thread(target=lambda each=each: found.update({each: TreeDistribution("mh3", tensors, lengths).marginals}), daemon=True)
        for each in "ab"
    )  # fmt: skip
    first.start()
    assert begun.wait(60)
    second.start()
    second.join(20)
    at_once = list(found)
    go_on.set()
    first.join()
    second.join()
    assert at_once == ["b"] and torch.equal(found["a"], found["b"])


def test_compiled():
    """A function compiled by `torch.compile` calls the decoders and has the same results."""
    tensors, lengths = sample("mh4", rng_for("torch compile"), torch.float32)
    heads, names = some_trees(rng_for("torch compile")), list(tensors)

    def loss(*numbers):
        trees = TreeDistribution("mh4", {tensor: 2 * each for tensor, each in zip(names, numbers, strict=True)}, lengths)
        return (trees.structured_hinge(heads) - trees.log_prob(heads)).sum() * 3

    inputs = [tensors[each].nan_to_num().requires_grad_() for each in names]
    expected, found = loss(*inputs), torch.compile(loss, backend="eager")(*inputs)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(torch.autograd.grad(found, inputs), torch.autograd.grad(expected, inputs))


def test_an_empty_batch():
    for name in WITH_SUMS:
        tensors = {tensor: torch.zeros(0, *shape.of(3), requires_grad=True) for tensor, shape in DECODERS[name].tensors.items()}
        found = TreeDistribution(name, tensors, torch.zeros(0, dtype=torch.long))
        assert found.argmax.shape == (0, 4) and found.entropy.shape == (0,) and found.marginals.shape == (0, 4, 4)
        (found.entropy.sum() + found.log_prob(torch.zeros(0, 4, dtype=torch.long)).sum()).backward()


# ------------------------------------------------------------------------------------------------------ errors


class TestErrors:
    """An error names the sentence of the batch."""

    def make(self, name="mh4", change=lambda tensors: None, lengths=LENGTHS, **options):
        tensors, _ = sample(name, rng_for("torch errors", name))
        change(tensors)
        return TreeDistribution(name, tensors, torch.tensor(lengths), **options)

    @pytest.mark.parametrize(
        "arguments, message",
        [
            ({"lengths": [3, 6, 4]}, "lengths: sentence 1 has 6 words, but the arrays have room for 0 to 5"),
            ({"change": lambda tensors: tensors.update(shift=tensors["shift"].long())}, "shift: expected floating-point numbers"),
            ({"change": lambda tensors: tensors.update(shift=tensors["shift"].numpy())}, "shift: expected a tensor, got ndarray"),
            ({"change": lambda tensors: tensors.update(shift=tensors["shift"].to("meta"))}, "scores: shift is on meta, but .* is on cpu"),
        ],
    )  # fmt: skip
    def test_arguments(self, arguments, message):
        with pytest.raises(ValueError, match="^" + message):
            self.make(**arguments)

    def test_names(self):
        with pytest.raises(ValueError, match="^no decoder 'mh6'"):
            TreeDistribution("mh6", {"arcs": torch.zeros(1, 3, 3)}, torch.tensor([2]))
        with pytest.raises(ValueError, match="^lengths: expected a tensor, got list"):
            TreeDistribution("mst", {"arcs": torch.zeros(1, 3, 3)}, [2])
        with pytest.raises(ValueError, match="^single_root: expected True or False, got 'no'"):
            TreeDistribution("mst", {"arcs": torch.zeros(1, 3, 3)}, torch.tensor([2]), single_root="no")

        for scores, kind in ((torch.zeros(1, 3, 3), "Tensor"), (None, "NoneType")):
            with pytest.raises(ValueError, match="^scores: expected the tensors by name, got %s$" % kind):
                TreeDistribution("mst", scores, torch.tensor([2]))
        with pytest.raises(ValueError, match="^other: expected a TreeDistribution, got NoneType$"):
            self.make().kl(None)

    @pytest.mark.parametrize("transform", [torch.func.grad, torch.vmap], ids=lambda each: each.__name__)
    def test_what_hides_the_numbers(self, transform):
        def log_partition(arcs):
            return TreeDistribution(
                "mst", {"arcs": arcs[None] if arcs.dim() == 2 else arcs}, torch.tensor([2])
            ).log_partition.sum()

        with pytest.raises(
            RuntimeError, match="^the decoders cannot read the numbers of a tensor on the device meta or under torch.func"
        ):
            transform(log_partition)(torch.zeros(1, 3, 3))

    def test_heads(self):
        found = self.make()
        heads = some_trees(rng_for("torch heads"))
        for method in (found.log_prob, found.structured_hinge):
            for wrong, message in [
                (heads[:, :4], r"^heads: expected integers of shape \(3, 6\), got torch.int64 of shape \(3, 4\)"),
                (heads.float(), r"^heads: expected integers of shape \(3, 6\), got torch.float32"),
                (heads.numpy(), "^heads: expected a tensor, got ndarray"),
            ]:
                with pytest.raises(ValueError, match=message):
                    method(wrong)
        for wrong in (5, -3):
            heads[2, 3] = wrong
            for method in (found.log_prob, found.structured_hinge):
                with pytest.raises(
                    ValueError, match="^sentence 2: heads: the head of word 3 is %d, but must be -2 to 4$" % wrong
                ):
                    method(heads)
