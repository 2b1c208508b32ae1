"""Secrets in texts.

One list of their shapes, for logs, for texts that leave, and for the question before a send.

- `redact_keys` hides the secrets of a text that goes to a log.
- `mask_text` also hides personal numbers, in texts that go to a channel or a prompt.
- `has_key` returns whether somebody should be asked before a prompt is sent. Made-up secrets do not
  count.

Every function takes time in proportion to the text's length. Their callers have removed hidden
characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from ipaddress import ip_address

HIDDEN = "[hidden]"
_KEY = "[key]"
_NUMBER = "[number]"
_EMAIL = "[email]"
_ADDRESS = "[address]"
_PLACEHOLDERS = frozenset(word.strip("[]") for word in (_KEY, _NUMBER, _EMAIL, _ADDRESS))
_MIN_MIXED_CHARACTERS = 16
"""Length from which letters with two digits among them are no word."""
_MIN_LETTERS = 40
"""Length from which in readers' words letters alone are no word."""
_MIN_DIGITS = 12
"""Digits from which an unbroken number, but for hyphens, is of a card, a phone or an account."""


class Kind(Enum):
    """The kinds of secrets."""

    KEY = "key"
    """A key, a token or a password."""
    NUMBER = "number"
    """The number of a card or a bank account."""
    GRANT = "grant"
    """A part of an address that may grant something, though it does not look like a key."""


Replace = Callable[[str, Kind], str]
"""Returns the text in the place of a secret."""

# ---- the list of shapes

_PARTS_OF_KEYS = (
    "://", "PRIVATE KEY", "v0=", "xox", "xapp-", "mint_", "github_pat_", "ghp_", "gho_", "ghs_",
    "ghu_", "ghr_", "glpat-", "sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "npm-", "npm_", "hf-",
    "hf_", "AKIA", "ASIA", "AIza", "eyJ", "GOCSPX-", "ya29.", "SG.", "shp", "whsec_", "pypi-",
    "dop_v1_", "dckr_pat_",
)  # fmt: skip
"""Parts of every text with a key of a known beginning.

They are looked for first, because few texts have one.
"""
_PRIVATE_KEY_PATTERN = re.compile(
    "-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|\\Z)", re.DOTALL
)
_SIGNATURE_PATTERN = re.compile(r"\bv0=[0-9a-f]{16,}")
"""Slack's signature of a request."""
_DOTTED_RUN_PATTERN = re.compile(r"[A-Za-z0-9_.-]+")
_PREFIX_PATTERN = re.compile(
    r"(?<![A-Za-z0-9])"
    r"(?:(xox[a-z][-.]|xapp-|mint_|github_pat_|gh[opsur]_|glpat-|GOCSPX-|dop_v1_|dckr_pat_)"
    r"|(?:[spr]k|npm|hf)[_-]|shp(?:at|ca|pa|ss)_|whsec_|pypi-|ya29\.|SG\."
    r"|A[KS]IA(?=[A-Z0-9]{16})|AIza(?=[A-Za-z0-9_-]{35})|eyJ(?=[A-Za-z0-9_-]{12}))"
)
"""Beginnings of keys. The first group is of services whose keys need no digit to be one."""
_BASE64_LENGTH = 40
_BASE64_PATTERN = re.compile(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])")
"""As long as a secret access key of AWS.

https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html
"""
_MIN_TURNS = 18
"""How often random characters turn from one class to another.

The classes are small letters, large letters, digits, and signs.

Of 40 random ones 99 % turn more often, and paths and sums turn less often.
"""
_CLASS_PATTERN = re.compile("[a-z]+|[A-Z]+|[0-9]+|[/+]+")
_IN_ADDRESS_PATTERN = re.compile("://[^\\s\"'<>]+")
_WEBHOOK_PATTERN = re.compile(
    r"hooks\.slack(?:-gov)?\.com|(?:[a-z]+\.)?discord(?:app)?\.com(?=/api/webhooks/)"
    r"|[a-z0-9-]+\.webhook\.office\.com|outlook\.office(?:365)?\.com(?=/webhook/)"
    r"|[a-z0-9-]+\.logic\.azure\.com"
)
"""Hosts, with the beginning of a path where needed, of which the whole path grants something."""
_GRANT_PATTERN = re.compile(
    r"(/(?:response|commands|actions)/).+|((?:token|key|secret|sig|signature|password)=)[^&#]+",
    re.IGNORECASE,
)
"""Parts of an address that grant something: of response URLs, the sandbox's too, and of queries."""
_IBAN_PATTERN = re.compile(r"\b[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?\b")
_DIGITS_OF_NUMBERS_PATTERN = re.compile("[0-9]{4}")
"""A part of every number of a card or an account."""
_CARD_PATTERN = re.compile(r"(?<![A-Za-z0-9])[0-9](?:[ -]?[0-9]){12,18}(?![A-Za-z0-9])")
_ISSUER_PATTERN = re.compile(r"4|5[0-8]|2[2-7]|3[0-9]|6")
"""First digits of cards. https://www.iso.org/standard/70484.html"""


