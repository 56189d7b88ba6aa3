"""What the live tests stand on: a private network, the real servers, and their processes.

Every script calls `isolate()` first. From then on it runs in its own network and mount namespace: 127.0.0.1 is its
own, so fixed port numbers never collide with another test or with what the machine runs, and `backend.test` is a
name that only it knows.
"""

import asyncio
import difflib
import fcntl
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SERVERS = Path(os.environ.get("PROXYLINT_SERVERS") or ROOT / ".cache/servers")
NGINX_VERSIONS = ["1.22.1", "1.28.3", "1.31.3"]
CADDY_VERSIONS = ["2.6.2", "2.8.4", "2.11.7"]

# Exit status of a script that could not run for want of a server or of a namespace (EX_UNAVAILABLE of sysexits.h).
UNAVAILABLE = 69
# Exit status of a script that has nothing to look at here.
SKIPPED = 77
INSIDE = "PROXYLINT_LIVE_INSIDE"
HOSTS = "127.0.0.1 localhost backend.test api.test auth.test www.test\n"


class Broken(Exception):
    """A server did not do what the test needs; the text says what it said."""


def unavailable(why, status=UNAVAILABLE):
    print(f"NOT RUN: {why}", file=sys.stderr, flush=True)
    sys.exit(status)


def server(name, version):
    """The program of a server that tests/servers fetched."""
    program = SERVERS / f"{name}-{version}" / name
    if not program.exists():
        unavailable(f"{name} {version} is not in {SERVERS}; run tests/servers")
    return program


def isolate():
    """Goes on in a network and mount namespace of its own, with its own /etc/hosts and an empty /run."""
    if INSIDE not in os.environ:
        as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
        command = ["unshare", "--net", "--mount", *as_root]
        probe = subprocess.run([*command, "true"], capture_output=True, text=True)
        if probe.returncode != 0:
            unavailable(f"`{' '.join(command)}` is refused here: {probe.stderr.strip()}")
        os.environ[INSIDE] = "1"
        os.execvp("unshare", [*command, "--kill-child", "--fork", sys.executable, *sys.argv])
    loopback_up()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    Path("/run/hosts").write_text(HOSTS)
    subprocess.run(["mount", "--bind", "/run/hosts", "/etc/hosts"], check=True)


def loopback_up():
    """`ip link set lo up`, for machines without iproute2."""
    get_flags, set_flags, up = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        answer = fcntl.ioctl(handle, get_flags, struct.pack("16sh22x", b"lo", 0))
        flags = struct.unpack("16sh22x", answer)[1] | up
        fcntl.ioctl(handle, set_flags, struct.pack("16sh22x", b"lo", flags))


def sysctl(name, value):
    """Sets a kernel parameter of the private network."""
    Path("/proc/sys/net/ipv4", name).write_text(str(value))


def scratch():
    """A folder that vanishes with the test."""
    return tempfile.TemporaryDirectory(prefix="proxylint-live-")


def certificate(folder):
    """Makes `backend.pem` and `backend.key` for backend.test in a folder."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=backend.test", "-addext", "subjectAltName=DNS:backend.test",
         "-keyout", folder / "backend.key", "-out", folder / "backend.pem"],
        check=True, capture_output=True)


# proxylint

def proxylint(folder, *arguments):
    """Runs the linter under test in a folder: (exit status, stdout, stderr). $PROXYLINT names it."""
    program = os.environ.get("PROXYLINT") or ROOT / "target/debug/proxylint"
    done = subprocess.run([str(program), *arguments], cwd=folder, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def fix(folder, name, *arguments):
    """Patches the configuration `folder/name` with proxylint, and makes sure that a second run finds nothing more."""
    command = ["check", "--fix", *arguments, name]
    for run in "first", "second":
        before = contents(folder)
        status, output, notices = proxylint(folder, *command)
        if status not in (0, 1):
            raise Broken(f"`proxylint {' '.join(command)}` ended with status {status}:\n{output}{notices}")
    if contents(folder) != before:
        raise Broken(f"a second `proxylint {' '.join(command)}` changed the files again")


def contents(folder):
    """The bytes of every file under a folder, by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def unified(before, after):
    """A diff of two trees, for people."""
    lines = []
    for name in sorted(before.keys() | after.keys()):
        old, new = (tree.get(name, b"").decode("latin-1").splitlines() for tree in (before, after))
        lines += difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="")
    return "\n".join(lines)


