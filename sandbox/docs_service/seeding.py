"""The documentation site that a project begins with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sandbox.docs_service.options import product_name

_FOLDER = Path(__file__).parent / "seed"


def names(project: str) -> dict[str, str]:
    """How the product of a project is called in text, in code, and in variables of the environment."""
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
    """The text with the project's names in it."""
    return fill_names(template, names(project))


def fill_names(template: str, values: Mapping[str, str]) -> str:
    """The text with each value in place of its name."""
    # Prompts come through here too, so names are put in literally: a template language would obey them.
    for name, value in values.items():
        template = template.replace(f"<< {name} >>", value)
    return template


def seed_files(project: str) -> dict[str, str]:
    """Path to text, for a project that has nothing yet."""
    return {
        path.relative_to(_FOLDER).as_posix().removesuffix(".j2"): fill(path.read_text("utf-8"), project)
        for path in sorted(_FOLDER.rglob("*.j2"))
    }
