"""Build the site, and show it: ``python -m docs.website [--serve] [--pyodide PLACE]``."""

from __future__ import annotations

import argparse
import contextlib
import http.server
import sys
from functools import partial
from importlib.util import find_spec

from mfmasim.errors import MfmasimError

TOOLS = ("zensical", "mkdocstrings", "yaml")


def main(argv: list[str] | None = None) -> int:
    """Run the command; 0 if the site was built without a warning."""
    parser = argparse.ArgumentParser(prog="python -m docs.website", description="Build the documentation site.")
    parser.add_argument("--serve", action="store_true", help="show the site at http://localhost:PORT after building")
    parser.add_argument("--port", type=int, default=8000, help="port of --serve (default: 8000)")
    parser.add_argument(
        "--pyodide",
        metavar="PLACE",
        help="folder of a full Pyodide distribution, which is copied into the site, or its address (https://...): "
        "snippets get a Run button",
    )
    args = parser.parse_args(argv)
    if missing := [tool for tool in TOOLS if find_spec(tool) is None]:
        print(f"not installed: {', '.join(missing)} (pip install '.[docs]')", file=sys.stderr)
        return 1
    from docs.website.build import OUT, build

    try:
        build(OUT, pyodide=args.pyodide)
    except MfmasimError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{OUT / 'site' / 'index.html'}")
    if args.serve:
        handler = partial(http.server.SimpleHTTPRequestHandler, directory=OUT / "site")
        with http.server.ThreadingHTTPServer(("localhost", args.port), handler) as server:
            print(f"http://localhost:{args.port}/ (Ctrl-C ends)")
            with contextlib.suppress(KeyboardInterrupt):
                server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
