"""The Debug Adapter Protocol: a server for editors.

No library on PyPI has a server of its own that others are meant to use, so framing and dispatch are here; the
tests check every message against the protocol's JSON schema, and drive the server with a client of another package.
Source: microsoft/debug-adapter-protocol, specification 1.71.
"""
