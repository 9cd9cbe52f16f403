"""What a toolkit for Latin and Greek does with Word2Vec: synonyms of lemmata, and models that come and go as files."""

import logging
import os
import random
import tempfile
import unicodedata

from gensim.models import Word2Vec

logging.getLogger("gensim").setLevel(logging.WARNING)
random.seed(8)
FORMS = {"bellum": "bellum belli bello", "pugna": "pugna pugnae pugnam", "miles": "miles militis militem",
         "gladius": "gladius gladii gladio", "ager": "ager agri agro", "arator": "arator aratoris aratorem",
         "bos": "bos bovis bovem", "frumentum": "frumentum frumenti frumento",
         "λόγος": "λόγος λόγου λόγον", "μῦθος": "μῦθος μύθου μῦθον", "ῥήτωρ": "ῥήτωρ ῥήτορος ῥήτορα"}  # fmt: skip
SCENES = (("bellum", "pugna", "miles", "gladius"), ("ager", "arator", "bos", "frumentum"), ("λόγος", "μῦθος", "ῥήτωρ"))
LEMMATA = {unicodedata.normalize("NFC", form): lemma for lemma, forms in FORMS.items() for form in forms.split()}
STOPS = {"et", "in", "cum", "καί"}


def sentences(count):
    for _ in range(count):
        scene = random.choice(SCENES)
        lemmata = [random.choice(scene) for _ in range(7)]
        text = " ".join(random.choice([*STOPS, ""]) + " " + random.choice(FORMS[lemma].split()) for lemma in lemmata)
        yield unicodedata.normalize("NFD", text)  # as some digital editions are


class Lemmatized:
    """The corpus, read again each time that it is asked for."""

    def __init__(self, texts):
        self.texts = list(texts)

    def __iter__(self):
        for text in self.texts:
            tokens = (unicodedata.normalize("NFC", token) for token in text.split())
            yield [LEMMATA.get(token, token) for token in tokens if token not in STOPS]


corpus = Lemmatized(sentences(1500))
model = Word2Vec(
    corpus, vector_size=30, window=10, min_count=5, sample=0, workers=1, negative=5, sg=1, hs=0, cbow_mean=0, epochs=6,
    seed=2, sorted_vocab=1, batch_words=10000,
)  # fmt: skip

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "latin_greek_lemmed.model")
    model.save(path)
    model = Word2Vec.load(path)
    model.init_sims()
    vectors_path = os.path.join(folder, "vectors.txt")
    model.wv.save_word2vec_format(vectors_path, binary=False)
    with open(vectors_path, encoding="utf-8") as file:
        header = file.readline().split()


def synonyms(lemma, threshold=0.7):
    try:
        candidates = model.wv.most_similar(lemma)
    except KeyError:
        return None
    return [word for word, similarity in candidates if similarity > threshold]


RESULT = {
    "words": sorted(model.wv.key_to_index),
    "synonyms": {lemma: synonyms(lemma) for lemma in ("bellum", "ager", "λόγος")},
    "unknown": synonyms("machina"),
    "header": header,
    "war_is_nearer_to": model.wv.most_similar_to_given("bellum", ["bos", "gladius", "μῦθος"]),
}
