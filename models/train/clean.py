"""Normalises sentence pairs and says what is wrong with the bad ones."""

import re
import unicodedata
from collections import Counter

from languages import LANGUAGES

MAX_WORDS = 180

# Spaces of every kind become one plain space; invisible characters that carry no text vanish.
# The zero-width joiner stays: it holds emoji sequences together.
SPACES = "".join(filter(str.isspace, map(chr, range(0x3001))))
INVISIBLE = "\xad\u200b\u200e\u200f\u2060\ufeff"
_SPACES = re.compile(f"[{SPACES}]+")
_INVISIBLE = re.compile(f"[{INVISIBLE}]")

# Replacement and private-use characters, controls, UTF-8 read as Latin-1, an entity that KDE's
# tools misread (U+2A9A for "&eg;"), and Greek or Cyrillic capitals used as Latin look-alikes.
_BROKEN = re.compile(
    r"[\ufffd\ue000-\uf8ff\x00-\x1f\x7f-\x9f\u2a9a\u2581]|Ã[\u0080-\u00bf¤¶¼Ÿ„“–]|â€|Â[«»°§]"
    r"|[A-Za-z][Α-ΩА-Я]|[Α-ΩА-Я][A-Za-z]"
)

URL = re.compile(r"(?:https?|ftp)://[^\s<>\"„“”«»]*[\w/]|www\.[^\s<>\"„“”«»]*[\w/]")
EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
PLACEHOLDER = re.compile(
    r"%\(\w+\)[sd]"                                          # %(name)s
    r"|%(?:\d+\$)?[-+#0]*\d*(?:\.\d+)?(?:hh|ll|h|l|z)?[sdiufgxXcS](?![^\W_])"  # %s %1$s %5.2f
    r"|%\d+(?![\d%])"                                        # %1
    r"|\$?\{\{?[\w.$ :-]*\}\}?"                              # {0} {{name}} ${x}
    r"|\$[A-Z_]{2,}"                                         # $VAR
    r"|@[A-Z_]{2,}@|&\w+;"                                   # @VAR@ &entity;
)
TAG = re.compile(r"</?[A-Za-z][^<>]*>")

# Most sentences hold nothing to protect; this quick look spares them the full search.
_MAYBE_PROTECTED = re.compile(r"[%{$@&<]|://|www\.")

_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
_NON_LATIN_LETTER = re.compile(r"[^\W\d_a-zA-Z\u00aa-\u024f\u1e00-\u1eff]")
_THOUSANDS = re.compile(r"(?<=\d)[.,'’ ](?=\d{3}(?!\d))")
_DIGITS = re.compile(r"\d+")
_AFTERNOON = re.compile(r"\d ?p\.?m\b", re.I)
# A segment that starts like this is the rest of another one.
_FRAGMENT = re.compile(r"[.,;:)\]}!?](?![\w.(])")

# Quotation marks around a passage that does not look like code.
_QUOTATION = re.compile(
    r'(?<![\w=(\[{\\;,])(?:"([^"„“”»«=\\]+)"|»([^"„“”»«]+)«|„([^"„“”»«]+)["”])(?![\w=\\;])'
)


def words(text):
    return text.split()


def normalise(text):
    """White space, Unicode composition and invisible characters, without touching the wording."""
    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    return _SPACES.sub(" ", text).strip()


def numbers(text):
    """The digit groups of a text; 1,234.5 and 1.234,5 and 1 234,5 give the same ones."""
    if not _DIGITS.search(text):
        return Counter()
    # The digits of %1$s or {0} number arguments, which may be written differently.
    groups = _DIGITS.findall(_THOUSANDS.sub("", PLACEHOLDER.sub(" ", text)))
    return Counter(stripped for group in groups if (stripped := group.lstrip("0")))


def protected(text):
    """Everything a translation must copy to the letter: URLs, addresses, placeholders, tags."""
    if not _MAYBE_PROTECTED.search(text):
        return Counter()
    found = Counter(URL.findall(text)) + Counter(EMAIL.findall(text)) + Counter(TAG.findall(text))
    for placeholder in PLACEHOLDER.findall(TAG.sub(" ", URL.sub(" ", text))):
        # Translators may number the arguments to reorder them: %1$s is %s.
        found[re.sub(r"\d+\$", "", placeholder)] += 1
    return found


