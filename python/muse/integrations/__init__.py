"""Drop-in parts for other libraries, each in a module that needs its library.

==============================  ====================================================================
`muse.integrations.sklearn`     `SenseVectorizer`, a transformer of documents (``muse-senses[sklearn]``)
`muse.integrations.spacy`       the pipeline component ``muse_senses`` (``muse-senses[spacy]``)
`muse.integrations.datasets`    `DatasetSentences`, Hugging Face datasets and streams as a corpus (any rows will do)
`muse.integrations.wikipedia`   `WikipediaSentences`, a Wikipedia dump as a corpus (``muse-senses[wikipedia]``)
==============================  ====================================================================

This module imports none of them.
"""
