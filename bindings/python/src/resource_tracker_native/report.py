"""The page of a recording."""
from __future__ import annotations

from ._output import opener
from .helpers import round_memory

__all__ = ["Report", "round_memory"]


class Report(str):
    """The text of an HTML page that needs no network. It can be saved or opened in a browser."""

    def _repr_html_(self) -> str:
        """A notebook shows the page in its own frame, instead of 100 kB of text."""
        from html import escape

        return (f'<iframe srcdoc="{escape(self)}" style="width: 100%; height: 80vh; border: 0" '
                'sandbox="allow-scripts allow-downloads"></iframe>')

    def save(self, filepath: str) -> "Report":
        """Writes the page to a file and returns it."""
        with open(filepath, "w", encoding="utf-8", opener=opener) as out:
            out.write(self)
        return self

    def browse(self) -> "Report":
        """Opens the page in the web browser and returns it."""
        from tempfile import NamedTemporaryFile
        from webbrowser import open as open_in_browser

        with NamedTemporaryFile("w", encoding="utf-8", suffix=".html", delete=False) as out:
            out.write(self)
        open_in_browser(f"file://{out.name}")
        return self
