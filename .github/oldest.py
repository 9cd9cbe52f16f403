"""The oldest versions that pyproject.toml allows of what builds and runs the package, as arguments of pip."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
for needed in [*project["build-system"]["requires"], *project["project"]["dependencies"]]:
    name, version = re.fullmatch(r"([\w-]+)>=([\d.]+)", needed).groups()
    print(f"{name}=={version}")
