"""Reports on kernels: profile with claims about it, statements of a text and how each was settled."""