# nginx

# Put at the head of the http block, so that the server writes nothing outside its copy.
HTTP_PREFIX = "access_log off; " + "".join(
    f"{kind}_temp_path tmp-{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))


def nginx_command(version, folder):
    main = f"user root; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log info;"
    return [server("nginx", version), "-p", f"{folder}/", "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log",
            "-g", main]


def nginx_accepts(version, folder):
    """What `nginx -t` says of `folder/nginx.conf`: (accepted, its words)."""
    with scratch() as copy:
        lay_nginx(folder, Path(copy))
        done = subprocess.run([*nginx_command(version, copy), "-t"], capture_output=True, text=True)
        return done.returncode == 0, done.stderr.replace(copy, "").strip()


def lay_nginx(folder, copy):
    """Copies a configuration and points its temporary files into the copy."""
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    path = copy / "nginx.conf"
    text = path.read_bytes()
    path.write_bytes(re.sub(rb"\bhttp\s*\{", lambda found: found[0] + b" " + HTTP_PREFIX.encode(), text, count=1))


@asynccontextmanager
async def nginx(version, folder, port=8000):
    """Runs nginx with a copy of `folder/nginx.conf` as long as the block lasts."""
    with scratch() as copy:
        lay_nginx(folder, Path(copy))
        async with process(nginx_command(version, copy), port, Path(copy, "error.log")) as it:
            yield it


HTTP2_BACKEND = """
events { }
http {
    access_log off;
    server {
        listen 127.0.0.1:9200 http2;
        add_header X-Seen-Connection $connection always;
        add_header X-Seen-Host $host always;
        return 200 "$request_uri\n";
    }
}
"""


@asynccontextmanager
async def http2_backend():
    """A backend on port 9200 that speaks HTTP/2 without TLS. It is an nginx that says in `X-Seen-Connection` and
    `X-Seen-Host` on which connection and for which host a request came."""
    with scratch() as folder:
        Path(folder, "nginx.conf").write_text(HTTP2_BACKEND)
        async with nginx("1.22.1", Path(folder), port=9200) as it:
            yield it


# Caddy

def caddy_environment(folder):
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}


@asynccontextmanager
async def caddy(version, folder, port=8000):
    """Runs Caddy with `folder/Caddyfile` as long as the block lasts."""
    with scratch() as home:
        command = [server("caddy", version), "run", "--adapter", "caddyfile", "--config", f"{folder}/Caddyfile"]
        log = Path(home, "error.log")
        async with process(command, port, log, env=caddy_environment(home), cwd=folder) as it:
            yield it


@asynccontextmanager
async def process(command, port, log, **more):
    """A server process from the moment it listens on `port`; ended with the block, and waited for."""
    with open(log, "ab") as output:
        child = await asyncio.create_subprocess_exec(
            *map(str, command), stdin=subprocess.DEVNULL, stdout=output, stderr=output, **more)
    child.log = log
    try:
        await listening(child, port, log)
        yield child
    finally:
        if child.returncode is None:
            child.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(child.wait(), 10)
            except asyncio.TimeoutError:
                child.kill()
                await child.wait()


async def listening(child, port, log):
    for _ in range(400):
        if child.returncode is not None:
            raise Broken(f"the server ended with status {child.returncode}:\n{log.read_text(errors='replace')}")
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        except OSError:
            await asyncio.sleep(0.025)
    raise Broken(f"the server does not listen on {port} after 10 s:\n{log.read_text(errors='replace')}")
