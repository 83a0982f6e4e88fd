"""Openings, commands, pictures and times on the pages of docs/texts, beside the rows of statements."""
