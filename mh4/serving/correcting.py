"""Serve /file, where the page of `mh4 serve FILE` reads the sentences to correct and saves them.

Requests need a key, as all users of the machine can reach the server. Pages of other origins are rejected.
"""

import asyncio
import secrets

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from mh4.annotating.correction import Changed, Correction
from mh4.errors import InputError
from mh4.serving.hosts import is_from_elsewhere
from mh4.serving.parameters import LEAST_BYTES, body

_MORE = 3  # the saved text may be this many times as long as the file: it also contains marks of decisions


class Correcting:
    """The endpoint. seconds: the time for a request to arrive. key: the part after "#" in the address of the page."""

    def __init__(self, correction: Correction, seconds: float) -> None:
        self._correction, self._seconds, self.key = correction, seconds, secrets.token_urlsafe(16)
        self._most_bytes = LEAST_BYTES + _MORE * len(correction.text.encode())

    async def file(self, request: Request) -> Response:
        """Return the text with its version. For POST, save a new text that is based on a given version."""
        headers = request.headers
        if is_from_elsewhere(headers):
            raise HTTPException(403, "a page from elsewhere cannot use the file")
        if not secrets.compare_digest(headers.get("authorization", "").encode(), b"Bearer " + self.key.encode()):
            raise HTTPException(403, "open the address that mh4 serve has printed, with all that follows the #")
        try:
            if request.method == "POST":
                new = (await body(request, self._most_bytes, self._seconds)).decode()
                text, version = "", await asyncio.to_thread(self._correction.save, new, headers.get("if-match", ""))
            else:
                text, version = await asyncio.to_thread(self._correction.read)
        except UnicodeDecodeError:
            raise HTTPException(400, "the sentences to save are not UTF-8") from None
        except Changed as error:
            raise HTTPException(412, str(error)) from None
        except InputError as error:
            raise HTTPException(400, str(error)) from None
        return PlainTextResponse(text, headers={"ETag": version, "Cache-Control": "no-store"})
