"""Files of other sense-embedding tools, made here as those tools make them, and their ways to select senses."""

from __future__ import annotations

import gzip
import math
import struct
import warnings

import numpy as np
import pytest

from muse import FormatWarning, ModelFileError, load_vectors
from muse.formats.registry import write_sense_table
from toy import toy_model

PLAIN = ("head", "army", "the", "bank", "naïve", "f", "c#", "g_1", "h|x")


def line(*numbers):
    """Numbers of a line, as Scala and C write them: with a space at the end."""
    return "".join(f"{number} " for number in numbers) + "\n"


def unit(vector):
    return np.asarray(vector, float) / np.linalg.norm(vector)


def exported(tmp_path, name, **options):
    """Our toy model in a format, and loaded from it."""
    model = toy_model(words=PLAIN)
    with pytest.warns(FormatWarning, match="the selector"):
        model.export(tmp_path / "v", name, **options)
    return model, load_vectors(tmp_path / "v", name)


@pytest.mark.parametrize("name", ["paper", "sensegram", "mssg", "msword2vec", "adagram", "adagram-text", "glove"])
def test_our_vectors_come_back(tmp_path, name):
    model, vectors = exported(tmp_path, name)
    assert list(vectors.sv.index_to_key) == list(model.sv.index_to_key)
    np.testing.assert_array_equal(vectors.sv.vectors, model.sv.vectors)


@pytest.mark.parametrize(("name", "tolerance"), [("sensegram", 1e-6), ("mssg", 1e-7), ("adagram", 0.06)])
def test_priors_come_back_where_the_format_has_them(tmp_path, name, tolerance):
    model, vectors = exported(tmp_path, name)
    for word in PLAIN:
        # AdaGram's are those of a Dirichlet process with these counts, which smooths them.
        np.testing.assert_allclose(vectors.sense_prior(word), model.sense_prior(word), atol=tolerance)
    if name == "adagram":
        assert vectors.vocabulary.counts.tolist() == model.vocabulary.counts.tolist()


def test_word_level_vectors_of_mssg(tmp_path):
    model, vectors = exported(tmp_path, "mssg")
    np.testing.assert_array_equal(vectors.wv.vectors, model.wv.vectors)


# -- the paper's dump --------------------------------------------------------------------------------------------------


def test_the_papers_dump(tmp_path):
    (tmp_path / "embed.txt").write_text("0.1 0.2\n-0.3 4e-05\n1.0 2.0\n3.0 4.0\n")
    (tmp_path / "index.tsv").write_text("head_1\nhead_2\nnew_york_1\nnew_york_2\n")
    vectors = load_vectors(tmp_path / "embed.txt")
    assert list(vectors.sv.index_to_key) == ["head#0", "head#1", "new_york#0", "new_york#1"]
    np.testing.assert_array_equal(vectors.sv["head#1"], np.array([-0.3, 4e-5], np.float32))
    (tmp_path / "other").write_text("head_1\nhead_0\n")
    with pytest.raises(ModelFileError, match=r"other', line 2: expected a key such as 'head_1', found b'head_0'"):
        load_vectors(tmp_path / "embed.txt", "paper", index=tmp_path / "other")
    (tmp_path / "other").write_text("head_1\n")
    with pytest.raises(ModelFileError, match="4 vectors for 1 keys; give the index= written with it"):
        load_vectors(tmp_path / "embed.txt", "paper", index=tmp_path / "other")
    (tmp_path / "other").write_text("")
    with pytest.raises(ModelFileError, match="other': it is empty"):
        load_vectors(tmp_path / "embed.txt", "paper", index=tmp_path / "other")
    with pytest.raises(FileNotFoundError):
        load_vectors(tmp_path / "embed.txt", "paper", index=tmp_path / "none")


# -- sensegram ---------------------------------------------------------------------------------------------------------

SENSES = {"table#0": [1, 0, 0], "table#1": [0, 1, 0], "c##0": [0, 0, 1]}
CONTEXT = {"row": [0.9, 0.1, 0.1], "chair": [0.1, 0.8, 0.0], "the": [0.5, 0.5, 0.5], "sql": [0.7, 0.1, 0.3]}


