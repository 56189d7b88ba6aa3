#!/usr/bin/env python3
"""rows.py VERSION [ROW ...]: holds the rows of tests/lab/rows.conf against a running nginx of that version.

Each row is run in several circumstances: with clients that say nothing about their connection, that ask to keep and
that ask to close it, and with a backend that does not keep HTTP/1.0 connections. One connection for many requests
every time is `reused`, one for each request every time is `not-reused`, and both in turn is `depends`.
"""

import asyncio
import re
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import rig
from backend import Dns, FastCgi, Http, Memcached, OpenHanded
from client import sequential

ROWS = rig.ROOT / "tests/lab/rows.conf"
COLUMNS = ["1.22.1", "1.28.3", "1.29.6", "1.31.3"]
REQUESTS = 8

# (what the client sends, whether the backend keeps HTTP/1.0 connections)
CIRCUMSTANCES = [
    ({}, True),
    ({"Connection": "keep-alive"}, True),
    ({"Connection": "close"}, True),
    ({}, False),
]


def read_rows(version):
    """(id, expected, title, text of the http block) of every row."""
    column = COLUMNS.index(version)
    for block in re.split(r"^## ", ROWS.read_text(), flags=re.MULTILINE)[1:]:
        heading, text = block.split("\n", 1)
        name, *expected, title = heading.split(" | ")
        yield name, expected[column], title, text


async def backends(stack):
    """Every kind of backend that the rows name, at the address they name it by."""
    http = [await Http().listen(9001), await Http().listen(9002), await Http().listen(path="/run/backend.sock")]
    others = [await FastCgi().listen(9100), await Memcached().listen(9101), await OpenHanded().listen(9102),
              await OpenHanded().listen(9103)]
    await Dns.listen(5353)
    await stack.enter_async_context(rig.http2_backend())
    return http, http + others


async def measure(http, every, name):
    """What the running nginx does with its connections: `reused`, `not-reused` or `depends`."""
    outcomes = set()
    for headers, keeps in CIRCUMSTANCES:
        for backend in http:
            backend.keeps_http_1_0 = keeps
        opened = sum(backend.connections for backend in every)
        answers = await sequential(REQUESTS, "GET", "/", headers)
        opened = sum(backend.connections for backend in every) - opened
        opened += len({answer.header("X-Seen-Connection") for answer in answers} - {None})
        failed = [answer.status for answer in answers if answer.status != 200]
        if opened >= REQUESTS - 1 or len(failed) == REQUESTS:  # one may have been left by the circumstance before
            outcomes.add("not-reused")
        elif opened <= 2 and not failed:
            outcomes.add("reused")
        else:
            raise rig.Broken(f"{name}: {opened} connections for {REQUESTS} requests, failures: {failed}")
    return outcomes.pop() if len(outcomes) == 1 else "depends"


async def run_row(version, folder, http, every, name, text):
    (folder / "nginx.conf").write_text(f"events {{ }}\nhttp {{\naccess_log off;\n{text}}}\n")
    accepted, words = rig.nginx_accepts(version, folder)
    if not accepted:
        return "refused", words
    async with rig.nginx(version, folder):
        if name == "resolve":  # no server is known until the name was resolved for the first time
            await asyncio.sleep(0.5)
        return await measure(http, every, name), ""


async def main(version, only):
    wrong = passed = 0
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(rig.scratch()))
        http, every = await backends(stack)
        for name, expected, title, text in read_rows(version):
            if only and name not in only:
                continue
            found, words = await run_row(version, folder, http, every, name, text)
            passed += found == expected
            if found != expected:
                wrong += 1
                print(f"WRONG {name} ({title}): the row says {expected}, nginx {version} does {found}. {words}")
    print(f"nginx {version}: {passed} rows hold, {wrong} do not")
    return 1 if wrong or not passed else 0


if __name__ == "__main__":
    rig.isolate()
    rig.server("nginx", sys.argv[1])
    sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2:])))