def _replace_secrets(text: str, replace: Replace) -> str:
    """Return the text with ``replace`` of each secret in its place. This is the list of shapes."""

    def key(match: re.Match[str]) -> str:
        return replace(match[0], Kind.KEY)

    if any(map(text.__contains__, _PARTS_OF_KEYS)):
        text = _PRIVATE_KEY_PATTERN.sub(key, text)
        text = _IN_ADDRESS_PATTERN.sub(lambda match: _mask_in_address(match[0], replace), text)
        text = _SIGNATURE_PATTERN.sub(key, text)
        text = _DOTTED_RUN_PATTERN.sub(lambda run: _mask_prefixed_key(run[0], replace), text)
    if len(text) >= _BASE64_LENGTH:
        text = _BASE64_PATTERN.sub(
            lambda match: key(match) if _is_random(match[0]) else match[0], text
        )
    if _DIGITS_OF_NUMBERS_PATTERN.search(text):
        text = _CARD_PATTERN.sub(lambda match: _mask_card(match[0], replace), text)
        text = _IBAN_PATTERN.sub(lambda match: _mask_iban(match[0], replace), text)
    if any(map(text.lower().__contains__, _NAMES)):
        text = _replace_tokens(text, lambda token, name: _mask_named_secret(token, name, replace))
    return text


def _mask_prefixed_key(run: str, replace: Replace) -> str:
    """Replace the key that begins in a run of letters, digits and signs."""
    match = _PREFIX_PATTERN.search(run)
    if match is None:
        return run
    key = run[match.start() :]
    if match[1]:
        is_key = len(run) - match.end() >= 6
    else:
        is_key = len(key) >= _MIN_MIXED_CHARACTERS and _has_digit(key)
    return f"{run[: match.start()]}{replace(key, Kind.KEY)}" if is_key else run


def _mask_in_address(after_scheme: str, replace: Replace) -> str:
    """Replace passwords and tokens in the part of an address after its scheme."""
    place, slash, path = after_scheme[3:].partition("/")
    user, at, host = place.rpartition("@")
    if ":" in user:
        user = replace(user, Kind.KEY)
    if path and _WEBHOOK_PATTERN.match(f"{host}/{path[:20]}"):
        path = replace(path, Kind.KEY if _has_digit(path) else Kind.GRANT)
    else:
        path = _GRANT_PATTERN.sub(lambda grant: _mask_grant(grant, replace), f"/{path}")[1:]
    return f"://{user}{at}{host}{slash}{path}"


def _mask_grant(grant: re.Match[str], replace: Replace) -> str:
    begin = grant[1] or grant[2]
    value = grant[0][len(begin) :]
    if grant[1]:
        is_key = any(_is_solid_key(part, len(value) + 1) for part in _SOLID_PATTERN.findall(value))
    else:
        is_key = _is_value_of_secret(value)
    return f"{begin}{replace(value, Kind.KEY if is_key else Kind.GRANT)}"


def _is_random(run: str) -> bool:
    """Return whether a run of 40 characters looks like a key and not like a path or a hash sum."""
    turns = len(_CLASS_PATTERN.findall(run)) - 1
    counts = [sum(map(is_of, run)) for is_of in (str.isdigit, str.isupper, str.islower)]
    return turns >= _MIN_TURNS and min(counts) >= 2


def _mask_card(number: str, replace: Replace) -> str:
    """Replace the number of a card."""
    sizes = [len(group) for group in re.split("[ -]", number)]
    digits = "".join(filter(str.isdigit, number))
    is_grouped = len(sizes) == 1 or set(sizes[:-1]) <= {4, 5, 6}
    is_card = is_grouped and _ISSUER_PATTERN.match(digits) is not None and _fits_luhn(digits)
    return replace(number, Kind.NUMBER) if is_card else number


def _mask_iban(number: str, replace: Replace) -> str:
    """Replace the number of a bank account. https://www.iso.org/standard/81090.html"""
    account = "".join(filter(str.isalnum, number))
    value = int("".join(str(int(sign, 36)) for sign in account[4:] + account[:4]))
    return replace(number, Kind.NUMBER) if value % 97 == 1 else number


def _mask_named_secret(token: str, name: str, replace: Replace) -> str:
    """Replace the value after the name of a secret."""
    return replace(token, Kind.KEY) if name and _is_value_of_secret(token) else token


