"""What a certificate consists of: a document of any other shape is none."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from forensics.proof.environment import CLASSES, FaultClass
from forensics.proof.terms import Property


class NotACertificateError(ValueError):
    """The document has not the shape of a certificate; the message says where."""


class _Strict(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A part of a certificate: nothing may be missing, and nothing be added."""


class Scene(_Strict):
    """A step of a witness."""

    signal: dict[str, str | bool]
    action: str
    announced: bool
    part: Literal["prefix", "cycle", "instead"]


class Verdict(_Strict):
    """A claim about one property for one class of failure."""

    holds: bool
    reason: str
    figures: dict[str, Any]
    witness: list[Scene]


class Overall(Verdict):
    """A claim about one property: over all failures, and for each class alone."""

    by_fault: dict[FaultClass, Verdict]


class Source(_Strict):
    """Which text was proved."""

    file: str
    sha256: str


class Claim(_Strict):
    """All claims about one policy."""

    policy: str
    source: Source
    options: dict[str, Any]
    assumptions: list[str]
    states: int
    states_by_fault: dict[FaultClass, int | None]
    verdicts: dict[Property, Overall]


class Alphabet(_Strict):
    """The signals and actions that the claims speak of."""

    signals: list[str]
    actions: list[str]


class Certificate(_Strict):
    """What `prove --format json` writes."""

    schema_version: int
    alphabet: Alphabet
    policies: list[Claim]


def of_shape(document: object) -> None:
    """Refuse what is no certificate, and one that claims nothing. Raises `NotACertificateError`."""
    try:
        found = msgspec.convert(document, Certificate)
    except msgspec.ValidationError as error:
        raise NotACertificateError(str(error).replace("`", "")) from error
    if not found.policies:
        raise NotACertificateError("it claims nothing of any policy")
    for claim in found.policies:
        _whole(f"{claim.policy}: states_by_fault", claim.states_by_fault)
        for name, verdict in claim.verdicts.items():
            _whole(f"{claim.policy}: verdicts.{name}.by_fault", verdict.by_fault)


def _whole(place: str, by_fault: Mapping[FaultClass, object]) -> None:
    if missing := [kind for kind in CLASSES if kind not in by_fault]:
        raise NotACertificateError(f"{place} lacks {', '.join(missing)}")
