"""The site, built once for all processes of a test run, and served to a browser."""

import fcntl
import http.server
import threading
from functools import partial

import pytest

from docs.website.build import build


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that prints nothing."""

    def log_message(self, *_args):
        pass


def served(folder):
    """A server of a folder, and its address."""
    server = http.server.ThreadingHTTPServer(("localhost", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://localhost:{server.server_port}/"


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the site."""
    shared = tmp_path_factory.getbasetemp()
    if shared.name.startswith("popen-"):  # a process of pytest-xdist
        shared = shared.parent
    out = shared / "website"
    with (shared / "website.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (out / "site" / "index.html").is_file():
            build(out)
    return out / "site"


@pytest.fixture(scope="session")
def address(site):
    """The address at which the site is served."""
    server, url = served(site)
    yield url
    server.shutdown()
