"""Small dictionaries made for tests, in both kinds of files: of "bank", "rock" and "c#"; no definition is WordNet's."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

ENTRIES = {
    # id: part of speech, lemmas, definition, examples, id of what is broader
    "place": ("n", ["institution"], "an organisation with money, credit and accounts", [], None),
    "money": ("n", ["bank", "banking company"], "where loans, deposits and money of investors are kept",
              ["the bank pays interest on savings"], "place"),
    "water": ("n", ["bank", "riverside"], "the shore beside the water of a river or stream",
              ["boats and fish near the bank"], None),
    "tilt": ("v", ["bank"], "lean to one side when turning, as aircraft do", [], None),
    "silent": ("a", ["bank"], "", [], None),
}  # fmt: skip
NAMES = {"n": "noun", "v": "verb", "a": "adj"}


def write_lmf(path: Path) -> Path:
    """The entries as WN-LMF."""
    synsets, senses = [], {}
    for name, (pos, lemmas, gloss, examples, broader) in ENTRIES.items():
        for lemma in lemmas:
            senses.setdefault((lemma, pos), []).append(name)
        parts = [
            f"<Definition>{escape(gloss)}</Definition>" if gloss else "",
            f'<SynsetRelation target="t-{broader}" relType="hypernym"/>' if broader else "",
            *(f"<Example>{escape(example)}</Example>" for example in examples),
        ]
        synsets.append(f'<Synset id="t-{name}" ili="" partOfSpeech="{pos}">{"".join(parts)}</Synset>')
    entries = []
    for (lemma, pos), names in senses.items():
        base = f"t-{lemma.replace(' ', '_')}-{pos}"
        listed = "".join(f'<Sense id="{base}-{name}" synset="t-{name}"/>' for name in names)
        written = f'<Lemma writtenForm="{escape(lemma)}" partOfSpeech="{pos}"/>'
        entries.append(f'<LexicalEntry id="{base}">{written}{listed}</LexicalEntry>')
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">\n'
        '<LexicalResource xmlns:dc="http://purl.org/dc/elements/1.1/">'
        '<Lexicon id="t" label="Test" language="en" email="a@b" license="none" version="1">'
        f"{''.join(entries)}{''.join(synsets)}</Lexicon></LexicalResource>",
        encoding="utf-8",
    )
    return path


def write_princeton(folder: Path) -> Path:
    """The entries as the files of WordNet's database."""
    folder.mkdir()
    places, lines = {}, {pos: ["  1 licence of a test  ", "  2 text  "] for pos in NAMES}
    for name, (pos, lemmas, gloss, examples, broader) in ENTRIES.items():
        place = sum(len(line.encode()) + 1 for line in lines[pos])
        places[name] = (pos, place)
        words = " ".join(f"{lemma.replace(' ', '_')} {number:x}" for number, lemma in enumerate(lemmas))
        pointers = f"001 @ {places[broader][1]:08d} n 0000" if broader else "000"
        told = "; ".join([gloss, *(f'"{example}"' for example in examples)])
        lines[pos].append(f"{place:08d} 14 {pos} {len(lemmas):02x} {words} {pointers} | {told}  ")
    index = {pos: ["  1 licence of a test  "] for pos in NAMES}
    for pos in NAMES:
        for lemma in sorted({lemma for kind, lemmas, *_ in ENTRIES.values() if kind == pos for lemma in lemmas}):
            mine = [places[name][1] for name, entry in ENTRIES.items() if entry[0] == pos and lemma in entry[1]]
            offsets = " ".join(f"{place:08d}" for place in mine)
            index[pos].append(f"{lemma.replace(' ', '_')} {pos} {len(mine)} 0 {len(mine)} 0 {offsets}  ")
    for pos, name in NAMES.items():
        (folder / f"data.{name}").write_text("\n".join(lines[pos]) + "\n", encoding="utf-8")
        (folder / f"index.{name}").write_text("\n".join(index[pos]) + "\n", encoding="utf-8")
    return folder
