"""Abbreviations behind whose full stop a sentence goes on, by language."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

__all__ = ["Abbreviations", "LANGUAGES", "ORDINALS", "abbreviations_of"]


class Abbreviations(NamedTuple):
    """Words in small letters, without their last full stop.

    Attributes
    ----------
    always : frozenset of str
        A sentence never ends with them: titles, and what explains what follows.
    numbers : frozenset of str
        It does not where a number follows: "No. 5", "S. 12".
    """

    always: frozenset[str]
    numbers: frozenset[str]


# "always / numbers". Words that are words of the language, too, are left out, or are only for numbers.
_BY_LANGUAGE = {
    "en": "mr mrs ms messrs dr prof st rev hon gen col capt lt sgt maj cmdr adm gov sen rep pres fr vs viz cf esp "
          "approx e.g i.e ca mt ft al dept gov't univ assn bros ph.d.s / "
          "no nos vol fig figs pp p ch sec eq art ed jan feb mar apr jun jul aug sept sep oct nov dec",
    "de": "hr fr dr prof dipl ing bzw ca evtl ggf inkl bspw vgl sog z.b d.h u.a o.ä z.t i.d.r u.u s.o s.u str st hl "
          "geb gest verh jh abs lt zzgl exkl ev sen / nr s bd abb kap art aufl hrsg ziff",
    "fr": "mm mme mlle dr pr me mgr st ste cf env éd p.ex c.-à-d av boul bd resp hab / n no p pp vol art chap fig",
    "es": "sr sra srta dr dra dña lic ing prof gral cap ud uds vd vds ee av avda p.ej aprox dpto / pág págs núm art "
          "fig vol cap",
    "it": "sig sigg dott dr avv ing prof on gen arch geom rag s.p cfr ss p.es / pag pagg n art fig vol cap",
    "pt": "sr sra srta dr dra prof profa eng av exmo exma p.ex aprox / pág págs núm art fig vol cap",
    "nl": "dhr mevr mw drs ir ing prof dr bijv o.a d.w.z m.b.t t.a.v ca resp vgl nl / blz nr art afb hfdst",
    "sv": "t.ex bl.a dvs ca s.k f.d dr prof resp / nr kl s sid kap",
    "da": "f.eks bl.a dvs ca s.k dr prof hr fr / nr kl s",
    "no": "f.eks bl.a dvs ca s.k dr prof hr fr / nr kl s",
    "fi": "esim mm ks ts ns n.s toim prof / nro s",
    "pl": "np dr prof inż mgr hab ul tzn tzw św ks gen płk tj m.in / nr str s art rys",
    "cs": "např tj tzv ing mgr judr mudr phdr dr prof doc sv gen tzn mj / č str s obr",
    "sk": "napr tj tzv ing mgr judr mudr phdr dr prof doc sv / č str s obr",
    "hu": "pl kb ún ill dr prof özv / sz o",
    "ro": "dl dna dr prof ing cca / nr pag art",
    "hr": "npr tj tzv dr prof mr sv / br str čl",
    "tr": "dr prof doç yrd av vb örn bkz / no s",
    "ru": "ул им проф акад т.е т.н св пос обл см напр ср гл ред / стр рис табл п г тыс млн млрд руб",
    "uk": "вул ім проф акад т.зв св обл див напр ред / стор рис табл п р тис млн млрд",
    "el": "κ κα κος δρ καθ π.χ δηλ βλ / αρ σελ",
}  # fmt: skip
LANGUAGES = frozenset(_BY_LANGUAGE)
ORDINALS = frozenset("de da no fi cs sk pl hr hu tr".split())
"""Languages in which a full stop makes an ordinal of a number: "am 3. Mai"."""

# Of other languages these are words that may end a sentence: in a text of an unknown language, only before numbers.
_WORDS = frozenset("al ca on fr st me mm pl ed ev str s n p pr nl ill ts ks ss cap gen sen art lt mt ft ee".split())
_KEPT = frozenset("st ca mt ft lt gen sen al".split())


@cache
def _of(language: str) -> Abbreviations:
    always, numbers = (frozenset(part.split()) for part in _BY_LANGUAGE[language].split("/"))
    return Abbreviations(always, numbers)


@cache
def _of_any() -> Abbreviations:
    every = [_of(language) for language in _BY_LANGUAGE]
    always = frozenset().union(*(known.always for known in every)) - (_WORDS - _KEPT)
    return Abbreviations(always, frozenset().union(*(known.numbers for known in every)) | _WORDS)


def abbreviations_of(language: str | None, added: Iterable[str] = ()) -> Abbreviations:
    """Those of a language, or of all that are known where it is None or not among `LANGUAGES`, and `added` ones."""
    known = _of(language) if language in LANGUAGES else _of_any()
    more = frozenset(word.lower().rstrip(".") for word in added)
    return Abbreviations(known.always | more, known.numbers)
