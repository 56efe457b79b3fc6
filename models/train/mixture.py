"""How often the training sees each domain: the weights of the mix, chosen by hand."""

# Expected copies of each pair in one pass. Human everyday text and news are scarce and count most;
# Europarl carries grammar and long sentences, but in one register; software texts are terse.
WEIGHTS = {
    "newstest-old": 3.0,
    "wmt21-23-refs": 3.0,
    "tatoeba": 5.0,
    "multi30k": 3.0,
    "stsb-deepl": 2.0,
    "ro-sts": 2.0,
    "books": 2.0,
    "chat-bcontrast": 2.5,
    "cocoa-mt": 3.0,
    "games-dialogue": 3.0,
    "wesnoth": 1.5,
    "games": 1.5,
    "mt-geneval": 2.5,
    "mlqe-pe": 2.0,
    "xquad": 2.5,
    "xquad-questions": 2.5,
    "mozilla-www": 2.0,
    "osguide": 1.5,
    "3b1b-captions": 1.0,
    "metainfo": 1.0,
    "europarl": 0.35,
    "ethereum": 0.4,
    "mozilla": 0.7,
    "help-gnome": 0.4,
    "help-kde": 0.3,
    "docs-gimp": 0.3,
    "docs-libreoffice": 0.3,
    "docs-debian": 0.3,
    "docs-misc": 0.3,
    "tails-docs": 0.6,
    "debconf": 0.4,
    "adobe-aem": 0.2,
    "mdn": 0.2,
    "ddtp": 0.25,
    "manpages": 0.15,
    "gettext": 0.25,
    "ui": 0.15,
}
DEFAULT_WEIGHT = 1.0

# The share of all target tokens that each augmentation gets; its weight follows from its size.
AUGMENTED_SHARES = {
    "aug-several": 0.025,
    "aug-masks": 0.025,
    "aug-entities": 0.015,
    "aug-numbers": 0.010,
    "aug-capitals": 0.010,
    "aug-emoji": 0.008,
    "aug-lowercase": 0.007,
    "aug-unpunctuated": 0.006,
    "aug-titlecase": 0.005,
    "aug-typography": 0.004,
    "aug-copies": 0.002,
    "aug-words": 0.002,
}


def weight(name):
    return WEIGHTS.get(name, DEFAULT_WEIGHT)


def augmented_weights(tokens):
    """Weights of the augmented domains, given the target tokens of all domains."""
    natural = sum(weight(name) * count for name, count in tokens.items() if name not in AUGMENTED_SHARES)
    total = natural / (1 - sum(AUGMENTED_SHARES.values()))
    return {name: share * total / tokens[name] for name, share in AUGMENTED_SHARES.items() if tokens.get(name)}
