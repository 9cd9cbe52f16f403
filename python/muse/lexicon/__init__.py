"""Dictionaries of word meanings, such as WordNet, and which of their entries the senses of a model are."""
