"""Try to run functions in processes of Dask without their certificates, and, if root starts this, as another user.

python intruder.py PORT...: prints each port at which a function was run, with the id of the user that ran it.
"""

import asyncio
import os
import sys
from contextlib import suppress

from distributed.core import connect
from distributed.protocol.pickle import dumps
from distributed.security import Security

SECONDS = 2  # for each attempt
OPERATIONS = ("run", "run_function")  # of workers and nannies, and of schedulers


async def user_there(port, protocol, security, operation):
    """Return the user id under which a process runs our function, or None if it does not run it."""
    with suppress(OSError, TimeoutError, ValueError, RuntimeError):
        async with asyncio.timeout(SECONDS):
            comm = await connect("%s://127.0.0.1:%d" % (protocol, port), SECONDS, **security.get_connection_args("client"))
            await comm.write({"op": operation, "function": dumps(os.getuid), "reply": True})
            answer = await comm.read()
            return answer.get("result") if isinstance(answer, dict) else None


async def main(ports):
    secrets = [("tcp", Security()), ("tls", Security.temporary())]
    attempts = [(port, *secret, operation) for port in ports for secret in secrets for operation in OPERATIONS]
    users = await asyncio.gather(*(user_there(*attempt) for attempt in attempts))
    for port, user in sorted({(port, user) for (port, *_), user in zip(attempts, users) if user is not None}):
        print(port, user)


if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
asyncio.run(main(map(int, sys.argv[1:])))
