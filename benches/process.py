#!/usr/bin/env python3
"""Times the whole program beside the real servers, in one run, and prints a table of ratios.

    benches/process.py [--runs N] [--large] [WORKLOAD ...]     builds the release program first

Workloads: `small` (30 lines), `big` (1,000 servers in one file), `tree` (2,000 included files), `caddy` (1,000 sites),
`faulty` (a fault in every one of 1,000 servers), and with --large `huge` (100,000 servers; minutes, gigabytes).
The inputs are made here, the same every time. Wall and CPU are the best of the runs, which alternate between the
programs, so that a busy machine slows both; memory is the peak. PROXYLINT names another binary; the servers are
those of tests/servers.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERVERS = Path(os.environ.get("PROXYLINT_SERVERS", ROOT / ".cache/servers"))
NGINX = SERVERS / "nginx-1.22.1/nginx"
CADDY = SERVERS / "caddy-2.11.7/caddy"

SMALL = """worker_processes auto;
events { worker_connections 1024; }
http {
    map $http_upgrade $connection_upgrade {
        default upgrade;
        '' '';
    }
    upstream app {
        server 127.0.0.1:8080;
        keepalive 16;
    }
    server {
        listen 18080;
        server_name www.example.com;
        location / {
            proxy_set_header Host $host;
            proxy_set_header Connection $connection_upgrade;
            proxy_http_version 1.1;
            proxy_pass http://app;
        }
        location /static/ {
            root /srv/www;
            expires 1d;
        }
        location ~* \\.(?:css|js)$ {
            root /srv/www;
        }
    }
}
"""

HEAD = """worker_processes auto;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    server_names_hash_max_size 1048576;
    server_names_hash_bucket_size 128;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
"""

KINDS = [
    """    location / {{
        proxy_set_header Host $host;
        proxy_set_header Connection "";
        proxy_http_version 1.1;
        proxy_pass http://app{group};
    }}
    location = /health {{
        return 200 "ok";
    }}
""",
    """    root /srv/site{number};
    location ~* \\.(?:css|js|png)$ {{
        expires 7d;
        add_header Cache-Control "public, immutable";
    }}
    location / {{
        try_files $uri $uri/ /index.html;
    }}
""",
    """    rewrite ^/old/([a-z]+)/(.*)$ /new/$1/$2 permanent;
    location /img/ {{
        alias /data/site{number}/img/;
    }}
    location / {{
        return 301 https://$host$request_uri;
    }}
""",
]
FAULT = """    location / {{
        proxy_set_header Host $host;
        proxy_pass http://127.0.0.1:{port};
    }}
"""


def upstream(group):
    return f"    upstream app{group} {{\n        server 127.0.0.1:{9000 + group};\n        keepalive 32;\n    }}\n"


def server(number, body):
    names = f"    listen 18081;\n    server_name site{number}.example.com www.site{number}.example.com;\n"
    return "server {\n" + names + body.format(number=number, group=number % 50, port=10000 + number % 20000) + "}\n"


def in_one_file(folder, servers, kinds):
    blocks = "".join(server(number, kinds[number % len(kinds)]) for number in range(servers))
    groups = "".join(upstream(group) for group in range(50))
    return HEAD.format(folder=folder) + groups + blocks + "}\n"


def in_many_files(folder, files):
    parts = folder / "conf.d"
    parts.mkdir()
    for number in range(files):
        (parts / f"site{number:05}.conf").write_text(server(number, KINDS[number % len(KINDS)]))
    groups = "".join(upstream(group) for group in range(50))
    return HEAD.format(folder=folder) + groups + f"    include {parts}/*.conf;\n}}\n"


def caddyfile(sites):
    site = "site{n}.example.com {{\n\tencode gzip\n\theader X-Site {n}\n\treverse_proxy /api/* 127.0.0.1:{p}\n\troot * /srv/{n}\n\tfile_server\n}}\n"
    return "{\n\tauto_https off\n}\n" + "".join(site.format(n=number, p=9000 + number % 500) for number in range(sites))


def make(name, folder):
    """Writes a workload; its file."""
    folder.mkdir()
    path = folder / ("Caddyfile" if name == "caddy" else "nginx.conf")
    text = {
        "small": lambda: SMALL,
        "big": lambda: in_one_file(folder, 1000, KINDS),
        "tree": lambda: in_many_files(folder, 2000),
        "caddy": lambda: caddyfile(1000),
        "faulty": lambda: in_one_file(folder, 1000, [FAULT]),
        "huge": lambda: in_one_file(folder, 100_000, KINDS),
    }[name]()
    path.write_text(text)
    return path


def commands(name, path, program):
    ours = {"proxylint": [program, "check", path]}
    if name == "caddy":
        return ours | {"caddy fmt": [CADDY, "fmt", path], "caddy adapt": [CADDY, "adapt", "--config", path]}
    return ours | {"nginx -t": [NGINX, "-t", "-q", "-c", path]}


def once(command):
    """Wall seconds, CPU seconds, peak memory in MB."""
    started = time.perf_counter()
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))}: exit {child.returncode}")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(name, path, program, runs):
    best = {}
    for _ in range(runs):
        for tool, command in commands(name, path, program).items():
            wall, cpu, memory = once(command)
            known = best.get(tool, (wall, cpu, memory))
            best[tool] = (min(known[0], wall), min(known[1], cpu), max(known[2], memory))
    ours = best["proxylint"]
    for tool, (wall, cpu, memory) in best.items():
        ratio = "" if tool == "proxylint" else f"{ours[0] / wall:8.2f} {ours[1] / cpu:6.2f} {ours[2] / memory:6.2f}"
        print(f"{name:8} {tool:12} {wall * 1000:9.1f} {cpu * 1000:9.1f} {memory:8.1f} {ratio}", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=10)
    arguments.add_argument("--large", action="store_true", help="also 100,000 servers")
    arguments.add_argument("workload", nargs="*")
    wanted = arguments.parse_args()
    program = os.environ.get("PROXYLINT")
    if program is None:
        subprocess.run(["cargo", "build", "--release", "--locked", "--quiet"], cwd=ROOT, check=True)
        program = ROOT / "target/release/proxylint"
    for needed in (NGINX, CADDY):
        if not needed.exists():
            sys.exit(f"benches/process.py: {needed} is not there; tests/servers fetches it")
    names = wanted.workload or ["small", "big", "tree", "caddy", "faulty"] + (["huge"] if wanted.large else [])
    print(f"{'':8} {'':12} {'wall ms':>9} {'CPU ms':>9} {'MB':>8}   proxylint/it: wall, CPU, memory")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path = make(name, Path(folder) / name)
            measure(name, path, program, 2 if name == "huge" else wanted.runs)


if __name__ == "__main__":
    main()
