"""/file, where the page of `mh4 serve FILE` reads what is to be corrected and saves it.

Others who can reach the server, as all users of its machine can, have no key; nor have pages from elsewhere.
"""

import asyncio
import secrets

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from mh4.annotating.correction import Changed, Correction
from mh4.errors import InputError
from mh4.serving.hosts import is_from_elsewhere
from mh4.serving.parameters import body

_LEAST_BYTES = 1 << 16
_MORE = 3  # how many times as long as the file its text may be, with marks of what is decided


class Correcting:
    """The endpoint. seconds: for a request to arrive. key: what the address of the page has after "#"."""

    def __init__(self, correction: Correction, seconds: float) -> None:
        self._correction, self._seconds, self.key = correction, seconds, secrets.token_urlsafe(16)
        self._most_bytes = _LEAST_BYTES + _MORE * len(correction.text.encode())

    async def file(self, request: Request) -> Response:
        """Return the text with its version or, for POST, save a new text, given the version that it is based on."""
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
