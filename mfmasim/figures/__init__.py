"""Pictures of public objects: pure functions from data to SVG and HTML."""
