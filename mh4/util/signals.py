"""The signals that end a command, which then ends the processes that it has started."""

import signal
from typing import Any

# How Python responds to each of them.
ENDING: dict[int, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}
