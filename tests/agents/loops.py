"""An event loop of its own: other tests of a process may keep one running, as a browser's do."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


async def _awaited(work):
    return await work


def alone(work):
    """What an awaitable gives, in a thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _awaited(work)).result()
