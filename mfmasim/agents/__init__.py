"""A referee for programs that write kernels: tools of a server that speaks the Model Context Protocol.

`mfmasim.agents.server` needs the extra ``agents``. What a client sends is data: `language` evaluates references,
`problems` makes cases of them, `worker` answers one question in a process that `sandbox` confines.
"""

from __future__ import annotations
