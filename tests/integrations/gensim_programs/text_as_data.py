"""A lesson on text as data: speeches of two parties, what a word stands beside in each, and an axis of meaning."""

import random
import re

import numpy as np
from gensim.models import Word2Vec

random.seed(4)
TOPICS = {
    "labour": ("workers wages union strike factory pension", "We must protect {0} and {1}, and the {2} of every {3}."),
    "market": ("trade profit investors enterprise growth capital", "Our {0} needs {1}; let {2} and {3} be free!"),
    "health": ("hospital nurses doctors patients clinic medicine", "The {0} has too few {1}, the {2} wait for {3}."),
}
SHARES = {"red": (0.6, 0.1, 0.3), "blue": (0.1, 0.6, 0.3)}
speeches = []
for party, shares in SHARES.items():
    for _ in range(900):
        words, frame = TOPICS[random.choices(list(TOPICS), shares)[0]]
        chosen = random.sample(words.split(), 4)
        speeches.append({"party": party, "text": f"Members of {party}: " + frame.format(*chosen)})


def preprocess(text):
    return [token for token in re.findall(r"[a-z]+", text.lower()) if len(token) > 2]


documents = [preprocess(speech["text"]) for speech in speeches]
random.shuffle(documents)

model = Word2Vec(vector_size=40, window=6, min_count=5, sg=1, negative=5, sample=1e-2, workers=1, seed=1, alpha=0.05)
model.build_vocab(documents)
model.train(documents, total_examples=model.corpus_count, epochs=12, compute_loss=True)

frequent = sorted(model.wv.key_to_index, key=lambda word: -model.wv.get_vecattr(word, "count"))[:5]
near = {word: [other for other, _ in model.wv.most_similar(word, topn=5)] for word in ("wages", "profit", "nurses")}


def projection(words, one, other):
    """Where words lie on the axis from one word to another."""
    axis = model.wv[one] - model.wv[other]
    axis = axis / np.linalg.norm(axis)
    return {word: float(model.wv.get_vector(word, norm=True) @ axis) for word in words}


LOSS = model.get_latest_training_loss()
RESULT = {
    "frequent": frequent,
    "near": near,
    "odd_one_out": model.wv.doesnt_match(["wages", "union", "strike", "clinic"]),
    "axis": projection(["union", "pension", "capital", "growth"], "workers", "investors"),
    "document": np.mean([model.wv[token] for token in documents[0] if token in model.wv], axis=0),
    "loss": LOSS,
}
