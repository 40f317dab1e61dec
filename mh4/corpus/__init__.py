"""Parse corpora of any size in shards, by many processes, any of which may be killed at any time (`mh4 corpus`).

Files are cut into shards (`cutting.py`), without being copied. A worker parses each shard (`parsing.py`) into a file of
its own in the folder of the corpus (`folder.py`). Dask starts the workers and transfers shards to them (`workers.py`);
the driver decides which (`driver.py`). Every finished shard has a record, so that later runs only do the others.
`verifying.py` compares the folder with the input, `joining.py` joins the shards of each file, and `estimate.py`
estimates time, memory and disk beforehand.
"""
