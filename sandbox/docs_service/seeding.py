"""The initial documentation site of a project."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sandbox.docs_service.options import product_name

_FOLDER = Path(__file__).parent / "seed"


def names(project: str) -> dict[str, str]:
    """Return the names of a project's product in text, in code and in environment variables."""
    product = product_name(project)
    package = re.sub(r"[^a-z0-9]+", "_", product.lower()).strip("_") or "acme"
    return {
        "product": product,
        "package": package,
        "constant": package.upper(),
        "module": product.replace(" ", ""),
        "header": product.replace(" ", "-"),
    }


def fill(template: str, project: str) -> str:
    """Return the template with the project's names filled in."""
    return fill_names(template, names(project))


def fill_names(template: str, values: Mapping[str, str]) -> str:
    """Return the template with each `<< name >>` replaced by its value."""
    # The text may come from a prompt, so replace literally: a template language would execute it.
    for name, value in values.items():
        template = template.replace(f"<< {name} >>", value)
    return template


def seed_files(project: str) -> dict[str, str]:
    """Return the files of a new project: path to text."""
    return {
        path.relative_to(_FOLDER).as_posix().removesuffix(".j2"): fill(path.read_text("utf-8"), project)
        for path in sorted(_FOLDER.rglob("*.j2"))
    }