def write_keyed(path, vectors):
    rows = [f"{key} " + " ".join(map(str, vector)) + "\n" for key, vector in vectors.items()]
    path.write_text(f"{len(vectors)} 3\n" + "".join(rows))


def sensegram(tmp_path, **options):
    write_keyed(tmp_path / "s.w2v", SENSES)
    write_keyed(tmp_path / "words", CONTEXT)
    (tmp_path / "s.w2v.inventory.csv").write_text("table#0\t0.402062\ntable#1\t0.597938\nc##0\t1.000000\n")
    return load_vectors(tmp_path / "s.w2v", **options)


@pytest.mark.parametrize("ending", [".inventory.csv", ".probs"])
def test_sensegrams_shares(tmp_path, ending):
    sensegram(tmp_path)
    (tmp_path / "s.w2v.inventory.csv").rename(tmp_path / f"s.w2v{ending}")
    vectors = load_vectors(tmp_path / "s.w2v")
    np.testing.assert_allclose(vectors.sense_prior("table"), [0.402062, 0.597938], rtol=1e-6)
    assert vectors.sense_prior("c#").tolist() == [1]
    assert load_vectors(tmp_path / "s.w2v", "word2vec").sense_prior("table").tolist() == [0.5, 0.5]
    (tmp_path / f"s.w2v{ending}").write_text("table#0\t1.5\n")
    with pytest.raises(ModelFileError, match="line 1: expected 'word#k', a tab and a share from 0 to 1, found"):
        load_vectors(tmp_path / "s.w2v", "sensegram")


@pytest.mark.parametrize("method", ["sim", "prob"])
def test_sensegram_selects_by_the_most_telling_context_words(tmp_path, method):
    vectors = sensegram(tmp_path, word_vectors=tmp_path / "words", method=method, words_used=2)
    assert vectors.has_selector
    tokens = "xyzzy row the sql table the chair".split()

    def score(context, sense):
        if method == "sim":
            return unit(context) @ unit(sense)
        return 1 / (1 + math.exp(-np.dot(context, sense)))

    senses = [SENSES["table#0"], SENSES["table#1"]]
    context = [CONTEXT[token] for token in tokens if token in CONTEXT]
    spread = sorted(context, key=lambda vector: -abs(score(vector, senses[0]) - score(vector, senses[1])))[:2]
    expected = int(np.argmax([score(np.mean(spread, axis=0), sense) for sense in senses]))
    assert vectors.select_sense("table", tokens, 4) == expected
    assert vectors.select_sense("table", ["table", "chair"], 0) == 1
    assert vectors.select_sense("table", ["row", "table"], 1) == 0
    assert vectors.select_sense("table", ["table"], 0) == 1  # nothing known around it: the larger share
    with pytest.raises(ValueError, match="method must be 'sim' or 'prob'"):
        load_vectors(tmp_path / "s.w2v", word_vectors=tmp_path / "words", method="cos")
    (tmp_path / "narrow").write_text("1 2\na 1 2\n")
    with pytest.raises(ValueError, match="word_vectors have 2 numbers, and the sense vectors 3; give"):
        load_vectors(tmp_path / "s.w2v", word_vectors=tmp_path / "narrow")


# -- MSSG and MSWord2Vec -----------------------------------------------------------------------------------------------

GLOBALS = {"bank": [1.0, 0.5], "money": [2.0, 0.1], "river": [-0.2, 1.5]}
BANK = [[0.1, 0.2], [0.3, 0.4]]
CENTERS = [[1.0, 0.0], [0.2, 1.0]]


def mssg_text(maxout, counts=""):
    """One word of two senses and two of one, as MSSG's store() writes them."""
    text = f"3 2 2 {maxout}\n" if maxout is not None else "3 2\n"
    for word, vector in GLOBALS.items():
        senses = BANK if word == "bank" else [vector[::-1]]
        text += f"{word} {len(senses)}{counts if word == 'bank' else ' 5' if counts else ''}\n" + line(*vector)
        for sense, center in zip(senses, CENTERS, strict=False):
            text += line(*sense) + ("" if maxout == 1 else line(*center))
    return text


