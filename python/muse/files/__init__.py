"""Bytes on disk: lines of text, files replaced whole, the tensor file, the model file."""