def _is_value_of_secret(value: str) -> bool:
    """Return whether a named value may be a secret: words, numbers and paths are none."""
    return len(value) >= 6 and _has_digit(value) and not value.isdigit() and "/" not in value


# ---- secrets that somebody made up

_MADE_UP_PATTERN = re.compile(
    r"your|example|xxx|\*\*\*|placeholder|dummy|sample|1234|abcd", re.IGNORECASE
)
_COMMON_PASSWORD_PATTERN = re.compile(
    r"(?:my|db|the)?[_-]?"
    r"(?:password|passwd|pass|pwd|secret|token|key|change_?me|test|admin|root|postgres|guest)"
    r"|\$.*|%.*|\{.*|<.*|\[.*|\.+|\**",
    re.IGNORECASE,
)
"""Placeholders for passwords in addresses."""
_TEST_CARDS = frozenset({"378282246310005", "371449635398431", "30569309025904"})
"""https://docs.stripe.com/testing: those that have more than four digits"""
_MAX_DIGITS_OF_TEST_CARD = 4
"""Test numbers such as 4242 4242 4242 4242 have few different digits."""


def _is_made_up(secret: str, kind: Kind) -> bool:
    """Return whether a secret is a placeholder from an example, or perhaps no secret."""
    if kind is Kind.GRANT:
        return True
    if kind is Kind.NUMBER:
        digits = "".join(filter(str.isdigit, secret))
        return digits in _TEST_CARDS or len(set(digits)) <= _MAX_DIGITS_OF_TEST_CARD
    _user, colon, password = secret.partition(":")
    is_placeholder = colon == ":" and _COMMON_PASSWORD_PATTERN.fullmatch(password) is not None
    return is_placeholder or _MADE_UP_PATTERN.search(secret) is not None


# ---- the three uses


def redact_keys(text: str) -> str:
    """Return a text for a log, with ``HIDDEN`` in the place of secrets."""
    return _replace_secrets(text, lambda _secret, _kind: HIDDEN)


def has_key(text: str) -> bool:
    """Return whether a text seems to contain a real secret, not a made-up one."""
    found: list[str] = []

    def look_at(secret: str, kind: Kind) -> str:
        if not _is_made_up(secret, kind):
            found.append(secret)
        return secret

    _replace_secrets(text, look_at)
    return bool(found)


def mask_text(text: str, *, is_readers: bool = False) -> str:
    """Mask text that looks like a key, password, card, phone or account number.

    ``is_readers``: readers' words are kept without email, web and IP addresses, too, and without
    any value of a key, since nobody has to act on them.
    """

    def mask(token: str, name: str) -> str:
        is_odd = _has_digit(token) and len(token) >= 6 and "//" not in token
        is_value = is_readers or is_odd or name.endswith(_PASSWORDS)
        if name and is_value and token not in _PLACEHOLDERS:
            return _KEY
        if _is_address(token):  # of which the secret parts are replaced
            return token
        min_letters = _MIN_LETTERS if is_readers else len(token) + 1
        return _RUN_PATTERN.sub(lambda run: _KEY if _is_key(run[0], min_letters) else run[0], token)

    def hide(_secret: str, kind: Kind) -> str:
        return _NUMBER if kind is Kind.NUMBER else _KEY

    if is_readers:
        text = _TOKEN_PATTERN.sub(_hide_address, text)
    text = _replace_secrets(text, hide)
    return _replace_tokens(_NUMERAL_PATTERN.sub(_hide_number, text), mask)


# ---- tokens, names and numbers

_TOKEN_PATTERN = re.compile(r"[^\s<>()\[\]{},;\"'`“”‘’|]+")
_RUN_PATTERN = re.compile(r"[A-Za-z0-9_-]+")
_SOLID_PATTERN = re.compile(r"[A-Za-z0-9]+")
_IP_PATTERN = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?")
_PASSWORDS = ("password", "passwd", "pwd", "passwort", "passcode", "passphrase")
_NAMES = (*_PASSWORDS, "secret", "token", "key", "authorization", "bearer")
_MAX_NAME_CHARACTERS = max(map(len, _NAMES))
_SCHEMES = ("basic", "bearer")
_WIDE = str.maketrans("＠：＝", "@:=")
_NUMERAL_PATTERN = re.compile(r"\+?\(?[0-9](?:[ \u00a0\u202f()/.-]{0,3}[0-9])+")