@pytest.mark.parametrize("maxout", [0, None])
def test_mssg_with_centers(tmp_path, maxout):
    (tmp_path / "v.gz").write_bytes(gzip.compress(mssg_text(maxout).encode()))
    vectors = load_vectors(tmp_path / "v.gz", window=1)
    assert list(vectors.sv.index_to_key) == ["bank#0", "bank#1", "money#0", "river#0"]
    np.testing.assert_array_equal(vectors.sense_vectors("bank"), np.array(BANK, np.float32))
    np.testing.assert_array_equal(vectors.wv["money"], np.array(GLOBALS["money"], np.float32))
    assert vectors.sense_prior("bank").tolist() == [0.5, 0.5]
    context = np.mean([GLOBALS["money"], GLOBALS["river"]], axis=0)
    weights = [1 / (1 - unit(context) @ unit(center)) for center in CENTERS]
    probabilities = vectors.sense_probabilities("bank", ["river", "money", "bank", "river"], 2)
    np.testing.assert_allclose(probabilities, np.array(weights) / sum(weights), rtol=1e-6)
    assert vectors.select_sense("bank", ["money", "bank"]) == 0
    assert vectors.select_sense("bank", ["bank", "river"]) == 1
    assert vectors.sense_probabilities("bank", ["bank", "xyzzy"]).tolist() == [0.5, 0.5]


def test_mssg_by_maximal_output(tmp_path):
    (tmp_path / "v").write_text(mssg_text(1, counts=" 30 10"))
    vectors = load_vectors(tmp_path / "v")
    assert vectors.sense_prior("bank").tolist() == [0.75, 0.25]
    context = np.add(GLOBALS["money"], GLOBALS["river"])
    weights = np.exp(np.array(BANK) @ context)
    probabilities = vectors.sense_probabilities("bank", ["money", "bank", "river"])
    np.testing.assert_allclose(probabilities, weights / weights.sum(), rtol=1e-5)


def test_mssg_and_msword2vec_keep_what_is_theirs(tmp_path):
    (tmp_path / "v").write_text(mssg_text(0, counts=" 30 10"))
    first = load_vectors(tmp_path / "v")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is lost
        first.export(tmp_path / "w", "mssg")
    second = load_vectors(tmp_path / "w")
    tokens = ["money", "bank", "river"]
    np.testing.assert_array_equal(second.sense_probabilities("bank", tokens), first.sense_probabilities("bank", tokens))
    with pytest.warns(FormatWarning, match="shares of senses, word-level vectors, selection of senses"):
        first.export(tmp_path / "x", "word2vec")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("3 2 2 0\nbank 2\n1 2\n", "line 3: 5 rows of 2 numbers are expected, and the file is too small"),
        ("3 2 2 0\nbank x\n1 2\n", "line 2: expected 'word senses', found b'bank x'"),
        ("3 2 2 0\nbank 0\n1 2\n", "line 2: expected 'word senses'"),
        ("3 2 2 0\nbank 2 1\n1 2\n", "line 2: expected 'word senses'"),
        ("3 2 2 1\nbank 1\n1 2\n3\nmore\n", "line 4: 1 numbers, where 2 are expected"),
        ("3 2 2 1\nbank 1\n1 2\n3 4\n", "line 5: the file ends where a word is expected"),
        ("2 2 2 1\nbank 1\n1 2\n3 4\nbank 1\n1 2\n3 4\n", "a word occurs twice"),
        ("1 99999999 2 1\nbank 1\n1 2\n3 4\n", "vectors of 99999999 numbers"),
        ("1 2 2 1\nbank 99999999999\n1 2\n3 4\n", "100000000000 rows of 2 numbers"),
    ],
)
def test_damaged_mssg(tmp_path, text, what):
    (tmp_path / "v").write_text(text)
    with pytest.raises(ModelFileError, match=what):
        load_vectors(tmp_path / "v", "mssg")


def test_mssg_in_other_encodings(tmp_path):
    (tmp_path / "v").write_bytes(mssg_text(1).replace("bank", "café").encode("iso-8859-15"))
    with pytest.raises(ModelFileError, match=r"the word b'caf\\xe9' is not utf-8; give encoding='iso-8859-15'"):
        load_vectors(tmp_path / "v")
    assert "café" in load_vectors(tmp_path / "v", encoding="iso-8859-15")


