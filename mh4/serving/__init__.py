"""`mh4 serve`: parsers behind HTTP, as UDPipe's REST API and as a page.

A request goes through the files in this order: `connections.py` (limits of clients), `app.py` (addresses and answers), `hosts.py` (the
names of the server), `parameters.py` (what a client sends), `tasks.py` (what it asks for), `queue.py` (the queue and the processes),
and in one of these processes `answering.py` and `formats.py`; `log_and_metrics.py` writes the log and counts. `server.py` starts and
ends all this.
"""
