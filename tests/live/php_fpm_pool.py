#!/usr/bin/env python3
"""php_fpm_pool.py VERSION [PHP-FPM]: what `fastcgi_keep_conn on` does when php-fpm has few children.

A php-fpm child serves one connection until it is closed, so an idle connection in nginx's pool is a child that does
nothing and accepts nobody. This measures, for several sizes of both, how many requests are answered and how late.
Not part of the test suite: it needs Debian's php-fpm (`apt-get install php-fpm`) and takes about a minute.
"""

import asyncio
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import rig
from client import Client

SCRIPT = "<?php usleep((int)($_GET['ms'] ?? 0) * 1000); echo getmypid(), \"\\n\";\n"
READ_TIMEOUT = 2  # seconds; nginx's default is 60

FPM = """\
[global]
error_log = {folder}/fpm.log
daemonize = no
[www]
user = root
listen = 127.0.0.1:9000
pm = {manager}
pm.max_children = {children}
{more}
"""

NGINX = """\
worker_processes {workers};
events {{ }}
http {{
    access_log off;
    upstream php {{
        server 127.0.0.1:9000;
        {pool}
    }}
    server {{
        listen 127.0.0.1:8000{listen};
        location / {{
            fastcgi_pass php;
            fastcgi_keep_conn {keep};
            fastcgi_read_timeout {read_timeout}s;
            fastcgi_param SCRIPT_FILENAME {folder}/page.php;
            fastcgi_param REQUEST_METHOD $request_method;
            fastcgi_param QUERY_STRING $query_string;
            add_header X-Worker $pid;
        }}
    }}
}}
"""


async def timed(target):
    """One request on a client connection of its own: (status, seconds)."""
    client, start = Client(), time.monotonic()
    answer = await client.request("GET", target)
    client.close()
    return answer.status, time.monotonic() - start


def summary(results):
    seconds = sorted(one for _, one in results)
    return (f"answers {dict(Counter(status for status, _ in results))}, median {statistics.median(seconds) * 1000:.1f} ms, "
            f"slowest {seconds[-1]:.2f} s, {sum(one > 1 for one in seconds)} later than 1 s")


async def one_by_one(count):
    return [await timed("/page.php") for _ in range(count)]


async def at_once(clients, each):
    async def some():
        return [await timed("/page.php?ms=20") for _ in range(each)]
    return [one for results in await asyncio.gather(*(some() for _ in range(clients))) for one in results]


async def scenario(version, fpm, title, load, workers=1, keep="on", pool="keepalive 32;", children=4, manager="static",
                   more="", read_timeout=READ_TIMEOUT):
    with rig.scratch() as folder:
        folder = Path(folder)
        (folder / "page.php").write_text(SCRIPT)
        (folder / "fpm.conf").write_text(FPM.format(folder=folder, manager=manager, children=children, more=more))
        (folder / "nginx.conf").write_text(NGINX.format(
            folder=folder, workers=workers, pool=pool, keep=keep, read_timeout=read_timeout,
            listen=" reuseport" if workers > 1 else ""))
        command = [fpm, "-n", "-R", "-F", "-y", folder / "fpm.conf"]
        async with rig.process(command, 9000, folder / "fpm.out"), rig.nginx(version, folder):
            before = opened()
            results = await load()
            after = opened() - before - len(results)  # without the clients' own
        print(f"{title}: {workers} workers, {pool or 'no keepalive'} keep_conn {keep}, {children} children ({manager}"
              f"{', ' + more.replace(chr(10), ', ') if more else ''}): {summary(results)}; {max(after, 0)} connections to php-fpm", flush=True)


def opened():
    """Connections that anybody in this network has opened since it was made."""
    lines = [line.split() for line in Path("/proc/net/snmp").read_text().splitlines() if line.startswith("Tcp:")]
    return int(dict(zip(*lines))["ActiveOpens"])


async def main(version, fpm):
    async def run(title, load, **setting):
        await scenario(version, fpm, title, load, **setting)

    crowd = lambda: at_once(8, 10)
    calm = lambda: one_by_one(30)
    await run("8 clients at once", crowd, keep="off")
    await run("8 clients at once", crowd)
    await run("8 clients at once", crowd, pool="")
    await run("8 clients at once", crowd, pool="keepalive 4;")
    await run("8 clients at once", crowd, pool="keepalive 3;")
    await run("8 clients at once", crowd, pool="keepalive 2;")
    await run("8 clients at once", crowd, children=8)
    await run("8 clients at once", crowd, children=16)
    await run("8 clients at once", crowd, children=40)
    await run("8 clients at once", crowd, pool="keepalive 32; keepalive_timeout 1s;", read_timeout=5)
    await run("8 clients at once", crowd, manager="ondemand")
    await run("8 clients at once", crowd, manager="dynamic",
              more="pm.start_servers = 2\npm.min_spare_servers = 1\npm.max_spare_servers = 3")
    await run("one client after another", calm, keep="off", workers=4, children=2)
    await run("one client after another", calm, workers=4, children=2)
    await run("one client after another", calm, workers=4, children=2, pool="keepalive 1;")
    await run("one client after another", calm, workers=4, children=4, pool="keepalive 1;")
    await run("one client after another", calm, workers=4, children=5, pool="keepalive 1;")
    await run("children end after 10 requests", lambda: one_by_one(500), more="pm.max_requests = 10")
    await run("children end after 10 requests", lambda: one_by_one(500), keep="off", more="pm.max_requests = 10")
    await run("the gain", lambda: one_by_one(1000), keep="off")
    await run("the gain", lambda: one_by_one(1000))


if __name__ == "__main__":
    fpm = (sys.argv + [None])[2] or shutil.which("php-fpm8.2") or shutil.which("php-fpm")
    if fpm is None:
        rig.unavailable("php-fpm is not installed; apt-get install php-fpm")
    rig.isolate()
    print(subprocess.run([fpm, "-n", "-v"], capture_output=True, text=True).stdout.splitlines()[0])
    asyncio.run(main(sys.argv[1], fpm))
