#!/usr/bin/env python3
"""corpus_fix.py [--every N] [PATH ...]: do nginx and Caddy still accept configurations once proxylint has fixed them?

Takes every configuration of ../shared/corpus that its INDEX.tsv calls `ok`, whole ones and fragments (those are included
by a main file made for them), and every one of ../shared/cases, and lays it out under /etc/nginx of a chroot. Certificates,
users, hosts, folders and included files that nginx misses are made until `nginx -t` accepts it; one that is not accepted
then is left out and counted. Then `proxylint check --select all --fix --unsafe-fixes` runs inside the chroot for a stated
version or for none, a second run must find nothing more, and the server must accept the result without a warning that was
not there before. Of a Caddyfile, what `caddy adapt` makes of it may differ only in pools and what a fix names.
"""

import argparse
import asyncio
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "live"))
import rig  # noqa: E402
from backend import Dns  # noqa: E402

CORPUS = rig.ROOT.parent / "shared/corpus"
CASES = rig.ROOT.parent / "shared/cases"
JAIL = Path("/run/jail")

# (the server that judges, the version named to proxylint): a stated branch, and none for all of them.
RUNS = [("1.22.1", "1.22"), ("1.22.1", "1.24"), ("1.28.3", "1.28"), ("1.31.3", "1.31"), ("1.22.1", None), ("1.31.3", None)]
# One in so many may be refused here although another version accepted it: Caddyfiles are written for new versions.
MOST_LOST = {"nginx": 20, "caddy": 4}
CADDY_RUNS = [("2.6.2", "2.6"), ("2.8.4", "2.8"), ("2.11.7", "2.11"), ("2.6.2", None), ("2.11.7", None)]
# The columns of INDEX.tsv that say whether a server accepted a configuration elsewhere.
VERDICTS = {"1.22.1": ["verdict_a"], "1.28.3": ["verdict_a", "verdict_b"], "1.31.3": ["verdict_b"]}

REPAIRS = 60

WRAPPERS = {
    "main": None,
    "fragment:main": "events {{ }}\ninclude {file};\n",
    "fragment:http": "events {{ }}\nhttp {{\n    include {file};\n}}\n",
    "fragment:server": "events {{ }}\nhttp {{\n    server {{\n        listen 8999;\n        include {file};\n    }}\n}}\n",
    "fragment:location":
        "events {{ }}\nhttp {{\n    server {{\n        listen 8999;\n        location / {{\n"
        "            include {file};\n        }}\n    }}\n}}\n",
}


# The chroot: the system's programs and the servers, and everything else empty for each configuration.

def build_jail(certificates):
    JAIL.mkdir()
    for name, source in {"usr": "/usr", "dev": "/dev", "proc": "/proc", "servers": rig.SERVERS.resolve()}.items():
        (JAIL / name).mkdir()
        subprocess.run(["mount", "--rbind", source, JAIL / name], check=True)
    for name in "lib", "lib64", "bin", "sbin":
        if os.path.islink(f"/{name}"):
            (JAIL / name).symlink_to(f"usr/{name}")
    shutil.copy(os.environ.get("PROXYLINT") or rig.ROOT / "target/debug/proxylint", JAIL / "usr-proxylint")
    shutil.copytree(certificates, JAIL / "certificates")


KEPT = {"usr", "dev", "proc", "servers", "lib", "lib64", "bin", "sbin", "usr-proxylint", "certificates"}