def msword2vec_files(tmp_path):
    text, clusters = "4 2\n", "4 2\n"
    for word, vector in {**GLOBALS, "lonely": [0.0, 0.0]}.items():
        senses = {"bank": BANK, "lonely": []}.get(word, [vector[::-1]])
        text += f"{word} {len(senses)} " + line(*vector) + "".join(line(*sense) for sense in senses)
        clusters += f"{word} {len(senses)}\n" + "".join(line(*c) for _, c in zip(senses, CENTERS, strict=False))
    (tmp_path / "v").write_text(text)
    (tmp_path / "c").write_text(clusters)


def test_msword2vec(tmp_path):
    msword2vec_files(tmp_path)
    with pytest.warns(FormatWarning, match="1 words have no sense and are left out"):
        vectors = load_vectors(tmp_path / "v")
    assert list(vectors.sv.index_to_key) == ["bank#0", "bank#1", "money#0", "river#0"]
    assert not vectors.has_selector
    with pytest.warns(FormatWarning):
        vectors = load_vectors(tmp_path / "v", clusters=tmp_path / "c")
    assert vectors.select_sense("bank", ["money", "bank"]) == 0
    assert vectors.select_sense("bank", ["bank", "river"]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectors.export(tmp_path / "w", "msword2vec", clusters=tmp_path / "d")
    again = load_vectors(tmp_path / "w", clusters=tmp_path / "d")
    tokens = ["money", "bank", "river"]
    np.testing.assert_array_equal(
        again.sense_probabilities("bank", tokens), vectors.sense_probabilities("bank", tokens)
    )
    with pytest.raises(ModelFileError, match="other words or senses"):
        load_vectors(tmp_path / "w", clusters=tmp_path / "c")
    with pytest.raises(ValueError, match="have no context clusters; leave out clusters="):
        write_sense_table(tmp_path / "x", load_vectors(tmp_path / "w").table, "msword2vec", clusters=tmp_path / "e")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("1 2\nbank\n", "line 2: expected 'word senses' and a vector, found b'bank'"),
        ("1 2\nbank 1 2\n1 2\n", "line 2: 1 senses and 1 numbers, where 2 numbers are expected"),
        ("1 2\nbank 9999999 2 3\n1 2\n", "line 2: 9999999 senses"),
        ("1 2\nbank 2 2 3\n1 2\n", "2 rows of 2 numbers are expected"),
        ("1 0\nbank 2 2 3\n1 2\n", "vectors of 0 numbers"),
        ("2 1\nbank 1 2\n1\nbank 1 2\n1\n", "a word occurs twice"),
        ("2 1\nbank 1 2\n1\n", "line 4: the file ends where a word is expected"),
    ],
)
def test_damaged_msword2vec(tmp_path, text, what):
    (tmp_path / "v").write_text(text)
    with pytest.raises(ModelFileError, match=what):
        load_vectors(tmp_path / "v", "msword2vec")


# -- AdaGram -----------------------------------------------------------------------------------------------------------

WORDS = ["apple", "pear", "mac"]
COUNTS = [[60.0, 0.0, 40.0], [30.0, 0.0, 0.0], [0.0, 10.0, 10.0]]
CODE = [[0, -1], [1, 0], [1, 1]]
PATH = [[1, 0], [1, 2], [1, 2]]
NODES = [[0.5, -0.25], [1.0, 0.75], [0.0, 0.0]]
VECTORS = {("apple", 1): [1.0, 0.5], ("apple", 3): [-1.0, 0.25], ("pear", 1): [0.5, 0.5], ("mac", 2): [0.1, 0.2],
           ("mac", 3): [0.3, 0.4]}  # fmt: skip
ALPHA, DISCOUNT = 0.1, 0.05


def flat(rows):
    return [number for row in rows for number in row]


def adagram_bytes(old=False):
    """A model as AdaGram.jl's save_model writes it: arrays by column, which is one word after another."""
    content = b"3 2 3\n" + (f"{DISCOUNT}\n" if old else f"{ALPHA} {DISCOUNT}\n").encode() + b"2\n"
    content += struct.pack("<3q", 100, 30, 20) + bytes(code & 255 for row in CODE for code in row)
    content += struct.pack("<6i", *flat(PATH)) + struct.pack("<9f", *flat(COUNTS))
    content += struct.pack("<6f", *flat(NODES))
    for word in WORDS:
        senses = [(k, vector) for (owner, k), vector in VECTORS.items() if owner == word]
        content += f"{word}\n".encode() + (f"{ALPHA}\n".encode() if old else b"") + f"{len(senses)}\n".encode()
        for k, vector in senses:
            content += f"{k}\n".encode() + struct.pack("<2f", *vector) + b"\n"
    return content


