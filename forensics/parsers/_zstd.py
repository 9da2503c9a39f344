"""Zstandard decompression: the standard library's from Python 3.14 on, before that its backport."""

import sys
from typing import Any


class CorruptError(ValueError):
    """The bytes are not one whole Zstandard frame, or hold more than was asked for."""


def decompressed(data: bytes, limit: int) -> bytes:
    """Decompress one frame of at most `limit` bytes.

    Raises `CorruptError` when the frame is torn or not Zstandard, or when it holds more.
    """
    zstd = _library()
    reader = zstd.ZstdDecompressor()
    try:
        found: bytes = reader.decompress(data, max_length=limit + 1)
    except zstd.ZstdError as error:
        raise CorruptError(str(error)) from error
    if len(found) > limit:
        raise CorruptError(f"more than {limit} bytes")
    if not reader.eof:
        raise CorruptError("torn")
    return found


def _library() -> Any:
    # Loaded where it is first needed: 3 ms of every start.
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415
    else:
        from backports import zstd  # noqa: PLC0415
    return zstd
