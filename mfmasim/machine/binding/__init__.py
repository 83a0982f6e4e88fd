"""From a decoded instruction to a function of a group of waves: operands, modifiers, DPP, VOPD."""
