"""The status of a corpus, read from its folder."""

import os
from collections import Counter

from mh4.corpus import planning
from mh4.corpus.display import duration
from mh4.corpus.folder import Folder


def report(folder: Folder) -> list[str]:
    """What is done, what has failed and who is at work, as lines for people. Raises InputError if this is not the folder of a corpus."""
    corpus = folder.load()
    shards = done = cut = sentences = words = rejects = peak = 0
    seconds = 0.0
    fallbacks: Counter[str] = Counter()
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
                continue
            done += 1
            sentences += record["parsed_sentences"]
            words += record["parsed_words"]
            rejects += record["rejects"]
            fallbacks.update(record["fallbacks"])
            seconds += record["seconds"]
            peak = max(peak, record["peak_mb"])
    lines = [
        "%s: %d of %d shards are done; %d of %d files are cut into shards" % (folder.path, done, shards, cut, len(corpus.inputs)),
        f"{sentences:,} sentences, {words:,} words, {rejects:,} blocks rejected",
    ]
    if fallbacks:
        counts = ", ".join(f"{count:,} {how}" for how, count in sorted(fallbacks.items()))
        lines.append("sentences too long for their decoder: " + counts)
    if words:
        lines.append("%s of work, %s words/s by one worker, up to %d MB" % (duration(seconds), f"{int(words / seconds):,}", peak))
    driver = folder.driver()
    return [*lines, *failed, "at work: %s" % driver if driver else "nobody is at work"]