def stick_breaking(counts):
    """The expected share of each prototype, one after another."""
    shares, left = [], 1.0
    for k, count in enumerate(counts[:-1], start=1):
        a, b = 1 + count - DISCOUNT, ALPHA + k * DISCOUNT + sum(counts[k:])
        shares.append(left * a / (a + b))
        left -= shares[-1]
    return [*shares, left]


@pytest.mark.parametrize("old", [False, True])
def test_adagram(tmp_path, old):
    (tmp_path / "v").write_bytes(adagram_bytes(old))
    vectors = load_vectors(tmp_path / "v")
    assert list(vectors.sv.index_to_key) == ["apple#0", "apple#1", "pear#0", "mac#0", "mac#1"]
    np.testing.assert_array_equal(vectors.sv.vectors, np.array(list(VECTORS.values()), np.float32))
    shares = stick_breaking(COUNTS[0])
    np.testing.assert_allclose(vectors.sense_prior("apple"), [shares[0], shares[2]], rtol=1e-6)
    assert vectors.vocabulary.counts.tolist() == [100, 30, 20]

    def likelihood(sense, other):
        found = 1.0
        for code, node in zip(CODE[WORDS.index(other)], PATH[WORDS.index(other)], strict=True):
            if code >= 0:
                found /= 1 + math.exp(-np.dot(sense, NODES[node - 1]) * (1 - 2 * code))
        return found

    weights = [
        share * likelihood(VECTORS["apple", k], "pear") * likelihood(VECTORS["apple", k], "mac")
        for share, k in ((shares[0], 1), (shares[2], 3))
    ]
    found = vectors.sense_probabilities("apple", ["xyzzy", "pear", "apple", "mac"])
    np.testing.assert_allclose(found, np.array(weights) / sum(weights), rtol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is lost
        vectors.export(tmp_path / "w", "adagram")
    assert (tmp_path / "w").read_bytes() == adagram_bytes(old)


def test_damaged_adagram(tmp_path):
    path, good = tmp_path / "v", adagram_bytes()
    for content, what in (
        (good.replace(b"3 2 3\n", b"1152921504606846976 2 3\n"), "claims 1152921504606846976 words, and the file is"),
        (good.replace(b"3 2 3\n", b"3 1152921504606846976 3\n"), "1152921504606846976 dimensions"),
        (good.replace(b"3 2 3\n", b"3 2 0\n"), "0 prototypes"),
        (good.replace(b"0.1 0.05\n", b"x 0.05\n"), "line 2: expected 'alpha d'"),
        (good.replace(b"pear\n1\n", b"pear\n4\n"), "4 senses of 'pear', where 1 to 3 are possible"),
        (good.replace(b"pear\n1\n1\n", b"pear\n1\n9\n"), "b'9' is not the number of a sense of 'pear'"),
        (good.replace(b"mac\n", b"pear\n"), "a word occurs twice"),
        (good.replace(struct.pack("<3q", 100, 30, 20), struct.pack("<3q", 100, -30, 20)), "out of range"),
        (good.replace(struct.pack("<6i", *flat(PATH)), struct.pack("<6i", 1, 0, 1, 9, 1, 2)), "out of range"),
        (good[:-5], "bytes are expected, and the file is too small|bytes too early"),
        (good[:-1] + b"x", "a vector is not followed by a line end|does not end within 1 bytes"),
    ):
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=what):
            load_vectors(path, "adagram")


def test_adagrams_text(tmp_path):
    (tmp_path / "v").write_text("apple_1 1.0 0.5\napple_3 -1.0 0.25\nnew_york_1 1 2\n*UNKNOWN* 3 4\n")
    vectors = load_vectors(tmp_path / "v", "adagram-text")
    assert list(vectors.sv.index_to_key) == ["apple#0", "apple#1", "new_york#0", "*UNKNOWN*#0"]
