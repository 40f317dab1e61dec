"""Corpora of any size, parsed in shards by many processes, of which any may be killed at any time (`mh4 corpus`).

Files are cut into shards (`cutting.py`), without being copied; each shard is parsed by a worker (`parsing.py`), into a file of its own
in the folder of the corpus (`folder.py`); Dask starts the workers and hands them shards (`workers.py`), and the driver decides which
(`driver.py`). Whatever is done has a record, so what is not can be done later. `verifying.py` compares the folder with the input,
`joining.py` puts the shards of each file together again, and `estimate.py` says beforehand what all this will take.
"""
