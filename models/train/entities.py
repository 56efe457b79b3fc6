"""Random things that a translation copies unchanged: addresses, numbers, code, emoji, foreign script."""

import unicodedata

_EXTENSIONS = "txt pdf jpg png csv json html py js rs md docx zip tar.gz mp4 yaml log xlsx".split()
_DOMAINS = "com org net de io eu co.uk info app dev edu gov at ch fr".split()
_CURRENCIES = "$ € £ EUR USD CHF GBP".split()
_SCRIPTS = [
    (0x0410, 0x044F),  # Cyrillic
    (0x03B1, 0x03C9),  # Greek
    (0x3041, 0x3093),  # Hiragana
    (0x30A1, 0x30F3),  # Katakana
    (0x4E00, 0x9FA5),  # Chinese characters
    (0xAC00, 0xD7A3),  # Hangul
    (0x05D0, 0x05EA),  # Hebrew
    (0x0627, 0x0648),  # Arabic
    (0x0905, 0x0939),  # Devanagari
]
_EMOJI_RANGES = [
    (0x1F300, 0x1F64F), (0x1F680, 0x1F6FC), (0x1F900, 0x1F9FF), (0x1FA70, 0x1FAFF), (0x2600, 0x27BF),
]
_POPULAR_EMOJI = (
    "😀 😂 🤣 😊 😍 😘 😉 😎 😢 😭 😡 😱 🤔 🙄 😴 🥳 🥰 😅 🙂 🙃 👍 👎 👏 🙏 💪 👋 🤝 ❤️ 💔 💙 🔥 ✨ ⭐ 🎉 🎂 🎁 "
    "☀️ 🌧️ ❄️ 🌍 🌹 🐶 🐱 🍕 🍺 ☕ ⚽ 🚗 ✈️ 🏠 📧 📅 💡 ✅ ❌ ⚠️ ❓ ❗ 💯 👀 🚀 📌 🎵 1️⃣ #️⃣"
).split()
_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"
_PEOPLE, _SKINS = "👩👨🧑", ["", *map(chr, range(0x1F3FB, 0x1F400))]
_TOOLS = ["💻", "🍳", "🎓", "🏫", "🚒", "🔬", "🎨", "🚀", "🌾", "🔧", "⚕️", "⚖️", "✈️"]


def _emoji_of_ranges():
    characters = (chr(code) for first, last in _EMOJI_RANGES for code in range(first, last + 1))
    return [c for c in characters if unicodedata.category(c) == "So" and unicodedata.name(c, "")]


EMOJI = _emoji_of_ranges()


def emoji(rng):
    """Mostly the popular ones, else anything: rare ones, joined people, skins, flags."""
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(_POPULAR_EMOJI)
    if kind < 0.8:
        return rng.choice(EMOJI)
    if kind < 0.9:
        return rng.choice(_PEOPLE) + rng.choice(_SKINS) + _JOINER + rng.choice(_TOOLS)
    if kind < 0.94:
        return _JOINER.join(rng.choices(_PEOPLE, k=2) + rng.choices("👧👦", k=rng.randint(1, 2)))
    if kind < 0.97:
        return rng.choice("👍👋🙏💪👏🤞✌👌") + rng.choice(_SKINS[1:])
    return "".join(chr(0x1F1E6 + rng.randrange(26)) for _ in range(2))


