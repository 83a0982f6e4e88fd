"""The tensor data mover: its descriptor as rows of fields, and the elements that one descriptor moves."""

from mfmasim.machine.tensor.descriptor import Descriptor, decode
from mfmasim.machine.tensor.fields import FIELDS, Field
from mfmasim.machine.tensor.tile import Moves, moves

__all__ = ["FIELDS", "Descriptor", "Field", "Moves", "decode", "moves"]
