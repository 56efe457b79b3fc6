"""Tests of the data preparation on a handful of invented sentences: python3 -m unittest."""

import json
import lzma
import random
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import augment
import entities
import heldout
import mixture
import prepare
import vocabulary
from clean import Cleaner, normalise, numbers, protected


class Cleaning(unittest.TestCase):
    def setUp(self):
        self.cleaner = Cleaner("en", "de")

    def fault(self, source, target):
        return self.cleaner.clean(source, target)[2]

    def test_normalises_without_changing_the_words(self):
        self.assertEqual(normalise("  a\u00a0b\t c\u00adat u\u0308 👩\u200d💻 "), "a b cat ü 👩\u200d💻")

    def test_the_vocabularys_rules_are_those_of_the_cleaning(self):
        for pasted, cleaned in vocabulary.normalisation_rules().items():
            if pasted not in vocabulary.LETTERS:
                self.assertEqual(normalise(f"x{pasted}x"), f"x{cleaned}x")

    def test_keeps_good_pairs(self):
        for source, target in [
            ("It costs 1,234.50 euros.", "Es kostet 1.234,50 Euro."),
            ("The 20th century began on January 1, 1901.", "Das 20. Jahrhundert begann am 1.1.1901."),
            ("Two of 3 dogs bark.", "2 von drei Hunden bellen."),
            ("We meet at 5 p.m.", "Wir treffen uns um 17 Uhr."),
            ("The '90s were loud.", "Die 1990er waren laut."),
            ("About 10 000 people came.", "Etwa 10.000 Menschen kamen."),
            ("See https://example.org/a?b=1.", "Siehe https://example.org/a?b=1."),
            ("%1$s of %2$s files", "%s von %s Dateien"),
            ("Save", "Speichern"),
        ]:
            self.assertIsNone(self.fault(source, target), source)

    def test_names_the_fault_of_bad_pairs(self):
        for fault, source, target in [
            ("empty", "Hello", "\u00ad "),
            ("encoding", "The cat sleeps.", "Die Katze schlÃ¤ft."),
            ("no letters", "* * *", "***"),
            ("copy", "Firefox Nightly", "Firefox Nightly"),
            ("too long", "a word " * 100, "ein Wort " * 100),
            ("length ratio", "Yes.", "Ja, das habe ich dir doch schon gestern gesagt, als du gefragt hast."),
            ("fragment", ", and so it went on.", "und so ging es weiter."),
            ("script", "The moon is bright.", "Луна очень яркая."),
            ("language", "Please choose one of the files.", "Please choose one of these files."),
            ("language", "Bitte wählen Sie eine der Dateien.", "Wählen Sie bitte eine von den Dateien."),
            ("placeholders", "Delete %s now?", "Jetzt löschen?"),
            ("placeholders", "See www.example.org for more.", "Mehr dazu auf www.example.com."),
            ("numbers", "It has 42 rooms.", "Es hat 24 Zimmer und 3 Türen."),
            ("numbers", "It has 42 rooms.", "Es hat viele Zimmer."),
        ]:
            self.assertEqual(self.fault(source, target), fault, source)

    def test_quotation_marks_follow_the_language(self):
        self.assertEqual(self.cleaner.clean('He said "no".', 'Er sagte "nein".')[1], "Er sagte „nein“.")
        self.assertEqual(self.cleaner.clean("Press “OK”.", "Drücken Sie »OK«.")[1], "Drücken Sie „OK“.")
        code = 'Der Wert type="text" bleibt.'
        self.assertEqual(self.cleaner.clean('The value type="text" stays.', code)[1], code)

    def test_final_full_stop_follows_the_source(self):
        self.assertEqual(self.cleaner.clean("It failed.", "Es schlug fehl")[1], "Es schlug fehl.")
        self.assertEqual(self.cleaner.clean("File not found", "Datei nicht gefunden.")[1], "Datei nicht gefunden")

    def test_numbers_and_placeholders(self):
        self.assertEqual(numbers("1,234.5"), numbers("1 234,5"))
        self.assertEqual(set(protected("Hi {{name}}, ${x} <b>%d</b> a@b.de, 100% sure")),
                         {"{{name}}", "${x}", "<b>", "</b>", "%d", "a@b.de"})


class HoldingOut(unittest.TestCase):
    tests = [("The cat sat there.", "Die Katze saß da."), ("Thank you!", "Danke!")]

    def test_long_sentences_count_alone_short_ones_as_a_pair(self):
        held_out = heldout.HeldOut(self.tests)
        for pairs, expected in [
            (("the CAT sat there", "Etwas anderes."), True),
            (("Something else.", "Die Katze saß da"), True),
            (("Thank you.", "Danke."), True),
            (("Thank you.", "Vielen Dank."), False),
        ]:
            self.assertEqual(held_out.contains(*pairs), expected, pairs)
            self.assertEqual(heldout.count_matches([pairs], self.tests), expected, pairs)

    def test_dev_choice_does_not_depend_on_order(self):
        pairs = [(f"This is sentence number {n}.", f"Das ist der Satz Nummer {n}.") for n in range(700)]
        choose = lambda some: heldout.choose_dev({"t": self.tests}, {"tatoeba": some}, lambda *_: True)
        self.assertEqual(choose(pairs), choose(pairs[::-1]))
        self.assertEqual(len(choose(pairs)), heldout.DEV_PAIRS)


