"""Model files. `native` is the one that holds a whole model; the others exchange vectors with other tools."""
