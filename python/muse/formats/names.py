"""Names of senses beside a vector file: lines ``key``, tab, ``name``, for the senses that have one."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from muse.data.sense_names import NO_NAMES, SenseNames, check_name
from muse.errors import listed, warn_of_format
from muse.files.replacing import replacing
from muse.formats.reading import damaged, open_reader
from muse.formats.table import SenseTable

__all__ = ["names_of_table", "read_names", "write_names"]

_LONGEST_LINE = 1 << 21
_LONGEST_NAME = 100_000


def write_names(path: str | PathLike[str], keys: Sequence[str], table: SenseTable) -> None:
    """Write the names of the senses of a table under their `keys`, as these stand in the file of vectors."""
    with replacing(path) as file:
        for row, name in sorted(table.names.items()):
            file.write(f"{keys[row]}\t{name}\n".encode())


def read_names(path: str | PathLike[str]) -> dict[str, str]:
    """Names by keys.

    Raises
    ------
    ModelFileError
        If a line is no key and name, or a key has two names.
    """
    names: dict[str, str] = {}
    with open_reader(path) as reader:
        while not (reader.at_end and not reader.peek(1)):
            place = reader.place
            line = reader.take_line(_LONGEST_LINE)
            if not line.strip():
                continue
            key, tab, name = line.rstrip(b"\r").partition(b"\t")
            try:
                text = key.decode("utf-8")
                checked = check_name(name.decode("utf-8"), _LONGEST_NAME)
            except ValueError as error:
                raise damaged(place, f"expected a key, a tab and the name of its sense ({error})") from None
            if not tab or text in names:
                raise damaged(place, f"expected 'word#k', a tab and a name, once for each key; found {line[:60]!r}")
            names[text] = checked
    return names


def names_of_table(table: SenseTable) -> SenseNames:
    """The names in a table, for its senses as they are numbered here; a ValueError where one is none."""
    names, twice = NO_NAMES, []
    for number, row in table.named_rows():
        word, name = table.words[number], check_name(table.names[row], _LONGEST_NAME)
        if name in names.of(word).values():
            twice.append(f"{word} {name!r}")
        else:
            names = names.with_name(word, row - int(table.sense_offset[number]), name)
    if twice:
        warn_of_format(f"two senses of a word have the same name, and the second goes without: {listed(twice)}")
    return names
