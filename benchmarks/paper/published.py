"""The figures that Lee & Chen (2017) report, as far as these experiments repeat them."""

from __future__ import annotations

# Table 1: Spearman's correlation × 100 on SCWS.
TABLE1 = {
    "policy": {"MaxSimC": 66.1, "AvgSimC": 67.4},
    "greedy": {"MaxSimC": 66.3, "AvgSimC": 68.3},
    "eps_greedy": {"MaxSimC": 67.4, "AvgSimC": 68.6},
    "boltzmann": {"MaxSimC": 67.9, "AvgSimC": 68.7},
}

# Table 2: accuracy in % on synonym questions.
TABLE2 = {
    "skip-gram": {"ESL-50": 52.08, "RD-300": 55.66, "TOEFL-80": 66.67},
    "policy": {"ESL-50": 52.38, "RD-300": 51.79, "TOEFL-80": 79.71},
    "greedy": {"ESL-50": 57.14, "RD-300": 58.93, "TOEFL-80": 79.71},
    "eps_greedy": {"ESL-50": 61.90, "RD-300": 62.50, "TOEFL-80": 84.06},
    "boltzmann": {"ESL-50": 64.29, "RD-300": 66.07, "TOEFL-80": 88.41},
}

# Table 3: a word in context, marked by stars, and the senses of the largest collocation likelihood.
TABLE3 = [
    ("tie", "braves finish the season in *tie* with the los angeles dodgers",
     "scoreless otl shootout 6-6 hingis 3-3 7-7 0-0"),
    ("tie", "his later years proudly wore *tie* with the chinese characters for",
     "pants trousers shirt juventus blazer socks anfield"),
    ("blackberry", "of the mulberry or the *blackberry* and minos sent him to",
     "cranberries maple vaccinium apricot apple"),
    ("blackberry", "of the large number of *blackberry* users in the us federal",
     "smartphones sap microsoft ipv6 smartphone"),
    ("head", "shells and or high explosive squash *head* hesh and or anti tank",
     "venter thorax neck spear millimeters fusiform"),
    ("head", "head was shaven to prevent *head* lice serious threat back then",
     "shaved thatcher loki thorax mao luthor chest"),
    ("head", "appoint john pope republican as *head* of the new army of",
     "multi-party appoints unicameral beria appointed"),
]  # fmt: skip

# Section 4.2: how many times sooner the likelihood than the sampled likelihood reaches a MaxSimC of 67.0.
SPEEDUP = {"eps_greedy": 2.3, "boltzmann": 1.3}

# Section 3.2.1, footnote: the loss in performance when the collocate's selection is trained too, in %.
TWO_SIDED_LOSS = 4.0
