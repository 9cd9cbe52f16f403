"""Fixtures of the tests of text."""

import pytest


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="corpus.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file