class Entities:
    """Draws random entities; `vocabulary` is a list of plain lower-case words to build them from."""

    def __init__(self, rng, vocabulary):
        self.rng = rng
        self.vocabulary = vocabulary
        self._names = [
            self.url, self.url, self.email, self.path, self.placeholder, self.placeholder, self.identifier,
            self.handle, self.foreign, self.serial,
        ]
        self._numbers = [self.version, self.phone, self.price, self.date, self.time, self.integer]

    def any(self):
        return self.name() if self.rng.random() < 0.6 else self.number()

    def name(self):
        """Something that can stand where a name stood."""
        return self.rng.choice(self._names)()

    def number(self):
        return self.rng.choice(self._numbers)()

    def word(self):
        return self.rng.choice(self.vocabulary)

    def digits(self, count):
        return str(self.rng.randint(1, 9)) + "".join(str(self.rng.randrange(10)) for _ in range(count - 1))

    def url(self):
        rng = self.rng
        host = rng.choice(["", "www.", "docs.", "en."]) + self.word() + rng.choice(["", "-" + self.word()])
        path = "".join(f"/{self.word()}" for _ in range(rng.randrange(4)))
        query = rng.choice(["", "", "", "/", ".html", f"?id={rng.randrange(5000)}", f"#{self.word()}"]) if path else ""
        scheme = "" if host.startswith("www.") and rng.random() < 0.5 else rng.choice(["https://"] * 4 + ["http://"])
        return f"{scheme}{host}.{rng.choice(_DOMAINS)}{path}{query}"

    def email(self):
        rng = self.rng
        name = self.word() + rng.choice(["", "." + self.word(), "_" + self.word(), str(rng.randrange(100))])
        return f"{name}@{self.word()}.{rng.choice(_DOMAINS)}"

    def path(self):
        rng = self.rng
        name = f"{self.word()}{rng.choice(['', '-' + self.word(), '_' + self.digits(2)])}.{rng.choice(_EXTENSIONS)}"
        folders = [self.word() for _ in range(rng.randrange(4))]
        if rng.random() < 0.2:
            return "C:\\" + "\\".join([*folders, name])
        return rng.choice(["", "/", "~/", "./"]) * bool(folders) + "/".join([*folders, name])

    def version(self):
        numbers = [str(self.rng.randrange(limit)) for limit in (20, 30, 15)[: self.rng.choice([2, 3, 3])]]
        return self.rng.choice(["", "v"]) + ".".join(numbers) + self.rng.choice(["", "", "", "-beta", "rc1"])

    def phone(self):
        rng, digits = self.rng, self.digits
        return rng.choice([
            f"+{rng.randrange(1, 99)} {digits(3)} {digits(rng.randint(5, 8))}",
            f"0{digits(rng.randint(2, 4))} {digits(rng.randint(5, 7))}",
            f"0{digits(3)}/{digits(6)}",
            f"({digits(3)}) {digits(3)}-{digits(4)}",
            f"{digits(3)}-{digits(3)}-{digits(4)}",
        ])

    def price(self):
        currency, amount = self.rng.choice(_CURRENCIES), self.digits(self.rng.randint(1, 4))
        return f"{amount} {currency}" if len(currency) > 1 or currency == "€" else f"{currency}{amount}"

    def date(self):
        rng = self.rng
        year, month, day = rng.randint(1900, 2035), rng.randint(1, 12), rng.randint(1, 28)
        return rng.choice([f"{year}-{month:02}-{day:02}", f"{day:02}.{month:02}.{year}", f"{day}/{month}/{year}"])

    def time(self):
        return f"{self.rng.randrange(24)}:{self.rng.randrange(60):02}" + self.rng.choice(["", "", ":30"])

    def integer(self):
        return self.digits(self.rng.choice([1, 2, 2, 3, 3, 4, 5, 6, 8]))

    def placeholder(self):
        word, number = self.word(), self.rng.randrange(10)
        return self.rng.choice([
            "%s", "%d", f"%{number}", f"%{number}$s", f"{{{number}}}", f"{{{word}}}", f"{{{{{word}}}}}",
            f"{{{{ {word} }}}}", f"${word.upper()}", f"${{{word}}}", f"%({word})s", f"<{word}>", f"[{word}]",
        ])

    def identifier(self):
        first, second, rng = self.word(), self.word(), self.rng
        return rng.choice([
            f"{first}_{second}", f"{first}{second.title()}", f"{first}.{second}()", f"{first}()", f"--{first}",
            f"--{first}-{second}", f"-{first[0]}", f"{first}-{second}", f"`{first} {second}`",
            f"{first.upper()}_{second.upper()}",
        ])

    def handle(self):
        return self.rng.choice("@#") + self.word() + self.rng.choice(["", "", self.digits(2), self.word()])

    def foreign(self):
        first, last = self.rng.choice(_SCRIPTS)
        return "".join(chr(self.rng.randint(first, last)) for _ in range(self.rng.randint(2, 6)))

    def serial(self):
        letters = "".join(self.rng.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=self.rng.randint(1, 3)))
        return letters + self.rng.choice(["", "-", " "]) + self.digits(self.rng.randint(2, 6))
