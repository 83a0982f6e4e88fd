"""Tables of the HIP interface: facts of its headers, no code."""
