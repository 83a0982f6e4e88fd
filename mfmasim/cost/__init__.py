"""What a kernel costs: the cycles that each pipe must spend, and a timeline, both from executed instructions.

Everything rests on the rows of `mfmasim.architectures.rates`. A bound is a lower one as far as these rows are right; a
timeline is a model and a range, never a promise.
"""

from mfmasim.cost.bound import Bound, bound_of
from mfmasim.cost.resident import Recorded, Resident, record_launch
from mfmasim.cost.timeline import Timeline, timeline
from mfmasim.cost.trace import Trace

__all__ = ["Bound", "Recorded", "Resident", "Timeline", "Trace", "bound_of", "record_launch", "timeline"]
