"""Several pictures as one, each below the one before."""

import re
from collections.abc import Sequence

_BEGIN = re.compile(r'<svg [^>]*?\bwidth="(\d+)" height="(\d+)"')


def sheet(pictures: Sequence[str]) -> str:
    """The pictures of `svg.picture` as a single SVG file: a single one as it is."""
    if len(pictures) == 1:
        return pictures[0]
    parts, width, height = [], 1, 0
    for picture in pictures:
        begin = _BEGIN.match(picture)
        assert begin
        parts.append('<svg y="%d" %s' % (height, picture[len("<svg ") :]))
        width, height = max(width, int(begin[1])), height + int(begin[2])
    size = 'width="{0}" height="{1}" viewBox="0 0 {0} {1}"'.format(width, max(height, 1))
    return '<svg xmlns="http://www.w3.org/2000/svg" %s>\n%s</svg>\n' % (size, "".join(parts))
