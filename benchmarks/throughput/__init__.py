"""How fast training is, beside gensim, word2vec.c and fastText on the same text and settings.

Each figure is the median over ``--repeats`` rounds; a round runs every system once, in turn and in a process of its
own, so that a change in the load of the machine meets all of them. Rates are given by the clock and by processor time
(all threads of the process), which other programs on the machine disturb less. Only training counts: reading the text
and building the vocabulary are timed apart, and programs that read, count and train in one call are run with one epoch
and with two (others than word2vec.c and fastText: with five), whose difference is an epoch (four).

Tokens are those of the text whose words are in the vocabulary, before subsampling. A pair is one target with one
collocate and its negatives. This package counts the pairs that it trains. For its peers, which do not, pairs are the
expectation under their rule: one seeded draw of subsampling with word2vec's formula, and the mean over all window sizes
1..window for every token that is left.

The share of the machine's peak of fused multiply-adds is that of the products that a pair needs: six operations a
dimension (score, gradient of U, gradient of V) for the pair itself and for every negative that its target meets. Cells
of a group's matrices that belong to no pair do not count, nor does the selection module.
"""
