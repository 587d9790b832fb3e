"""Makes docstrings fit for Markdown when the reference is made; MkDocs loads it for mkdocstrings (`mkdocs.yml`)."""

from __future__ import annotations

from typing import Any

import griffe

from making.markdown import readable


class ReadableDocstrings(griffe.Extension):
    """Rewrites the docstring of every object as it is found."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)