class Cleaner:
    """Cleans the pairs of one language pair: `clean` returns (source, target, reason to reject)."""

    def __init__(self, source_language, target_language):
        self.source = LANGUAGES[source_language]
        self.target = LANGUAGES[target_language]
        # Words of both languages say nothing about which one it is.
        self.source_only = self.source.stop_words - self.target.stop_words
        self.target_only = self.target.stop_words - self.source.stop_words

    def clean(self, source, target):
        source, target = normalise(source), self._quotes(normalise(target))
        source, target = self._full_stop(source, target)
        return source, target, self._fault(source, target)

    def _fault(self, source, target):
        if not source or not target:
            return "empty"
        if _BROKEN.search(source) or _BROKEN.search(target):
            return "encoding"
        if not _LETTER.search(source) or not _LETTER.search(target):
            return "no letters"
        if source == target:
            return "copy"
        if len(words(source)) > MAX_WORDS or len(words(target)) > MAX_WORDS:
            return "too long"
        # The constant lets short texts differ more than long ones.
        if not 1 / 2.4 < (len(source) + 12) / (len(target) + 12) < 2.0:
            return "length ratio"
        if _FRAGMENT.match(source) or _FRAGMENT.match(target):
            return "fragment"
        if _other_script(source) or _other_script(target):
            return "script"
        if self._wrong_language(source, target):
            return "language"
        if protected(source) != protected(target):
            return "placeholders"
        if not self._same_numbers(source, target):
            return "numbers"
        return None

    def _wrong_language(self, source, target):
        source_words = _WORD.findall(URL.sub(" ", source.lower()))
        target_words = _WORD.findall(URL.sub(" ", target.lower()))
        # A target that repeats nearly the whole source was left untranslated.
        if len(target_words) >= 6 and 10 * len(set(target_words) - set(source_words)) < 3 * len(set(target_words)):
            return True

        def foreign(text_words, own, other):
            hits = sum(word in other for word in text_words)
            return hits >= 2 and hits > sum(word in own for word in text_words)

        return foreign(source_words, self.source_only, self.target_only) or foreign(
            target_words, self.target_only, self.source_only
        )

    def _same_numbers(self, source, target):
        in_source, in_target = numbers(source), numbers(target)
        if in_source == in_target:
            return True
        left, right = in_source - in_target, in_target - in_source
        # Groups split differently (dates, ranges, "1 500" after a year) still have the same digits.
        if sorted("".join(left.elements())) == sorted("".join(right.elements())):
            return True
        if _AFTERNOON.search(source):
            for hour in list(left):
                evening = str(int(hour) + 12)
                if evening in right:
                    del left[hour], right[evening]
        for short, long in [(left, right), (right, left)]:  # the '90s: die 1990er
            for group in [g for g in short if len(g) == 2]:
                year = next((g for g in long if len(g) == 4 and g.endswith(group)), None)
                if year:
                    del short[group], long[year]
        return _spelled_out(left, target, self.target) and _spelled_out(right, source, self.source)

    def _quotes(self, target):
        """One style of quotation marks, so that the model need not guess the author's habit."""
        if self.target.quotes is None:
            return target
        opening, closing = self.target.quotes
        return _QUOTATION.sub(lambda m: f"{opening}{(m[1] or m[2] or m[3]).strip()}{closing}", target)

    def _full_stop(self, source, target):
        """Software texts often differ in the final full stop; the target follows the source."""
        if source.endswith(".") and target[-1:].isalpha():
            target += "."
        elif source[-1:].isalpha() and re.search(r"[^\W\d_]{4,}\.$", target) and target.count(".") == 1:
            target = target[:-1]
        return source, target


def _other_script(text):
    """Whether more than a fifth of the letters are not Latin."""
    others = [] if text.isascii() else _NON_LATIN_LETTER.findall(text)
    return bool(others) and 5 * len(others) > len(_LETTER.findall(text))


def _spelled_out(groups, text, language):
    """Whether each of these numbers appears in the text as a word."""
    if not groups:
        return True
    text_words = _WORD.findall(text.lower())
    return all(
        any(word.startswith(language.number_words.get(int(group), ())) for word in text_words)
        for group in groups
    )
