"""Walks over a graph of knowledge that grows: entities and relations are words, and new facts are learned later."""

import random

import numpy as np
from gensim.models import KeyedVectors, Word2Vec

random.seed(5)
COUNTRIES = {"france": "paris lyon nice", "italy": "rome milan turin", "japan": "tokyo osaka kyoto"}
NEW = {"kenya": "nairobi mombasa kisumu"}


def facts(countries):
    for country, cities in countries.items():
        capital, *others = cities.split()
        yield f"ex:{capital}", "rel:capitalOf", f"ex:{country}"
        for city in others:
            yield f"ex:{city}", "rel:cityIn", f"ex:{country}"
            yield f"ex:{city}", "rel:trainTo", f"ex:{capital}"


def walks(triples, count, depth=4):
    """Walks from each entity along relations, in both directions."""
    edges = {}
    for subject, relation, thing in triples:
        edges.setdefault(subject, []).append((relation, thing))
        edges.setdefault(thing, []).append((relation, subject))
    for start in sorted(edges):
        for _ in range(count):
            path = [start]
            for _ in range(depth):
                path.extend(random.choice(edges[path[-1]]))
            yield path


corpus = list(walks(facts(COUNTRIES), 60))
random.shuffle(corpus)
model = Word2Vec(vector_size=16, window=4, min_count=1, sample=0, sg=1, negative=6, workers=1, seed=9, epochs=6)
model.build_vocab(corpus_iterable=corpus)
words, raw = model.train(corpus_iterable=corpus, total_examples=model.corpus_count, epochs=model.epochs)
before = len(model.wv)

more = list(walks(facts(NEW), 60))
model.build_vocab(more, update=True)
model.train(more + corpus, total_examples=len(more) + len(corpus), epochs=6, start_alpha=0.025, end_alpha=0.005)

# Only the entities go to those who use the vectors.
entities = [key for key in model.wv.index_to_key if key.startswith("ex:")]
vectors = KeyedVectors(model.vector_size)
vectors.add_vectors([key.removeprefix("ex:") for key in entities], [model.wv[key] for key in entities])
vectors["europe"] = np.mean([vectors["france"], vectors["italy"]], axis=0)

country_of = {city: country for country, cities in (COUNTRIES | NEW).items() for city in cities.split()}
RESULT = {
    "trained": (words <= raw, raw == sum(map(len, corpus)) * model.epochs),
    "grown": (before, len(model.wv)),
    "country": {city: vectors.most_similar_to_given(city, [*COUNTRIES, *NEW]) for city in country_of},
    "country_of": country_of,
    "vectors": (vectors.vectors.shape, sorted(vectors.index_to_key)),
    "europe": vectors.similarity("europe", "france") > vectors.similarity("europe", "japan"),
    "rank": vectors.rank("nairobi", "kenya"),
}
