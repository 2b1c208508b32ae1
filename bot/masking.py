"""Masking of secrets and personal data in logs, channels and prompts.

Every function takes time in proportion to the text's length. Their callers have removed hidden
characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_address

HIDDEN = "[hidden]"
_KEY = "[key]"
_NUMBER = "[number]"
_EMAIL = "[email]"
_ADDRESS = "[address]"
_MIN_MIXED = 16
"""The length from which letters with two digits among them are no word."""
_MIN_LETTERS = 40
"""The length from which letters alone are no word, in readers' words."""
_DIGITS = 12
"""Digits of a number from which it belongs to a card, a phone or an account.

The number has no break but hyphens.
"""

# ---- keys of known shapes

_PRIVATE_KEY = re.compile(
    "-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|\\Z)", re.DOTALL
)
_TELLTALE = re.compile(
    r"xox|xapp-|mint_|github_pat_|gh[opsur]_|glpat-|[spr]k[_-]|npm[_-]|hf[_-]|A[KS]IA|eyJ|v0="
    r"|://|PRIVATE KEY"
)
"""A part of every text with such a key: looked for first, because few texts have it."""
_SIGNATURE = re.compile(r"\bv0=[0-9a-f]{16,}")
"""Slack's signature of a request."""
_DOTTED_RUN = re.compile(r"[A-Za-z0-9_.-]+")
_PREFIX = re.compile(
    r"(?<![A-Za-z0-9])(?:(xox[a-z][-.]|xapp-|mint_|github_pat_|gh[opsur]_|glpat-)"
    r"|(?:[spr]k|npm|hf)[_-]|A[KS]IA(?=[A-Z0-9]{16})|eyJ(?=[A-Za-z0-9_-]{12}))"
)
"""Beginnings of keys. The first group is of services whose keys need no digit to be one."""
_IN_ADDRESS = re.compile("://[^\\s\"'<>]+")
_WEBHOOK = re.compile(r"hooks\.slack(?:-gov)?\.com")
_GRANT = re.compile(
    r"(/(?:response|commands|actions)/).+|((?:token|key|secret|sig|signature|password)=)[^&#]+",
    re.IGNORECASE,
)
"""Parts of an address that grant something: those of response URLs, the sandbox's too, and of
queries.
"""


def without_keys(text: str) -> str:
    """Return the text with ``HIDDEN`` in the place of keys.

    They are keys of known shapes, and secrets in addresses.
    """
    if not _TELLTALE.search(text):
        return text
    text = _PRIVATE_KEY.sub(HIDDEN, text)
    text = _IN_ADDRESS.sub(lambda match: _without_grants(match[0]), text)
    text = _SIGNATURE.sub(HIDDEN, text)
    return _DOTTED_RUN.sub(lambda run: _without_key(run[0]), text)


def _without_key(run: str) -> str:
    """Return letters, digits and signs without the key that begins in them."""
    match = _PREFIX.search(run)
    if match is None:
        return run
    key = run[match.start() :]
    is_key = len(key) >= _MIN_MIXED and _has_digit(key)
    if match[1]:
        is_key = len(run) - match.end() >= 6
    return f"{run[: match.start()]}{HIDDEN}" if is_key else run


def _without_grants(after_scheme: str) -> str:
    """Return an address after its scheme, without passwords and tokens."""
    place, slash, path = after_scheme[3:].partition("/")
    user, at, host = place.rpartition("@")
    if ":" in user:
        user = HIDDEN
    path = _GRANT.sub(rf"\1\2{HIDDEN}", f"/{path}")[1:]
    if _WEBHOOK.fullmatch(host):
        path = HIDDEN
    return f"://{user}{at}{host}{slash}{path}"


# ---- texts of people and programs

_TOKEN = re.compile(r"[^\s<>()\[\]{},;\"'`“”‘’|]+")
_RUN = re.compile(r"[A-Za-z0-9_-]+")
_SOLID = re.compile(r"[A-Za-z0-9]+")
_IP = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?")
_PASSWORDS = ("password", "passwd", "pwd", "passwort", "passcode", "passphrase")
_NAMES = (*_PASSWORDS, "secret", "token", "key", "authorization", "bearer")
_NAME_LENGTH = max(map(len, _NAMES))
_SCHEMES = ("basic", "bearer")
_WIDE = str.maketrans("＠：＝", "@:=")
_MADE_UP = re.compile(r"your|example|xxx|\*\*\*|placeholder|dummy|sample|1234|abcd", re.IGNORECASE)
_IBAN = re.compile(r"\b[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?\b")
_NUMERAL = re.compile(r"\+?\(?[0-9](?:[ \u00a0\u202f()/.-]{0,3}[0-9])+")


def masked(text: str, *, is_readers: bool = False) -> str:
    """Mask keys, passwords, and card, phone and account numbers.

    ``is_readers``: readers' words are kept without email, web and IP addresses, too, and without
    any value of a key, since nobody has to act on them.
    """

    def mask(token: str, name: str) -> str:
        is_odd = _has_digit(token) and len(token) >= 6 and "//" not in token
        if name and (is_readers or is_odd or name.endswith(_PASSWORDS)):
            return _KEY
        return _masked(token, is_readers=is_readers)

    text = _IBAN.sub(_masked_iban, _PRIVATE_KEY.sub(_KEY, text))
    text = _NUMERAL.sub(_masked_number, text)
    return without_keys(_each_token(text, mask)).replace(HIDDEN, _KEY)


