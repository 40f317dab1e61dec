"""The status of a corpus, read from its folder."""

import os
from collections import Counter

from mh4.corpus import planning
from mh4.corpus.display import duration
from mh4.corpus.folder import Folder


def report(folder: Folder) -> list[str]:
    """What is done, what has failed and who is at work, as lines for people. Raises InputError if this is not the folder of a corpus."""
    corpus = folder.load()
    shards = cut = 0
    records = []
    failed = []
    for number, one in enumerate(corpus.inputs):
        _, known, complete = planning.read(folder, number)
        cut += complete
        shards += len(known)
        for shard in known:
            record = folder.record(shard, corpus.settings)
            if record is None:
                if os.path.exists(folder.log(shard)):
                    failed.append("failed: %s, shard %d (log: %s)" % (one.given, shard.number, folder.log(shard)))
            else:
                records.append(record)
    names = ("parsed_sentences", "parsed_words", "rejects", "seconds")
    sentences, words, rejects, seconds = (sum(record[name] for record in records) for name in names)
    fallbacks: Counter[str] = Counter()
    for record in records:
        fallbacks.update(record["fallbacks"])
    done = "%s: %d of %d shards are done; %d of %d files are cut into shards"
    lines = [
        done % (folder.path, len(records), shards, cut, len(corpus.inputs)),
        f"{sentences:,} sentences, {words:,} words, {rejects:,} blocks rejected",
    ]
    if fallbacks:
        counts = ", ".join(f"{count:,} {how}" for how, count in sorted(fallbacks.items()))
        lines.append("sentences too long for their decoder: " + counts)
    if words:
        peak = max(record["peak_mb"] for record in records)
        lines.append("%s of work, %s words/s by one worker, up to %d MB" % (duration(seconds), f"{int(words / seconds):,}", peak))
    driver = folder.driver()
    return [*lines, *failed, "at work: %s" % driver if driver else "nobody is at work"]
