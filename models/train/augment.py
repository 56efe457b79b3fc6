"""Makes more pairs from clean ones, so that the model meets text as people really type it.

Every augmentation becomes a domain of its own; the mix decides how often each is seen.
"""

import random
import re
from collections import Counter

from clean import EMAIL, PLACEHOLDER, TAG, URL, protected, words
from entities import Entities, emoji
from languages import LANGUAGES
from vocabulary import MASKS

PAIRS_EACH = 40_000
MAX_WORDS = 40           # of one pair taken as material
MAX_JOINED_WORDS = 120   # of several pairs in one line
FOUND_COPIES = 4_000
SOFTWARE_FRAGMENTS = {"ui", "gettext"}

_END = re.compile(r"\s*[.!?…]+$")
_SENTENCE = re.compile(r"[\"“„«'‘(]*[^\W\d_a-z].*[.!?…][\"”“»'’)]*$", re.S)
_TOKEN = re.compile(
    "|".join(pattern.pattern for pattern in (URL, EMAIL, TAG, PLACEHOLDER)) + r"|\d+(?:[.,:/]\d+)*(?!\w)|\w+"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?![\w])")
_SMALL_WORDS = set("a an the of in on at to for and or but with from by as".split())


def shared_spans(source, target, stop_words):
    """Passages that stand once in the source and once, unchanged, in the target.

    Returns ((source start, source end), (target start, target end)) in the order of the source.
    A noun may differ in its capital (computer, Computer). Neighbouring tokens form one passage.
    """
    source_tokens, target_tokens = list(_TOKEN.finditer(source)), list(_TOKEN.finditer(target))
    source_counts = Counter(token[0].casefold() for token in source_tokens)
    target_counts = Counter(token[0].casefold() for token in target_tokens)
    place = {token[0].casefold(): position for position, token in enumerate(target_tokens)}
    spans, previous = [], None
    for token in source_tokens:
        folded = token[0].casefold()
        if source_counts[folded] != 1 or target_counts[folded] != 1:
            continue
        other = target_tokens[place[folded]]
        plain_word = token[0].isalpha()
        # Lower-case words that look alike (was, also, man) rarely mean the same.
        if plain_word and (folded in stop_words or len(folded) < 3 or other[0].islower()):
            continue
        if plain_word and token[0] != other[0] and len(folded) < 5:
            continue
        if previous and source[previous[0] : token.start()] == " " == target[previous[1] : other.start()]:
            (source_start, _), (target_start, _) = spans[-1]
            spans[-1] = (source_start, token.end()), (target_start, other.end())
        else:
            spans.append((token.span(), other.span()))
        previous = token.end(), other.end()
    return spans


def substitute(text, replacements):
    """Replaces the given {(start, end): new text} passages."""
    for (start, end), new in sorted(replacements.items(), reverse=True):
        text = text[:start] + new + text[end:]
    return text