class Augmenting(unittest.TestCase):
    pairs = [
        ("Tom lives in Boston with 25 cats.", "Tom wohnt mit 25 Katzen in Boston."),
        ('She doesn\'t like "Casablanca".', "Sie mag „Casablanca“ nicht."),
        ("The computer costs 1,500 dollars.", "Der Computer kostet 1.500 Dollar."),
        ("Was he in Las Vegas?", "War er in Las Vegas?"),
    ]

    def setUp(self):
        domain = [(s, t) for s, t in self.pairs for _ in range(60)]
        domains = {"talk": domain, "ui": [("Save", "Speichern")]}
        self.augmenter = augment.Augmenter(domains, lambda name: 1, ("en", "de"))

    def test_shared_spans(self):
        spans = augment.shared_spans(*self.pairs[3], self.augmenter.stop_words)
        self.assertEqual([self.pairs[3][0][a:b] for (a, b), _ in spans], ["Las Vegas"])

    def test_every_domain_is_made_the_same_way_each_time(self):
        made = self.augmenter.run({"Mozilla Firefox", "this is left untranslated"})
        self.assertEqual(set(made), set(mixture.AUGMENTED_SHARES))
        self.assertTrue(all(made.values()))
        again = self.augmenter.run({"Mozilla Firefox", "this is left untranslated"})
        self.assertEqual(made, again)
        self.assertIn(("Mozilla Firefox", "Mozilla Firefox"), made["aug-copies"])
        self.assertNotIn("this is left untranslated", [source for source, _ in made["aug-copies"]])
        self.assertEqual(made["aug-words"], [("Save", "Speichern")])
        self.assertTrue(all(s.isupper() and t.isupper() for s, t in made["aug-capitals"]))
        self.assertTrue(all(numbers(s) == numbers(t) for s, t in made["aug-numbers"]))
        for source, target in made["aug-masks"]:
            masks = [sorted(c for c in vocabulary.MASKS if c in side) for side in (source, target)]
            self.assertTrue(masks[0] and masks[0] == masks[1], (source, target))

    def test_entities_are_single_lines(self):
        draw = entities.Entities(random.Random(1), ["alpha", "beta"])
        for _ in range(2000):
            text = draw.any()
            self.assertEqual(text, normalise(text))
            self.assertTrue(text)
            self.assertTrue(entities.emoji(draw.rng))


class WholeRun(unittest.TestCase):
    """Everything together, with a tiny vocabulary on invented text."""

    def test_prepare(self):
        rng = random.Random(7)
        nouns = [("dog", "Hund"), ("tree", "Baum"), ("car", "Wagen"), ("man", "Mann"), ("table", "Tisch")]
        verbs = [("sees", "sieht"), ("likes", "mag"), ("wants", "will"), ("needs", "braucht")]

        def invent():
            (a, x), (b, y), (v, w), n = rng.choice(nouns), rng.choice(nouns), rng.choice(verbs), rng.randrange(9999)
            return f"The {a} {v} the {b} in Berlin {n} times.", f"Der {x} {w} den {y} {n} Mal in Berlin."

        pairs = list(dict.fromkeys(invent() for _ in range(2500)))
        with tempfile.TemporaryDirectory() as folder:
            data, out = Path(folder) / "data", Path(folder) / "out"
            (data / "train/en-de").mkdir(parents=True)
            (data / "test").mkdir()
            for name, part in (("tatoeba", pairs[:1500]), ("ui", [("Save", "Speichern"), *pairs[1400:]])):
                with lzma.open(data / f"train/en-de/{name}.tsv.xz", "wt", encoding="utf-8") as file:
                    file.writelines(f"{s}\t{t}\n" for s, t in part)
            tests = pairs[:20]
            (data / "test/newstest2013.en-de.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in tests))
            with mock.patch.object(vocabulary, "SIZE", 510), mock.patch.object(augment, "PAIRS_EACH", 400):
                prepare.prepare("en-de", data, out)
            self.check(out, tests)

    def check(self, out, tests):
        mix = json.loads((out / "mix.json").read_text())
        processor = vocabulary.load(out / mix["vocab"])
        self.assertEqual([processor.id_to_piece(n) for n in range(3)], ["<pad>", "</s>", "<unk>"])
        for mask in vocabulary.MASKS:
            self.assertEqual(processor.id_to_piece(processor.piece_to_id(mask)), mask)
        for text in ["Grüße „ja“ – 3…", "👩\u200d💻🏽 日本語 ⟦7⟧⟦x", "① Å \u0301x ~\\"]:
            self.assertEqual(processor.decode(processor.encode(text)), text)
        for pasted, cleaned in (
            ("the\u00a0cafe\u0301 is\u2003closed\ufeff", "the café is closed"),
            ("ﬁnd the oﬃce in Mu\u0308nchen", "find the office in München"),
            ("a well\u2011known mes\u00adsage", "a well-known message"),
        ):
            self.assertEqual(processor.encode(pasted), processor.encode(cleaned))
        for name, domain in mix["domains"].items():
            arrays = np.load(out / f"{name}.npz")
            self.assertEqual(arrays["src"].dtype, np.uint16)
            self.assertEqual(arrays["tgt_off"].dtype, np.int64)
            self.assertEqual(len(arrays["src_off"]), domain["pairs"] + 1)
            self.assertEqual(arrays["tgt_off"][-1], len(arrays["tgt"]))
            self.assertEqual(heldout.count_matches(vocabulary.decode(processor, dict(arrays)), tests), 0)
        report = json.loads((out / "report.json").read_text())
        self.assertEqual(report["tatoeba"]["rejected"]["held out"]["pairs"], 20 + heldout.DEV_PAIRS)
        self.assertGreaterEqual(report["ui"]["rejected"]["duplicate"]["pairs"], 1)
        dev = np.load(out / "dev.npz")
        self.assertEqual(len(dev["src_off"]) - 1, len((out / "dev.tsv").read_text().splitlines()))


if __name__ == "__main__":
    unittest.main()
