#!/usr/bin/env python3
"""port_cliff.py VERSION [--patched DIR]: a bare proxy_pass runs out of ports, the patched one does not.

nginx closes the connection to a bare backend first, and a port it closed cannot be used again towards that backend for
60 seconds. With so many ports, the next request is answered with 502. Here the private network has 512 ports and gets
1200 requests: the original configuration must fail at the 512th or 513th, and the one patched by proxylint must serve all.
"""

import argparse
import asyncio
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import rig
from backend import Http
from client import Client

PORTS, REQUESTS, CLIENTS = 512, 1200, 4
ADDRESS_NOT_AVAILABLE = 99

ORIGINAL = """\
events {
    worker_connections 1024;
}

http {
    access_log off;

    server {
        listen 127.0.0.1:8000;

        location / {
            proxy_pass http://127.0.0.1:9001;
        }
    }
}
"""


async def load():
    """The requests: how often each status came, and which request was the first to fail."""
    statuses, first_failure, sent = Counter(), None, 0

    async def one_client():
        nonlocal first_failure, sent
        client = Client()
        while sent < REQUESTS:
            sent += 1
            number = sent
            status = (await client.request("GET", "/")).status
            statuses[status] += 1
            if status != 200:
                first_failure = min(first_failure or number, number)
        client.close()

    await asyncio.gather(*(one_client() for _ in range(CLIENTS)))
    return dict(statuses), first_failure


async def run(version, folder, first_port):
    """One configuration under load, in a range of ports of its own so that the runs do not touch each other."""
    rig.sysctl("ip_local_port_range", f"{first_port} {first_port + PORTS - 1}")
    backend = await Http().listen(9001)
    backend.waits_for_close = 0.05
    async with rig.nginx(version, folder) as process:
        opened = backend.connections
        statuses, first_failure = await load()
        errors = Counter(re.findall(r"connect\(\) .* failed \((\d+):", process.log.read_text(errors="replace")))
        opened = backend.connections - opened
    await backend.close()
    return statuses, first_failure, opened, errors


async def main(version, patched):
    with rig.scratch() as original:
        Path(original, "nginx.conf").write_text(ORIGINAL)
        rig.sysctl("tcp_tw_reuse", 0)  # loopback would otherwise use a waiting port again after a second
        bare = await run(version, Path(original), 20000)
        if patched:
            shutil.copytree(patched, original, dirs_exist_ok=True)
        else:
            rig.fix(original, "nginx.conf", "--nginx", version)
        fixed = await run(version, Path(original), 24000)
        text = Path(original, "nginx.conf").read_text()
    for name, (statuses, first_failure, opened, errors) in {"original": bare, "patched": fixed}.items():
        print(f"nginx {version}, {PORTS} ports, {name}: answers {statuses}, first failure at request {first_failure}, "
              f"{opened} connections to the backend, errno {dict(errors)}")
    statuses, first_failure, _, errors = bare
    fails = statuses.get(502, 0) > 0 and PORTS - CLIENTS <= first_failure <= PORTS + CLIENTS \
        and set(errors) == {str(ADDRESS_NOT_AVAILABLE)}
    serves = fixed[0] == {200: REQUESTS} and fixed[2] <= 2 * CLIENTS
    if not fails:
        print("WRONG: the original should fail when the ports are used up")
    if not serves:
        print(f"WRONG: the patched configuration should serve everything over few connections:\n{text}")
    return 0 if fails and serves else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", choices=rig.NGINX_VERSIONS)
    parser.add_argument("--patched", metavar="DIR", help="take this configuration in place of what proxylint writes")
    options = parser.parse_args()
    rig.isolate()
    sys.exit(asyncio.run(main(options.version, options.patched)))
