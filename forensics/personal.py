"""What personal details and secrets look like: one table of rules, each with the kind of name that stands for it.

Only what can be told by its form is here; a name without a form (a project's, a client's) can only be left out, which
is what reports do with all text of a transcript.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple


class Rule(NamedTuple):
    """A detail's form: `pattern` finds it (its group `it`, or all of it).

    It is only looked for where one of the words of `hint` stands in the lower-case text, or `hint` itself is found:
    most texts hold nothing, and that must be told at once.
    """

    kind: str
    pattern: re.Pattern[str]
    hint: tuple[str, ...] | re.Pattern[str]
    fits: Callable[[str], bool] = lambda _: True

    def may_be_in(self, text: str, lower: str) -> bool:
        """Whether it is worth looking."""
        if isinstance(self.hint, tuple):
            return any(word in lower for word in self.hint)
        return self.hint.search(text) is not None


PUBLIC_HOSTS = (
    "openai.com", "anthropic.com", "claude.ai", "googleapis.com", "google.com", "github.com", "githubcopilot.com",
    "openrouter.ai", "deepseek.com", "mistral.ai", "x.ai", "groq.com", "together.xyz", "together.ai", "cerebras.ai",
    "fireworks.ai", "perplexity.ai", "cohere.com", "moonshot.ai", "moonshot.cn", "z.ai", "bigmodel.cn", "minimax.io",
    "dashscope.aliyuncs.com", "huggingface.co", "npmjs.org", "npmjs.com", "pypi.org", "python.org", "nodejs.org",
    "opencode.ai", "models.dev", "openclaw.ai", "w3.org", "json-schema.org", "oasis-open.org", "mozilla.org",
    "stackoverflow.com", "localhost",
)  # fmt: skip
"""Hosts that everybody knows and that say nothing of the person: model providers, registries, standards."""

_CHAR = r"""[^\\/\s"'`<>|:*?,;()\[\]{}%]"""
"""A character of a folder's name in a text."""


def _public(host: str) -> bool:
    name = host.lower().rstrip(".").rpartition(":")[0] if re.search(r":\d+\Z", host) else host.lower().rstrip(".")
    return any(name == one or name.endswith(f".{one}") for one in PUBLIC_HOSTS)


def _luhn(text: str) -> bool:
    digits = [int(one) for one in text if one.isdigit()]
    doubled = [
        one if at % 2 else (one * 2 - 9 if one > 4 else one * 2) for at, one in enumerate(digits, len(digits) % 2)
    ]
    return len(digits) in range(13, 20) and sum(doubled) % 10 == 0 and len(set(digits)) > 1


def _address(text: str) -> bool:
    parts = [int(one) for one in text.split(".")]
    return all(one < 256 for one in parts) and parts[0] not in {0, 127} and parts != [255] * 4


def _random(text: str) -> bool:
    """Whether a long run of letters and digits looks drawn by lot: mixed, and of high entropy."""
    if not (any(c.islower() for c in text) and any(c.isupper() for c in text) and any(c.isdigit() for c in text)):
        return False
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) > 4.3


def _iban(text: str) -> bool:
    packed = text.replace(" ", "")
    moved = packed[4:] + packed[:4]
    return len(packed) in range(15, 35) and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


def _labels(words: str) -> str:
    """Give the words as labels begin a value: `token=`, `token: `, `"token":`; NUL stands for a space."""
    return " ".join(f"{word}{sign}" for word in words.split() for sign in ("=", ":", '"', "'", "\0=", "\0:"))


def _rule(
    kind: str, pattern: str, hint: str, fits: Callable[[str], bool] = lambda _: True, flags: int = re.IGNORECASE
) -> Rule:
    """Build a rule; `hint` is words with spaces between, or after `re:` an expression."""
    how = re.compile(hint[3:]) if hint.startswith("re:") else tuple(one.replace("\0", " ") for one in hint.split(" "))
    return Rule(kind, re.compile(pattern, re.VERBOSE | flags), how, fits)


_NO_SECRET = re.compile(
    r"[\d.,]+|null|none|nil|true|false|undefined|unknown|missing|invalid|required|expired|\*+", re.IGNORECASE
)
_KEY_WORDS = r"""(?:api|access|secret|account|private|signing|encryption|master|session|license|ssh|shared|service|auth
    |encrypt|decrypt|storage|deploy|client|consumer|application|app|x)[\s_.-]?keys?(?:[_.-]?id)?"""