def _replace_tokens(text: str, mask: Callable[[str, str], str]) -> str:
    """Replace each token by ``mask`` of it and of the name of a secret before it; "" for none."""
    before = ""

    def replace(match: re.Match[str]) -> str:
        nonlocal before
        raw = match[0]
        token = raw.translate(_WIDE).lower()
        if not token.strip(":="):  # the name is a token of its own, as in JSON
            before = before[-_MAX_NAME_CHARACTERS:] + token[0]
            return raw
        name = _find_secret_name(before)
        if name and token in _SCHEMES:
            return raw
        if token.rstrip(":") == "is" and before.endswith(_PASSWORDS):
            before += " is"
            return raw
        is_plain_word = before.endswith(" is") and not _has_digit(token)
        before = token[-_MAX_NAME_CHARACTERS - 1 :]
        if name and not is_plain_word:
            return mask(raw, name)
        end = token.replace("=", ":").find(":")
        if end >= 0 and token[end:].strip(":=") and token[:end].endswith(_NAMES):
            return raw[: end + 1] + mask(raw[end + 1 :], token[:end])
        return mask(raw, "")

    return _TOKEN_PATTERN.sub(replace, text)


def _find_secret_name(before: str) -> str:
    """Return the secret's name in the text before a value; "" for another text.

    Such as "password is".
    """
    if not before.endswith((":", "=", " is")):
        return ""
    name = before.rstrip(":=").removesuffix(" is")
    return name if name.endswith(_NAMES) else ""


def _hide_address(match: re.Match[str]) -> str:
    """Return a token of readers' words, or a placeholder for a web, email or IP address."""
    token = match[0].translate(_WIDE)
    name, _, domain = token.replace("%40", "@").partition("@")
    if _is_web_address(token):
        return _ADDRESS
    if name and domain:
        return _EMAIL
    return _ADDRESS if _is_ip(token.rstrip(".:!?")) else match[0]


def _is_address(text: str) -> bool:
    """Return whether a token is a web, email or IP address."""
    token = text.translate(_WIDE)
    name, _, domain = token.replace("%40", "@").partition("@")
    return _is_web_address(token) or bool(name and domain) or _is_ip(token.rstrip(".:!?"))


def _is_web_address(token: str) -> bool:
    return "://" in token or token.lower().startswith(("www.", "mailto:"))


def _is_ip(token: str) -> bool:
    if token.count(":") < 2 or not _has_digit(token):
        return _IP_PATTERN.fullmatch(token) is not None
    try:
        return bool(ip_address(token))
    except ValueError:
        return False


def _is_key(run: str, min_letters: int) -> bool:
    """Return whether letters, digits, hyphens and underscores look like a key or a long number.

    ``min_letters``: the length from which letters alone are no word.
    """
    is_uuid = len(run) == 36 and run.count("-") == 4 and _has_digit(run)
    digits = sum(map(str.isdigit, run))
    is_number = digits == len(run.replace("-", "")) >= _MIN_DIGITS
    if is_uuid or is_number:
        return True
    return any(_is_solid_key(part, min_letters) for part in _SOLID_PATTERN.findall(run))


def _is_solid_key(part: str, min_letters: int) -> bool:
    digits = sum(map(str.isdigit, part))
    return len(part) >= min_letters or (
        len(part) >= _MIN_MIXED_CHARACTERS and 2 <= digits < len(part)
    )


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _hide_number(match: re.Match[str]) -> str:
    """Return the placeholder of a card or phone number that is written in groups of digits."""
    number = match[0]
    before = match.string[max(match.start() - 1, 0) : match.start()]
    after = match.string[match.end() : match.end() + 1]
    if before.isalnum() or after.isalnum():  # a part of a word or of a key
        return number
    groups = re.findall("[0-9]+", number)
    return _NUMBER if _is_long_card(groups) or _is_phone(number, groups) else number


def _is_long_card(groups: list[str]) -> bool:
    """Return whether groups of digits may be the number of a card of any issuer."""
    digits = "".join(groups)
    is_grouped = all(len(group) in (4, 5, 6) for group in groups[:-1])
    return 13 <= len(digits) <= 19 and is_grouped and _fits_luhn(digits)


def _is_phone(number: str, groups: list[str]) -> bool:
    """Return whether groups of digits may be a phone number."""
    sizes = tuple(map(len, groups))
    digits = "".join(groups)
    has_prefix = number.startswith("+") or (digits.startswith("00") and len(groups) > 1)
    is_abroad = has_prefix and 8 <= len(digits) <= 15
    is_local = sizes[0] > 2 and len(sizes) > 1 and digits[0] == "0" and 9 <= len(digits) <= 13
    is_american = sizes in ((3, 3, 4), (1, 3, 3, 4))
    is_french = sizes == (2, 2, 2, 2, 2) and digits[0] == "0"
    return is_abroad or is_local or is_american or is_french


def _fits_luhn(digits: str) -> bool:
    """Return whether the last digit is the check digit of the others.

    https://www.iso.org/standard/70484.html
    """
    doubled = (sum(divmod(2 * int(sign), 10)) for sign in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0
