"""Report the status of a corpus, read from its folder."""

import os
from collections import Counter
from datetime import timedelta

from mh4.corpus import planning
from mh4.corpus.folder import Corpus
from mh4.errors import counted, listed


def report(corpus: Corpus) -> list[str]:
    """Return lines to print: the shards that are done, those that have failed, and the running workers."""
    shards, uncut = planning.all_shards(corpus)
    found = list(map(corpus.record, shards))
    records = [record for record in found if record is not None]
    failed = [
        "failed: %s, shard %d (log: %s)" % (corpus.inputs[shard.file].given, shard.number, corpus.file(shard, "log"))
        for shard, record in zip(shards, found, strict=True)
        if record is None and os.path.exists(corpus.file(shard, "log"))
    ]
    names = ("parsed_sentences", "parsed_words", "rejects", "seconds")
    sentences, words, rejects, seconds = (sum(record[name] for record in records) for name in names)
    fallbacks = sum((Counter(record["fallbacks"]) for record in records), Counter())
    files = len(corpus.inputs)
    lines = [
        f"{corpus.folder}: shards done: {len(records)} of {len(shards)}; files cut into shards: {files - len(uncut)} of {files}",
        "%s, %s, %s rejected"
        % tuple(counted(*pair, ",") for pair in ((sentences, "sentence"), (words, "word"), (rejects, "block"))),
    ]
    if fallbacks:
        counts = ", ".join(f"{count:,} {how}" for how, count in sorted(fallbacks.items()))
        lines.append("sentences too long for their decoder: " + counts)
    if words:
        peak = max(record["peak_mb"] for record in records)
        work = timedelta(seconds=round(seconds))
        lines.append(f"{work} of work, {int(words / max(seconds, 0.001)):,} words/s by one worker, up to {peak} MB")
    driver = corpus.driver()
    if uncut:
        failed.append("not cut into shards: " + listed(uncut))
    return [*lines, *failed, "at work: %s" % driver if driver else "nobody is at work"]
