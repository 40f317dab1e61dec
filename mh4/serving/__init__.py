"""Serve parsers over HTTP, through UDPipe's REST API and a web page (`mh4 serve`).

A request passes through the files in this order: `connections.py` (limits of connections), `app.py` (routes and
responses), `hosts.py` (the host names of the server), `parameters.py` (reading the parameters), `tasks.py` (checking
the parameters), and `queue.py` (the queue and the worker processes). A worker process then uses `answering.py` and
`formats.py`. `log_and_metrics.py` logs and counts requests. `server.py` starts and stops the server.
"""