class Augmenter:
    """Draws its material from {domain: pairs} according to the weights of the mix."""

    def __init__(self, domains, weight, languages, seed=1):
        self.domains, self.weight, self.seed = domains, weight, seed
        self.stop_words = frozenset().union(*(LANGUAGES[name].stop_words for name in languages))
        self.pool = self._draw_pool(random.Random(f"{seed} pool"))
        self.sentences = {
            name: [pair for pair in pairs if _SENTENCE.match(pair[0]) and _SENTENCE.match(pair[1])]
            for name, pairs in domains.items()
            if name not in SOFTWARE_FRAGMENTS
        }
        lower_case = Counter(
            word for source, _ in self.pool[:100_000] for word in source.split() if re.fullmatch("[a-z]{3,10}", word)
        )
        self.vocabulary = sorted(word for word, count in lower_case.items() if count > 1) or ["word"]

    def _draw_pool(self, rng, size=400_000):
        usable = {
            name: [pair for pair in pairs if max(map(len, map(words, pair))) <= MAX_WORDS]
            for name, pairs in self.domains.items()
            if name != "ui"
        }
        total = sum(self.weight(name) * len(pairs) for name, pairs in usable.items()) or 1
        pool = []
        for name, pairs in usable.items():
            wanted = int(size * self.weight(name) * len(pairs) / total)
            pool += rng.sample(pairs, min(wanted, len(pairs)))
        rng.shuffle(pool)
        return pool

    def run(self, found_copies):
        """All augmented domains: {name: pairs}. `found_copies`: texts the corpora leave untranslated."""
        makers = {
            "aug-capitals": self.capitals,
            "aug-titlecase": self.titlecase,
            "aug-unpunctuated": self.unpunctuated,
            "aug-lowercase": self.lowercase,
            "aug-typography": self.typography,
            "aug-numbers": self.numbers,
            "aug-entities": self.entities,
            "aug-masks": self.masks,
            "aug-emoji": self.emoji,
        }
        made = {name: self._repeat(name, make) for name, make in makers.items()}
        made["aug-several"] = self._several()
        made["aug-words"] = self._single_words()
        made["aug-copies"] = self._copies(found_copies)
        return made

    def _repeat(self, name, make):
        """Applies `make` to random pairs until there are enough results or the pool is used up."""
        self.rng = random.Random(f"{self.seed} {name}")
        self.entity = Entities(self.rng, self.vocabulary)
        results = []
        for source, target in self.rng.sample(self.pool, len(self.pool)):
            result = make(source, target)
            if result and result != (source, target):
                results.append(result)
                if len(results) == PAIRS_EACH:
                    break
        return results

    def capitals(self, source, target):
        if not protected(source):
            return source.upper(), target.upper()

    def titlecase(self, source, target):
        """Headlines: English capitals on every word, or on all but the small ones."""
        if len(words(source)) > 14 or protected(source):
            return None
        keep_small = self.rng.random() < 0.6
        title = [
            word if keep_small and position and word in _SMALL_WORDS else word[:1].upper() + word[1:]
            for position, word in enumerate(words(source))
        ]
        headline = " ".join(title)
        if self.rng.random() < 0.7:
            return self.unpunctuated(headline, target) or (headline, target)
        return headline, target

    def unpunctuated(self, source, target):
        if _END.search(source) and _END.search(target):
            return _END.sub("", source), _END.sub("", target)

    def lowercase(self, source, target):
        """Chat style: a careless source, a proper target."""
        if not source[:1].isupper() or protected(source):
            return None
        source = source.lower() if self.rng.random() < 0.6 else source[:1].lower() + source[1:]
        if self.rng.random() < 0.4:
            return self.unpunctuated(source, target) or (source, target)
        return source, target

    def typography(self, source, target):
        """The apostrophes and quotation marks of word processors in the source."""
        if protected(source):
            return None
        source = re.sub(r"(?<=\w)'|'(?=\d\ds)", "’", source)
        return re.sub(r'"([^"]+)"', r"“\1”", source), target

    def numbers(self, source, target):
        """Other digits in the same numbers; separators stay, so 1,234.5 remains beside 1.234,5."""
        in_source, in_target = ({}, {})
        for text, found in ((source, in_source), (target, in_target)):
            for number in _NUMBER.finditer(text):
                found.setdefault(re.sub(r"\D", "", number[0]), []).append(number)
        changes = ({}, {})
        for digits, numbers in in_source.items():
            # Numbers up to 12 decide about plurals and months: they stay.
            if len(numbers) == 1 == len(in_target.get(digits, ())) and int(digits) > 12:
                new = self._other_digits(digits)
                for number, change in ((numbers[0], changes[0]), (in_target[digits][0], changes[1])):
                    fresh = iter(new)
                    change[number.span()] = re.sub(r"\d", lambda _: next(fresh), number[0])
        if changes[0]:
            return substitute(source, changes[0]), substitute(target, changes[1])

    def _other_digits(self, digits):
        if len(digits) == 2:  # perhaps a day or a minute: it stays plausible
            return str(self.rng.randint(13, 31 if int(digits) <= 31 else 99))
        if len(digits) == 4 and digits[:2] in ("19", "20"):
            return str(self.rng.randint(1900, 2035))
        return self.entity.digits(len(digits))

    def entities(self, source, target):
        """Addresses, prices, placeholders … in place of a shared passage, or added to the sentence."""
        spans = shared_spans(source, target, self.stop_words)
        if spans and self.rng.random() < 0.6:
            in_source, in_target = self.rng.choice(spans)
            numeric = source[in_source[0] : in_source[1]].isdecimal()
            entity = self.entity.number() if numeric else self.entity.name()
            return substitute(source, {in_source: entity}), substitute(target, {in_target: entity})
        return self._insert(source, target, self.entity.any())

    def _insert(self, source, target, text):
        """Adds a text at a place that exists in both languages: an edge or before the final mark."""
        ends = _END.search(source), _END.search(target)
        style = self.rng.choice(["({})", ": {}", "after", "before", "dash"])
        if style == "after":
            return f"{source} {text}", f"{target} {text}"
        if style == "before":
            return f"{text}: {source}", f"{text}: {target}"
        if style == "dash":
            return f"{text} – {source}", f"{text} – {target}"
        if not all(ends):
            return f"{source}: {text}", f"{target}: {text}"
        joint = " (" + text + ")" if style == "({})" else ": " + text
        return tuple(
            side[: end.start()] + joint + (end[0].strip() if style == "({})" else "")
            for side, end in zip((source, target), ends)
        )

    def masks(self, source, target):
        """⟦k⟧ in place of one to four shared passages; some added where an address might stand."""
        spans = shared_spans(source, target, self.stop_words)
        if not spans and self.rng.random() < 0.9:
            return None
        count = min(len(spans), self.rng.choice([1, 1, 2, 3, 4]))
        chosen = sorted(self.rng.sample(spans, count))
        # The package numbers its masks from the start of a text, but a sentence may come later in it.
        first = self.rng.choice([0, 0, 0, self.rng.randrange(10)])
        marks = [MASKS[(first + step) % 10] for step in range(count + 1)]
        if self.rng.random() < 0.3:
            marks = self.rng.sample(MASKS, count + 1)
        masked = (
            substitute(source, {span[0]: mark for span, mark in zip(chosen, marks)}),
            substitute(target, {span[1]: mark for span, mark in zip(chosen, marks)}),
        )
        if not spans or self.rng.random() < 0.2:
            return self._insert(*masked, marks[-1])
        return masked

    def emoji(self, source, target):
        run = "".join(emoji(self.rng) for _ in range(self.rng.choice([1, 1, 1, 2, 3])))
        glue = self.rng.choice([" ", " ", " ", ""])
        place = self.rng.random()
        if place < 0.15:
            return f"{run} {source}", f"{run} {target}"
        if place < 0.4:  # between two sentences
            following = self.rng.choice(self.pool)
            return f"{source}{glue}{run} {following[0]}", f"{target}{glue}{run} {following[1]}"
        if place < 0.6 and _END.search(source) and _END.search(target):
            return _END.sub("", source) + glue + run, _END.sub("", target) + glue + run
        return source + glue + run, target + glue + run

    def _several(self):
        """Two to four sentences in one line, sometimes a whole paragraph of them."""
        rng = random.Random(f"{self.seed} several")
        names = [name for name, pairs in self.sentences.items() if len(pairs) > 100]
        if not names:
            return []
        frequencies = [self.weight(name) * len(self.sentences[name]) for name in names]
        results = []
        while len(results) < PAIRS_EACH:
            pairs = self.sentences[rng.choices(names, frequencies)[0]]
            paragraph = rng.random() < 0.25
            wanted = 12 if paragraph else rng.randint(2, 4)
            room = rng.randint(50, MAX_JOINED_WORDS) if paragraph else MAX_JOINED_WORDS
            chosen = []
            for pair in rng.sample(pairs, wanted):
                room -= max(map(len, map(words, pair)))
                if room < 0:
                    break
                chosen.append(pair)
            if len(chosen) > 1:
                results.append(tuple(" ".join(side) for side in zip(*chosen)))
        return results

    def _single_words(self):
        single = [
            pair
            for pairs in self.domains.values()
            for pair in pairs
            if all(re.fullmatch(r"[^\W\d_]{2,}(?:-[^\W\d_]+)*[!?]?", side) for side in pair)
        ]
        return random.Random(f"{self.seed} words").sample(single, min(PAIRS_EACH, len(single)))

    def _copies(self, found_copies):
        """Texts that stay as they are: entities alone, and terms the corpora leave untranslated."""
        rng = random.Random(f"{self.seed} copies")
        entity = Entities(rng, self.vocabulary)
        terms = sorted(
            text
            for text in found_copies
            if len(words(text)) <= 3 and self.stop_words.isdisjoint(text.lower().split())
        )
        texts = rng.sample(terms, min(FOUND_COPIES, len(terms)))
        texts += [entity.any() for _ in range(PAIRS_EACH // 4)] + [emoji(rng) for _ in range(PAIRS_EACH // 20)]
        return [(text, text) for text in dict.fromkeys(texts)]
