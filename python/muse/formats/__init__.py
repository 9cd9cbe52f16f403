"""Vector files of other tools; the file that holds a whole model is in `muse.files.model_file`.

`muse.load_vectors` reads them, ``model.export`` and ``vectors.export`` write them; `registry.FORMATS` lists them, and
docs/formats.md says what each holds.
"""
