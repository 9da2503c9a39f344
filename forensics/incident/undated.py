"""What a record's end tells without the time of the scan: that nothing follows, not for how long."""

import re

from msgspec.structs import replace

from forensics.detect import Finding

_UNTIL = re.compile(r"until the scan \([^()]* later\)")
_IDLE = "idle_seconds"


def undated(one: Finding) -> Finding:
    """Leave the time between a record's end and the scan out of a finding: it is another one on every day."""
    if not _UNTIL.search(one.message):
        return one
    return replace(
        one,
        message=_UNTIL.sub("up to the end of the record", one.message),
        measures={name: value for name, value in one.measures.items() if name != _IDLE},
        bases={name: basis for name, basis in one.bases.items() if name != _IDLE},
    )