def clear_jail():
    for entry in JAIL.iterdir():
        if entry.name not in KEPT:
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    for folder in "etc/nginx", "var/log/nginx", "var/lib/nginx", "run", "tmp", "var/empty":
        (JAIL / folder).mkdir(parents=True)
    (JAIL / "var/run").symlink_to("../run")
    (JAIL / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    (JAIL / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\nnobody:x:65533:\n")
    (JAIL / "etc/hosts").write_text("127.0.0.1 localhost\n")
    (JAIL / "etc/nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")
    (JAIL / "etc/resolv.conf").write_text("nameserver 127.0.0.1\n")


def inside(*command):
    done = subprocess.run(["chroot", JAIL, *command], cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return done.returncode, (done.stdout + done.stderr).decode("latin-1")


def nginx_test(version):
    status, words = inside(f"/servers/nginx-{version}/nginx", "-t", "-p", "/etc/nginx/", "-c", "/etc/nginx/nginx.conf")
    return status == 0, words


# What nginx complains of that is not in the text, and how it is made.

def make_file(path):
    target = JAIL / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch()


def make_folder(path):
    (JAIL / path.lstrip("/")).mkdir(parents=True, exist_ok=True)


def make_certificate(path):
    make_file(path)
    shutil.copy(JAIL / "certificates/backend.pem", JAIL / path.lstrip("/"))


def make_key(path):
    make_file(path)
    shutil.copy(JAIL / "certificates/backend.key", JAIL / path.lstrip("/"))


def make_parameters(path):
    make_file(path)
    shutil.copy(JAIL / "certificates/dhparam.pem", JAIL / path.lstrip("/"))


def make_user(name):
    append("etc/passwd", f"{name}:x:1000:1000::/:/bin/sh\n")


def make_group(name):
    append("etc/group", f"{name}:x:1000:\n")


def make_variable(name):
    declare(f'map $uri ${name} {{ default ""; }}')


def make_log_format(name):
    declare(f"log_format {name} $uri;")


def declare(text):
    """Puts a line into the http block of the main file that was made for a fragment."""
    path = JAIL / "etc/nginx/nginx.conf"
    path.write_text(path.read_text().replace("http {\n", f"http {{\n    {text}\n", 1))


def append(path, line):
    with open(JAIL / path, "a") as file:
        file.write(line)


REPAIR = [
    (r'cannot load certificate key "([^"]+)"', make_key),
    (r'cannot load certificate "([^"]+)"', make_certificate),
    (r'SSL_CTX_load_verify_locations\("([^"]+)"\)', make_certificate),
    (r'SSL_load_client_CA_file\("([^"]+)"\)', make_certificate),
    (r'BIO_new_file\("([^"]+)"\) failed', make_parameters),
    (r'getpwnam\("([^"]+)"\) failed', make_user),
    (r'getgrnam\("([^"]+)"\) failed', make_group),
    (r'mkdir\(\) "([^"]+)" failed \(2', make_folder),
    (r'open\(\) "([^"]+)" failed \(2', make_file),
    (r'bind\(\) to unix:(\S+) failed \(2', make_file),
]
IN_FRAGMENTS = [
    (r'unknown "([a-z_0-9]+)" variable', make_variable),
    (r'unknown log format "([^"]+)"', make_log_format),
]


def repair(words, kind):
    """Makes what the server misses; whether there was something to make."""
    error = next((line for line in words.splitlines() if "[emerg]" in line), "")
    for pattern, make in REPAIR + (IN_FRAGMENTS if kind in ("fragment:server", "fragment:http", "fragment:location") else []):
        if found := re.search(pattern, error):
            make(found[1])
            return True
    lacking = re.search(r'unknown directive "(\w+)" in (\S+):(\d+)', error)
    if lacking and lacking[1] in LACKING:
        return blank(lacking[1], JAIL / lacking[2].lstrip("/"), int(lacking[3]))
    return False


# Directives of nginx's own modules that one of the two binaries was built without: the line is blanked, as the index says.
LACKING = {"stub_status", "gzip_static", "http3", "http3_hq", "image_filter", "perl", "mail", "brotli", "brotli_static",
           "xslt_stylesheet", "geoip_country", "random_index", "mp4", "flv", "slice", "dav_methods", "secure_link",
           "sub_filter", "sub_filter_once", "sub_filter_types", "set_real_ip_from", "real_ip_header", "real_ip_recursive"}


def blank(name, path, line):
    lines = path.read_bytes().split(b"\n")
    fixed = re.sub(rb"\b%s\b[^;]*;" % name.encode(), b"", lines[line - 1])
    changed, lines[line - 1] = fixed != lines[line - 1], fixed
    path.write_bytes(b"\n".join(lines))
    return changed


# One configuration

def lay(row):
    """Puts a configuration, and what lies beside it, into /etc/nginx of the chroot."""
    clear_jail()
    source, home, kind = row["source"], JAIL / "etc/nginx", row["kind"]
    if row["server"] == "caddy":
        if row["beside"]:
            shutil.copytree(source.parent, home, dirs_exist_ok=True, copy_function=copy_writable)
        copy_writable(source, home / "Caddyfile")
        return
    if Path("/etc/nginx/mime.types").exists():
        for name in "mime.types", "fastcgi_params", "fastcgi.conf", "proxy_params", "uwsgi_params", "scgi_params":
            if (Path("/etc/nginx") / name).exists():
                shutil.copy(Path("/etc/nginx") / name, home / name)
    if row["beside"]:
        shutil.copytree(source.parent, home, dirs_exist_ok=True, copy_function=copy_writable)
    wrapper = WRAPPERS[kind]
    target = home / "nginx.conf" if wrapper is None else home / source.name
    if wrapper is not None and source.name == "nginx.conf":
        target = home / "fragment.conf"
    copy_writable(source, target)
    if wrapper is not None:
        (home / "nginx.conf").write_text(wrapper.format(file=f'"{target.name}"'))
    text = target.read_bytes()
    target.write_bytes(re.sub(rb"(?m)^(\s*)load_module\s[^;]*;", rb"\1", text))


def copy_writable(source, target, **_):
    shutil.copyfile(source, target)
    return target


def accept(version, kind):
    """Whether nginx accepts what was laid out, after everything it misses was made."""
    for _ in range(REPAIRS):
        accepted, words = nginx_test(version)
        if accepted or not repair(words, kind):
            break
    return accepted, words


def warnings(words):
    """The warnings, without their places, which move."""
    return {re.sub(r" in \S+:\d+$", "", text) for text in re.findall(r"\[warn\] (?:\d+#\d+: )?(.*)", words)}


class Fixes:
    """What the fixes of a run were."""
    applied = also_change = held_back = 0

    def count(self, notices):
        self.applied += len(re.findall(r"(?m)^fixed: ", notices))
        self.also_change += len(re.findall(r"(?m)^  this also changes: ", notices))
        self.held_back += len(re.findall(r"(?m)^  held back: ", notices))

    def __str__(self):
        return f"{self.applied} fixes, {self.also_change} times with something else that they name, {self.held_back} held back"


def fix(command, fixes):
    """Fixes what lies in the chroot, twice. (what it was, what it is, what went wrong)."""
    original = configuration()
    status, output = inside(*command)
    if status not in (0, 1):
        return original, original, f"proxylint ended with status {status}:\n{output[-2000:]}"
    fixes.count(output)
    fixed = configuration()
    inside(*command)
    if configuration() != fixed:
        return original, fixed, f"a second run changed it again:\n{rig.unified(fixed, configuration())}"
    return original, fixed, None


def check(row, version, target, fixes):
    """What happened to one configuration, as a key of OUTCOMES, and what the server said."""
    lay(row)
    accepted, before = accept(version, row["kind"])
    if not accepted:
        return ("needs a module" if "unknown directive" in before else "not accepted"), before
    stated = ["--nginx", target] if target else []
    original, fixed, wrong = fix([*PROXYLINT, *stated, "/etc/nginx/nginx.conf"], fixes)
    if wrong:
        return "BROKEN", wrong
    accepted, after = nginx_test(version)
    if not accepted:
        return "BROKEN", f"nginx {version} accepted it before and now says:\n{after}\n{rig.unified(original, fixed)}"
    if new := warnings(after) - warnings(before):
        return "BROKEN", f"nginx {version} warns where it did not: {new}\n{rig.unified(original, fixed)}"
    return ("fixed" if fixed != original else "left alone"), ""


PROXYLINT = ["/usr-proxylint", "check", "--select", "all", "--peak-concurrency", "200", "--fix", "--unsafe-fixes"]


def adapt(version):
    """What Caddy makes of the Caddyfile: None where it refuses it, and its words."""
    program = f"/servers/caddy-{version}/caddy"
    command = ["chroot", JAIL, program, "adapt", "--adapter", "caddyfile", "--config", "/etc/nginx/Caddyfile"]
    done = subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return json.loads(done.stdout) if done.returncode == 0 else None, done.stderr.decode("latin-1")


def without_pools(value):
    """Caddy's configuration without the pools of connections, which are what fixes are for."""
    if isinstance(value, list):
        return [without_pools(item) for item in value]
    if not isinstance(value, dict):
        return value
    rest = {key: without_pools(item) for key, item in value.items() if key != "keep_alive"}
    # A transport that says nothing else is the one that is there without it.
    return {key: item for key, item in rest.items() if not (key == "transport" and item == {"protocol": "http"})}


def check_caddy(row, version, target, fixes):
    """What happened to one Caddyfile."""
    lay(row)
    before, words = adapt(version)
    if before is None:
        return "not accepted", words
    stated = ["--caddy", target] if target else []
    original, fixed, wrong = fix([*PROXYLINT, *stated, "/etc/nginx/Caddyfile"], fixes)
    if wrong:
        return "BROKEN", wrong
    after, words = adapt(version)
    if after is None:
        return "BROKEN", f"Caddy {version} accepted it before and now says:\n{words}\n{rig.unified(original, fixed)}"
    if without_pools(after) != without_pools(before):
        return "BROKEN", f"more than pools differs for Caddy {version}:\n{rig.unified(original, fixed)}"
    return ("fixed" if fixed != original else "left alone"), ""


# What a run counts. `needs a module`: the server that accepted it elsewhere had modules of others built in.
OUTCOMES = ["needs a module", "not accepted", "left alone", "fixed", "BROKEN"]


def configuration():
    """The files of the configuration, without what the server logged."""
    return {name: text for name, text in rig.contents(JAIL / "etc").items() if not name.endswith(".log")}


def candidates(server):
    """The configurations of the corpus that a server may accept, then the cases, of which it refuses many."""
    kinds = WRAPPERS if server == "nginx" else ("main",)
    with open(CORPUS / "INDEX.tsv", encoding="utf-8") as index:
        for row in csv.DictReader(index, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["path"].startswith(f"{server}/") and row["kind"] in kinds:
                yield {**row, "server": server, "source": CORPUS / row["path"], "beside": True, "case": False}
    names = ["*.conf", "peer-*/nginx.conf"] if server == "nginx" else ["*.Caddyfile", "peer-*/Caddyfile"]
    for source in sorted(path for name in names for path in CASES.glob(name)):
        yield {"path": str(source.relative_to(CASES)), "kind": "main", "server": server, "source": source, "case": True,
               "beside": source.parent != CASES, "verdict_a": "ok", "verdict_b": "ok"}


def name_server():
    """Answers every name with 127.0.0.1, so that no host of a configuration is missing."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    asyncio.run_coroutine_threadsafe(Dns.listen(53), loop).result(10)


def main(options):
    name_server()
    with rig.scratch() as certificates:
        certificates = Path(certificates)
        rig.certificate(certificates)
        subprocess.run(["openssl", "dhparam", "-dsaparam", "-out", certificates / "dhparam.pem", "2048"],
                       check=True, capture_output=True)
        build_jail(certificates)
    broken = sum(run("nginx", check, *one, options) for one in RUNS if options.only in (None, "nginx"))
    broken += sum(run("caddy", check_caddy, *one, options) for one in CADDY_RUNS if options.only in (None, "caddy"))
    return 1 if broken else 0


def run(server, check_one, version, target, options):
    """All configurations of a server for one version and target; the number of things that are wrong."""
    verdicts = VERDICTS.get(version, ["verdict_a", "verdict_b"])
    rows = [row for row in candidates(server)
            if "ok" in (row[column] for column in verdicts) and (not options.paths or row["path"] in options.paths)]
    rows = rows[::options.every]
    counts, fixes, lost = Counter(), Fixes(), 0
    for row in rows:
        outcome, words = check_one(row, version, target, fixes)
        counts[outcome] += 1
        lost += outcome == "not accepted" and not row["case"]
        if outcome == "BROKEN" or options.verbose and outcome not in ("fixed", "left alone"):
            print(f"{outcome} {row['path']}: {words}")
    print(f"{server} {version}, fixed for {target or 'any version'}, {len(rows)} configurations: "
          + ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES) + f"; {fixes}", flush=True)
    if lost * MOST_LOST[server] > len(rows):
        print(f"WRONG: more than one in {MOST_LOST[server]} of the public ones is not accepted here; too little is shown")
        return counts["BROKEN"] + 1
    return counts["BROKEN"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th configuration")
    parser.add_argument("--verbose", action="store_true", help="say why a configuration is not accepted here")
    parser.add_argument("--only", choices=["nginx", "caddy"], help="only the configurations of one server")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="only these, as INDEX.tsv names them")
    options = parser.parse_args()
    if not CORPUS.exists():
        rig.unavailable(f"there is no corpus beside this project: {CORPUS}", rig.SKIPPED)
    rig.isolate()
    for version in VERDICTS:
        rig.server("nginx", version)
    for version, _ in CADDY_RUNS:
        rig.server("caddy", version)
    sys.exit(main(options))
