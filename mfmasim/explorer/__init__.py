"""The explorer: matrix fragments, LDS banks and number formats as one self-contained page, from the library's rows."""

from mfmasim.explorer.page import VIEWS, explorer_page, view_state

__all__ = ["VIEWS", "explorer_page", "view_state"]
