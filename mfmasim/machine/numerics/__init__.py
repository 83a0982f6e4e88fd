"""Pure functions of arrays: IEEE 754 arithmetic as MODE says, float formats of registers, lane masks."""
