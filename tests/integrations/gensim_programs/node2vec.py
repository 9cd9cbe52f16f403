"""node2vec on a club whose members fell out: biased random walks, and the members that are near in vector space."""

import random

from gensim.models import Word2Vec

random.seed(11)
instructors, members = {"mr_hi", "officer"}, range(15)
graph = {}


def tie(first, second):
    graph.setdefault(first, set()).add(second)
    graph.setdefault(second, set()).add(first)


for side, head in (("a", "mr_hi"), ("b", "officer")):  # each knows its instructor and a third of its own side
    for i in members:
        tie(head, f"{side}{i}")
        for j in range(i):
            if random.random() < 0.35:
                tie(f"{side}{i}", f"{side}{j}")
for i, j in ((0, 3), (5, 9), (7, 2)):  # and three friendships have lasted
    tie(f"a{i}", f"b{j}")


def step(before, here, p, q):
    """The next node: back with weight 1/p, among common neighbours with 1, further away with 1/q."""
    options = sorted(graph[here])
    weights = [1 / p if node == before else 1 if before in graph[node] else 1 / q for node in options]
    return random.choices(options, weights)[0]


def walk(start, length, p=1.0, q=0.5):
    nodes = [start, random.choice(sorted(graph[start]))]
    while len(nodes) < length:
        nodes.append(step(nodes[-2], nodes[-1], p, q))
    return nodes


walks = []
for _ in range(20):
    walks.extend(walk(node, 25) for node in random.sample(sorted(graph), len(graph)))

model = Word2Vec(walks, vector_size=32, window=5, min_count=0, sample=0, sg=1, hs=0, workers=1, epochs=5, seed=3)

embeddings = {node: model.wv[node] for node in graph}
neighbours = {node: model.wv.most_similar(node, topn=3) for node in graph}
side_of = {node: {"mr_hi": "a", "officer": "b"}.get(node, node[0]) for node in graph}
RESULT = {
    "neighbours": neighbours,
    "embeddings": embeddings,
    "matrix": model.wv.vectors,
    "same_side": [side_of[node] == side_of[other] for node, found in neighbours.items() for other, _ in found],
}