def has_key(text: str) -> bool:
    """Return whether a prompt seems to hold a real key or password.

    Made-up ones, as in examples, do not count.
    """

    def mask(token: str, name: str) -> str:
        is_secret = (
            len(token) >= 6 and _has_digit(token) and not token.isdigit() and "/" not in token
        )
        return "" if name and is_secret and not _MADE_UP.search(token) else token

    if not _TELLTALE.search(text) and not any(map(text.lower().count, _NAMES)):
        return False
    if "PRIVATE KEY-----" in text or _each_token(text, mask) != text:
        return True
    return any(_is_real_key(run) for run in _DOTTED_RUN.findall(text))


def _is_real_key(run: str) -> bool:
    """Return whether a run has a real key of a known shape."""
    if len(run) < _MIN_MIXED or not _has_digit(run) or _MADE_UP.search(run):
        return False
    return _without_key(run) != run


def _each_token(text: str, mask: Callable[[str, str], str]) -> str:
    """Replace each token by ``mask`` of it and its name.

    The name is the one before the token; it is empty unless it is a secret's.
    """
    name = ""

    def replace(match: re.Match[str]) -> str:
        nonlocal name
        token = match[0].translate(_WIDE)
        if not token.strip(":="):  # it stands by itself, as in JSON
            name = name[-_NAME_LENGTH:] + token[0]
            return match[0]
        before = name
        key = before.rstrip(":=").removesuffix(" is")
        lower = token.lower()
        is_named = before.endswith((":", "=", " is")) and key.endswith(_NAMES)
        if is_named and lower in _SCHEMES:
            return match[0]
        if lower.rstrip(":") == "is" and before.endswith(_PASSWORDS):
            name += " is"
            return match[0]
        name = lower[-_NAME_LENGTH - 1 :]
        if is_named and (_has_digit(token) or not before.endswith(" is")):
            return mask(match[0], key)
        end = token.replace("=", ":").find(":")
        if end >= 0 and token[end:].strip(":=") and lower[:end].endswith(_NAMES):
            return match[0][: end + 1] + mask(match[0][end + 1 :], lower[:end])
        return mask(match[0], "")

    return _TOKEN.sub(replace, text)


def _masked(text: str, *, is_readers: bool) -> str:
    token = text.translate(_WIDE)
    name, _, domain = token.replace("%40", "@").partition("@")
    if "://" in token or token.lower().startswith(("www.", "mailto:")):
        return _ADDRESS if is_readers else text
    if name and domain:
        return _EMAIL if is_readers else text
    if _is_ip(token.rstrip(".:!?")):
        return _ADDRESS if is_readers else text
    longest = _MIN_LETTERS if is_readers else len(text) + 1

    def mask_key(run: re.Match[str]) -> str:
        return _KEY if _is_key(run[0], longest) else run[0]

    return _RUN.sub(mask_key, text)


def _is_ip(token: str) -> bool:
    if token.count(":") < 2 or not _has_digit(token):
        return _IP.fullmatch(token) is not None
    try:
        return bool(ip_address(token))
    except ValueError:
        return False


def _is_key(run: str, longest: int) -> bool:
    """Return whether a run of characters looks like a key.

    It is letters, digits, hyphens and underscores. An id or a long number looks like one, too.

    ``longest``: the length from which letters alone are no word.
    """
    is_uuid = (len(run), run.count("-")) == (36, 4) and _has_digit(run)
    digits = sum(sign.isdigit() for sign in run)
    is_number = digits == len(run.replace("-", "")) >= _DIGITS
    return is_uuid or is_number or any(_is_solid_key(part, longest) for part in _SOLID.findall(run))


def _is_solid_key(part: str, longest: int) -> bool:
    digits = sum(sign.isdigit() for sign in part)
    return len(part) >= longest or (len(part) >= _MIN_MIXED and 2 <= digits < len(part))


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _masked_iban(match: re.Match[str]) -> str:
    """Return the placeholder of a bank account. https://www.iso.org/standard/81090.html"""
    account = "".join(filter(str.isalnum, match[0])).upper()
    value = int("".join(str(int(sign, 36)) for sign in account[4:] + account[:4]))
    return _NUMBER if value % 97 == 1 else match[0]


def _masked_number(match: re.Match[str]) -> str:
    """Return the placeholder of a card or phone number.

    The number is written in groups of digits. Another number is returned as it is.
    """
    groups = re.findall("[0-9]+", match[0])
    sizes = tuple(map(len, groups))
    digits = "".join(groups)
    before = match.string[max(match.start() - 1, 0) : match.start()]
    after = match.string[match.end() : match.end() + 1]
    if before.isalnum() or after.isalnum():  # a part of a word or of a key
        return match[0]
    if _is_card(sizes, digits) or _is_phone(sizes, digits, has_plus=match[0][0] == "+"):
        return _NUMBER
    return match[0]


def _is_card(sizes: tuple[int, ...], digits: str) -> bool:
    return 13 <= len(digits) <= 19 and set(sizes[:-1]) <= {4, 5, 6} and _fits_luhn(digits)


def _is_phone(sizes: tuple[int, ...], digits: str, *, has_plus: bool) -> bool:
    """Return whether groups of digits, of these sizes, are a phone number."""
    has_prefix = has_plus or (digits[:2] == "00" and len(sizes) > 1)
    is_abroad = has_prefix and 8 <= len(digits) <= 15
    is_local = sizes[0] > 2 and len(sizes) > 1 and digits[0] == "0" and 9 <= len(digits) <= 13
    is_american = sizes[-3:] == (3, 3, 4) and sizes[:-3] in ((), (1,))
    is_french = sizes == (2, 2, 2, 2, 2) and digits[0] == "0"
    return is_abroad or is_local or is_american or is_french


def _fits_luhn(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(sign), 10)) for sign in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0