SECRETS: tuple[Rule, ...] = (
    _rule(
        "key",
        r"-----BEGIN\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?-----.*?"
        r"(?:-----END\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?-----|\Z)",
        "-----begin",
        flags=re.DOTALL,
    ),
    _rule("key", r"\b(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-\S+)\s+(?P<it>AAAA[\w+/=]{20,}(?:\s+\S+@\S+)?)", "aaaa"),
    _rule(
        "key",
        r"""\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_\-]{12,}
        |\b(?:gh[opsur]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|gl(?:pat|rt|dt|ptt|soat|cbt|ft|oas)-[\w\-.]{16,})
        |\bxox[abeprs]-[\w\-]{10,}|\bxapp-[\w\-]{10,}
        |\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}\b|\bLTAI[A-Za-z0-9]{16,}|\bAKID[A-Za-z0-9]{24,}
        |\bAIza[\w\-]{30,}|\bya29\.[\w\-]{16,}|\b1//0[\w\-]{24,}|\bGOCSPX-[\w\-]{16,}
        |\beyJ[\w\-]{8,}\.[\w\-]{8,}(?:\.[\w\-]*)*
        |\b(?:hf|npm|dop_v1|doo_v1|dor_v1|pypi|gsk|xai|pplx|csk|r8|fw|whsec|dckr_pat|dckr_oat|lin_api|ntn|secret|figd
            |glsa|sntrys|sntryu|shpat|shpss|shpca|shppa|nvapi|fly|rnd|tvly|sbp|pul|vercel|ATATT3x|ATBB|ATCTT3x|phc
            |phx|hvs|hvb|hvr|CFPAT|sq0[a-z]{3}|rdme|dp\.[a-z]{2}|PMAK|NRAK|NRII)[-_.][\w\-.]{16,}
        |\bdapi[0-9a-f]{32}\b|\b(?:ATATT3x|ATBB|ATCTT3x|EAAA)[\w\-=]{24,}
        |\bSG\.[\w\-]{16,}\.[\w\-]{16,}|\bAGE-SECRET-KEY-1[A-Z0-9]{20,}|\b(?:SK|AC)[0-9a-f]{32}\b
        |\bkey-[0-9a-f]{32}\b|\b[0-9a-f]{32}-us[0-9]{1,2}\b|\b[0-9]{8,10}:AA[\w\-]{30,}
        |\b[MNO][A-Za-z\d]{23,25}\.[\w\-]{6}\.[\w\-]{27,}
        |\b[A-Za-z0-9]{14}\.atlasv1\.[\w\-=]{40,}""",
        r"re:[\w\-]{14}|SG\.|ya29|1//0|:AA",
        flags=0,
    ),
    _rule("credentials", r"\b[a-z][a-z0-9+.\-]*://(?P<it>[^\s/@\"'<>]+)@(?!\s)", "://"),
    _rule(
        "key",
        r"https?://(?:hooks\.slack\.com/(?:services|workflows|triggers)|(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks"
        r"|[\w\-]+\.webhook\.office\.com/webhookb2|[\w.\-]+\.logic\.azure\.com)/(?P<it>[^\s\"'<>)]+)",
        "hooks.slack.com webhook logic.azure",
    ),
    _rule(
        "key", r"[?&][\w.\-]*(?:key|token|sig|secret|auth|code|password|credential)[\w.\-]*=(?P<it>[^&\s\"'<>]+)", "="
    ),
    _rule("key", r"\b(?:set-)?cookie[\"']?\s*[:=]\s*[\"']?(?P<it>(?!key-\d)[^\s\"'][^\r\n\"']{3,})", "cookie"),
    _rule(
        "key",
        rf"""(?:{_KEY_WORDS}|secrets?|token|passw(?:or)?d|passphrase|pwd|credentials?|authorization
            |signature|(?<![a-z])sig)["']?\s*(?:=>|[:=])\s*["']?(?:(?:bearer|basic|token|digest|negotiate)\s+)?
            (?P<it>(?!key-\d|(?:bearer|basic|token|digest|negotiate)\s)[^\s"'&,;<>(){{}}\[\]][^\s"'&,;<>]{{4,}})""",
        _labels(
            "key secret secrets token password passwd passphrase pwd credential credentials authorization sig"
            " signature id"
        ),
        lambda text: not _NO_SECRET.fullmatch(text),
    ),
    _rule(
        "key",
        r"(?:--|(?<![\w-])-)(?:password|passwd|pass|token|api-?key|secret|auth)(?:\s+|=)(?P<it>[^\s\"'-][^\s\"']{3,})",
        "-pass --token -api --secret --auth -token -secret -auth",
    ),
    _rule("credentials", r"(?<![\w-])(?:-u|--user)\s+(?P<it>[^\s:\"']+:[^\s\"']+)", "-u --user"),
    _rule("key", r"\b(?:bearer|basic)\s+(?P<it>[A-Za-z0-9._~+/=\-]{8,})", "bearer basic"),
    _rule("key", r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+(?P<it>\S+)", "machine"),
)
"""Keys, tokens, passwords: replaced first, whatever they stand in."""

DETAILS: tuple[Rule, ...] = (
    _rule(
        "email",
        r"(?<![\w.%+\-])(?!(?:credentials|user|key)-\d+@)[\w.%+\-]+@[A-Za-z0-9](?:[A-Za-z0-9\-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9\-]+)*\.[A-Za-z]{2,}",
        "@",
    ),
    _rule("host", r"\b(?:ssh|scp|sftp|rsync|mosh)\s[^\r\n]*?[\w.\-]+@(?P<it>[A-Za-z0-9][\w.\-]*)", "@"),
    _rule("host", r"\b[\w.\-]+@(?P<it>[A-Za-z0-9][\w\-]*)(?=:[~/.]|\s*[$%]\s|\s\#\s)", "@"),
    _rule(
        "host",
        r"\b[a-z][a-z0-9+.\-]*://(?:[^\s/@\"'<>]*@)?(?P<it>\[[0-9a-f:]+\]|[^\s/:?\#\"'<>\\@,;()`|\]]+)",
        "://",
        lambda text: not _public(text) and not text.startswith("127."),
    ),
    _rule("host", r"(?<![\\\w:])\\\\(?:\\\\)?(?P<it>[A-Za-z0-9][\w.\-]*)\\(?=[^\s])", "\\\\"),
    _rule(
        "host",
        r"(?<![\w.@/-])(?P<it>(?:[a-z0-9](?:[a-z0-9\-]*[a-z0-9])?\.)+"
        r"(?:local|lan|internal|corp|intra|intranet|home|localdomain|private|localnet))(?![\w-])(?!\.\w)",
        ".local .lan .internal .corp .intra .home .private",
    ),
    _rule(
        "host",
        r"\b(?:host(?:[_-]?name)?|computer[_-]?name|machine[_-]?name)[\"']?\s*[:=]\s*[\"']?(?P<it>\w[\w.\-]{2,})",
        _labels("host name"),
        lambda text: not _public(text) and not _NO_SECRET.fullmatch(text),
    ),
    _rule("ip", r"(?<![\w.])(?P<it>\d{1,3}(?:\.\d{1,3}){3})(?![\w.]*\.\d)(?!\w)", r"re:\d\.\d+\.\d", _address),
    _rule(
        "ip",
        r"(?<![\w:.])(?P<it>(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6})(?![\w:])",
        r"re:::|(?:[0-9a-fA-F]+:){7}",
    ),
    _rule(
        "mac",
        r"(?<![\w:])(?P<it>[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5})(?![\w:-])",
        "re:[0-9a-fA-F]{2}[:-][0-9a-fA-F]{2}[:-][0-9a-fA-F]{2}[:-]",
    ),
    _rule("card", r"(?<![\w.])(?P<it>(?:\d[\ -]?){12,18}\d)(?![\w.])", r"re:\d[\d -]{11}\d", _luhn),
    _rule(
        "account",
        r"\b(?P<it>[A-Z]{2}\d{2}(?:\ ?[A-Z0-9]{4}){2,7}(?:\ ?[A-Z0-9]{1,4})?)\b",
        r"re:[A-Z]{2}\d\d",
        _iban,
        0,
    ),
    _rule("number", r"(?<![\w-])(?P<it>\d{3}-\d{2}-\d{4})(?![\w-])", r"re:\d{3}-\d\d-\d{4}"),
    _rule("phone", r"(?<![\w+])(?P<it>\+\d{1,3}[\s.\-]?(?:\(?\d{1,4}\)?[\s.\-]?){2,5}\d{2,4})(?!\w)", "+"),
    _rule("phone", r"(?<!\w)(?P<it>\(\d{3}\)\s?\d{3}-\d{4}|\d{3}-\d{3}-\d{4})(?![\w-])", r"re:\d{3}-\d{4}"),
)
"""Details of people and machines."""

USERS: tuple[Rule, ...] = (
    _rule(
        "user",
        rf"""(?:(?<![\w.\-])|(?<=/mnt/[a-z])|(?<=/var)|(?<=/export)|(?<=/usr)|(?<=/data)|(?<=/private)|(?<=/Volumes)|(?<=%3A)|(?<=%2F)|(?<=%5C))
        (?:[A-Za-z]:)?(?:[\\/]+|%2F|%5C)(?:home|Users|Documents\ and\ Settings|Profiles)(?:[\\/]+|%2F|%5C)
        (?P<it>(?!Shared\b|Public\b){_CHAR}+(?:\ {_CHAR}+)*(?=[\\/])|(?!Shared\b|Public\b){_CHAR}+)""",
        "home users documents profiles",
    ),
    _rule("user", r"-(?:home|Users)-(?P<it>[A-Za-z0-9_.]+)", "-home- -users-"),
    _rule("user", r"(?:^|(?<=[\s\"'=:(]))~(?P<it>[a-z_][\w.\-]*)(?=/)", "~"),
    _rule(
        "user",
        r"""\b(?:user[_\s]?name|user[_\s]?id|login|logname|account[_\s]?name|sudo_user|full[_\s]?name|display[_\s]?name
            |author|committer|owner)["']?\s*[:=]\s*["']?
            (?P<it>(?!user-\d)[^\s"'&,;<>()\[\]{}:=|\\/@]{2,}(?:\ [A-Z][\w.\-]+)*)""",
        "name user login author committer owner",
        lambda text: not _NO_SECRET.fullmatch(text),
    ),
    _rule("user", r"\buser=[\"']?(?P<it>(?!user-\d)[^\s\"'&,;<>()\[\]{}]{2,})", "user="),
    _rule("user", r"\b(?P<it>[a-z_][\w.\-]*)@[A-Za-z0-9][\w\-]*(?=:[~/]|\s*[$]\s)", "@"),
    _rule("user", r"\b(?:ssh|scp|sftp|rsync|mosh)\s[^\r\n]*?(?P<it>[a-z_][\w.\-]*)@[A-Za-z0-9]", "@"),
    _rule("user", r"\bmachine\s+\S+\s+login\s+(?P<it>\S+)", "machine"),
)
"""Names of users, by the places they stand in; what is found here is replaced wherever else it stands alone."""

CUT = _rule(
    "key",
    r"""\b(?:sk-|[sprk]k_(?:live|test)_|gh[opsur]_|github_pat_|gl(?:pat|rt|dt)-|xox[abeprs]-|xapp-|AKIA|ASIA|AIza|ya29\.
        |GOCSPX-|eyJ|hf_|npm_|pypi-|SG\.|whsec_|gsk_|xai-|dop_v1_|dckr_pat_|AGE-SECRET)[\w\-.=]*(?=["'…]|\.\.\.|\Z)
        |[\w.%+\-]+@[\w\-.]*(?=…|\.\.\.)|\b[A-Z]{2}\d{2}(?:\ [A-Z0-9]{4}){2,7}""",
    "sk- k_live_ k_test_ ghp_ gho_ ghs_ ghu_ ghr_ github_pat_ glpat- glrt- gldt- xox xapp- akia asia aiza ya29. gocspx-"
    " eyj hf_ npm_ pypi- sg. whsec_ gsk_ xai- dop_v1_ dckr_pat_ age-secret @ 0 1 2 3 4 5 6 7 8 9",
    flags=0,
)
"""The beginning of a key or an address at the end of a text that was cut there."""

RANDOM = _rule("key", r"(?<![\w/+.-])(?P<it>[A-Za-z0-9+_\-]{40,}={0,2})(?![\w/+-])", r"re:[\w+\-]{40}", _random, 0)
"""What looks drawn by lot and is too long for an id."""

HOMES = re.compile(
    rb"(?<![A-Za-z0-9_.\-])(?:[A-Za-z]:)?(?:[\\/]+|%2F|%5C)(?:home|Users)(?:[\\/]+|%2F|%5C)([A-Za-z0-9._\-\x80-\xff]{3,40})"
    rb"|-(?:home|Users)-([A-Za-z0-9_.]{3,40})(?=-)"
)
"""Home directories in the bytes of a file."""

ORDINARY = frozenset(
    """admin administrator root user users guest public shared default home work test tests tester demo dev develop
    developer runner build builder node python agent agents bot system service server client data code main master
    ubuntu debian docker vagrant azureuser ec2-user opc app application web www git http https file files folder path
    line lines the and for not with from this that was are all one two key token name names id ids me my you
    project projects source src report reports session sessions""".split()  # noqa: SIM905  (a list of words)
)
"""Words that are no name by themselves, though they can be a user's: they are replaced in paths alone."""
