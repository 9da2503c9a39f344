"""A finding a row as Parquet, with the columns of the CSV report: measures of every finding, each with its basis."""

import io
from typing import Any

from forensics.detect import Finding
from forensics.reports import Style
from forensics.summary import Report

_TEXTS = ("id", "detector", "severity", "confidence", "state", "agent", "file", "session", "message")


def render(report: Report, _style: Style) -> bytes:
    """Write the table. Times are UTC; lines and records are lists; a measure is a number, or text where any is text."""
    import polars as pl  # noqa: PLC0415  (slow to import, needed for Parquet alone)

    names = sorted({name for one in report.findings for name in one.measures})
    columns: dict[str, Any] = {name: pl.Series([getattr(one, name) for one in report.findings], dtype=pl.String)
                               for name in _TEXTS}  # fmt: skip
    for name in ("start", "end"):
        columns[name] = pl.Series([getattr(one, name) for one in report.findings], dtype=pl.Datetime("ms", "UTC"))
    columns["lines"] = pl.Series([one.lines for one in report.findings], dtype=pl.List(pl.Int64))
    columns["records"] = pl.Series([one.records for one in report.findings], dtype=pl.List(pl.String))
    for name in names:
        values = [one.measures.get(name) for one in report.findings]
        texts = any(isinstance(value, str) for value in values)
        columns[name] = (
            pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)
            if texts
            else pl.Series([None if value is None else float(value) for value in values], dtype=pl.Float64)
        )
        columns[f"{name}_basis"] = pl.Series([_basis(one, name) for one in report.findings], dtype=pl.String)
    out = io.BytesIO()
    pl.DataFrame(columns).write_parquet(out, compression="zstd")
    return out.getvalue()


def _basis(one: Finding, name: str) -> str | None:
    return one.bases.get(name)
