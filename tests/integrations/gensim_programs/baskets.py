"""Recommendations from shopping baskets: items are words, baskets sentences; what goes with what is in the cart."""

import collections
import random

import numpy as np
from gensim.models import Word2Vec

random.seed(21)
AISLES = {
    "breakfast": ["coffee", "milk", "cereal", "yoghurt", "honey", "oats"],
    "pasta": ["spaghetti", "tomatoes", "basil", "parmesan", "garlic", "olive oil"],
    "baby": ["nappies", "wipes", "baby food", "lotion", "bibs", "bottles"],
    "party": ["crisps", "cola", "beer", "cups", "balloons", "candles"],
}
orders = collections.defaultdict(list)
for order in range(2500):
    aisle = random.choice(list(AISLES))
    orders[order] = random.sample(AISLES[aisle], random.randint(3, 5))
    if random.random() < 0.15:
        orders[order].append(random.choice(AISLES[random.choice(list(AISLES))]))
    random.shuffle(orders[order])
orders[9999] = ["souvenir"]  # bought once, and not recommended
baskets = list(orders.values())
train, test = baskets[:-250], baskets[-250:]
longest = max(len(basket) for basket in train)


class EpochLogger:
    """A callback of one's own, without a base class."""

    def __init__(self):
        self.epochs = 0

    def on_train_begin(self, model):
        self.epochs = 0

    def on_train_end(self, model):
        pass

    def on_epoch_begin(self, model):
        pass

    def on_epoch_end(self, model):
        self.epochs += 1


log = EpochLogger()
model = Word2Vec(
    sentences=train, vector_size=24, window=longest, min_count=2, sample=0, negative=8, ns_exponent=0.5, sg=1,
    workers=1, seed=6, epochs=8, shrink_windows=False, callbacks=[log],
)  # fmt: skip


def recommend(cart, topn=3):
    known = [item for item in cart if item in model.wv]
    if not known:
        return []
    return model.wv.most_similar(positive=known, topn=topn)


aisle_of = {item: aisle for aisle, items in AISLES.items() for item in items}
hits = []
for basket in test:
    *cart, held_out = [item for item in basket if item in model.wv] or [None]
    if cart:
        hits.append(
            aisle_of[recommend(cart, topn=1)[0][0]] == collections.Counter(map(aisle_of.get, cart)).most_common()[0][0]
        )

RESULT = {
    "recommended": {item: [other for other, _ in recommend([item])] for item in aisle_of},
    "by_vector": model.wv.similar_by_vector(np.mean(model.wv[["beer", "crisps"]], axis=0), topn=3),
    "cosmul": [item for item, _ in model.wv.most_similar_cosmul(positive=["garlic", "basil"], topn=3)],
    "unknown": recommend(["souvenir"]),
    "likely": [item for item, _ in model.predict_output_word(["nappies", "wipes"], topn=4)],
    "hits": float(np.mean(hits)),
    "callback_epochs": log.epochs >= 8,
    "aisle_of": aisle_of,
}
