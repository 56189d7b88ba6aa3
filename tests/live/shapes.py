#!/usr/bin/env python3
"""shapes.py SHAPE [--version V] [--patched DIR]: one shape of configuration before and after proxylint patched it.

A shape is a folder of `shapes/`: a configuration and a `shape.toml`. On every version of its server the original and
the patched configuration get the same requests. What the client got back and what the backends saw may then differ only
in what the shape declares, and the connections to the backends must be those that it expects. Each version is tried
with the patch for exactly that version and with the patch for an unstated version. shapes/README.md lists the keys.
"""

import argparse
import asyncio
import shutil
import sys
import tomllib
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import rig
from backend import FastCgi, Http, Memcached, tls_context
from client import concurrent, sequential

SHAPES = Path(__file__).resolve().parent / "shapes"
REQUESTS = 12

# What may always differ: these are what connection reuse is made of.
ALWAYS = ["version", "header connection"]
# Headers that say something about the moment, not about the configuration.
MOMENTARY = ["date", "x-seen-connection"]

SERVERS = {
    "nginx": ("nginx.conf", rig.NGINX_VERSIONS, rig.nginx),
    "caddy": ("Caddyfile", rig.CADDY_VERSIONS, rig.caddy),
}


@dataclass
class Request:
    """One `[[request]]` of a shape.toml."""
    path: str
    method: str = "GET"
    headers: dict = field(default_factory=dict)
    body: str = ""
    before: str | dict = "each"
    after: str | dict = "one"
    differs: list = field(default_factory=list)
    clients: int = 8
    each: int = 5

    def words(self):
        return self.method, self.path, self.headers, self.body.encode()


@dataclass
class Shape:
    """One shape.toml with its folder."""
    about: str
    request: list
    server: str = "nginx"
    arguments: list = field(default_factory=list)
    versions: list | None = None
    patched: bool | dict = True
    warm: bool = False
    folder: Path | None = None

    @classmethod
    def read(cls, name):
        folder = SHAPES / name
        text = tomllib.loads((folder / "shape.toml").read_text())
        requests = [Request(**request) for request in text.pop("request")]
        return cls(request=requests, folder=folder, **text)


@dataclass
class Observation:
    """What happened when a request was sent several times in a row, and then by several clients at once."""
    facts: dict  # what was seen -> the different values it had
    asked: int  # requests that reached a backend
    backends: int  # backends that got one
    opened: int  # connections opened to them
    crowd: int  # connections opened to them under concurrency


class Backends:
    """All backends, at fixed addresses; they live as long as one run of one server."""

    async def start(self, stack, folder):
        self.all = {
            "80": await Http("http://backend.test").listen(80),
            "9001": await Http("http://backend.test:9001").listen(9001),
            "9002": await Http("http://backend.test:9002").listen(9002),
            "9443": await Http("https://backend.test:9443", "https").listen(9443, tls=tls_context(folder)),
            "9100": await FastCgi().listen(9100),
            "9101": await Memcached().listen(9101),
            "socket": await Http().listen(path="/run/backend.sock"),
        }
        for backend in self.all.values():
            stack.push_async_callback(backend.close)
        await stack.enter_async_context(rig.http2_backend())
        return self

    def reset(self, delay=0.0):
        for backend in self.all.values():
            backend.connections, backend.requests, backend.delay = 0, [], delay

    def opened(self, answers):
        """Connections since the reset; those of the HTTP/2 backend are told by its answers."""
        http2 = {answer.header("X-Seen-Connection") for answer in answers} - {None}
        return sum(backend.connections for backend in self.all.values()) + len(http2)

    async def observe(self, request):
        self.reset()
        answers = await sequential(REQUESTS, *request.words())
        seen = [(name, one) for name, backend in self.all.items() for one in backend.requests]
        http2 = [answer for answer in answers if answer.header("X-Seen-Connection")]
        facts = gather(answers, seen)
        counts = len(seen) + len(http2), len({name for name, _ in seen}) + bool(http2)
        opened = self.opened(answers)
        self.reset(delay=0.001 * request.clients)  # long enough that all of a round are open at once
        answers = await concurrent(request.clients, request.each, *request.words())
        return Observation(facts, *counts, opened, self.opened(answers))


def gather(answers, seen):
    """Everything comparable: the name of a fact and its different values, in order."""
    facts = {}

    def note(name, value):
        facts.setdefault(name, set()).add(value)

    for answer in answers:
        note("answer status", str(answer.status))
        note("answer body", repr(answer.body))
        for name, value in answer.headers:
            if name.lower() not in MOMENTARY:
                note(f"answer header {name.lower()}", value)
    for backend, one in seen:
        note(f"{backend} method", one.method)
        note(f"{backend} target", one.target)
        note(f"{backend} version", one.version)
        note(f"{backend} body", repr(one.body))
        note(f"{backend} server name", str(one.server_name))
        for name, value in one.headers:
            note(f"{backend} header {name.lower()}", value)
    return {name: sorted(values) for name, values in facts.items()}


async def observe(shape, version, folder, rounds=1):
    """Runs one configuration and sends it the shape's requests; of several rounds the last counts."""
    start = SERVERS[shape.server][2]
    async with AsyncExitStack() as stack:
        backends = await Backends().start(stack, folder)
        async with start(version, folder):
            for _ in range(rounds):
                observations = [await backends.observe(request) for request in shape.request]
        return observations


def for_version(expected, version):
    """A value of shape.toml, which may differ before and from nginx 1.29.7. No version means any of them."""
    if not isinstance(expected, dict):
        return expected
    new = version and [int(part) for part in version.split(".")] >= [1, 29, 7]
    return expected["new" if new else "old"]


def connections_wrong(expected, observation, request):
    """Why the number of connections is not the expected one, or None."""
    asked, backends, opened, crowd = (
        observation.asked, observation.backends, observation.opened, observation.crowd)
    limit = request.clients * max(backends, 1)
    if not asked and expected != "any":
        return "no request reached a backend"
    verdict = {
        "each": opened >= asked - backends,  # one may be left in a pool by an earlier request
        "one": opened <= backends and crowd <= limit,
        "churn": crowd >= limit * 1.5,
        # Go dials ahead while a connection is just coming back, so a few more than clients may be open for a moment.
        "pool": crowd <= limit * 1.2,
        "any": True,
    }[expected]
    if not verdict:
        return (f"expected `{expected}`, but {asked} requests to {backends} backends opened {opened} connections, "
                f"and {request.clients * request.each} from {request.clients} clients at once {crowd}")


def differences(before, after, allowed):
    """What the two observations differ in beyond what is allowed, one line each."""
    allowed = ALWAYS + allowed
    for name in sorted(before.facts.keys() | after.facts.keys()):
        old, new = before.facts.get(name), after.facts.get(name)
        if old != new and not any(f" {words} " in f" {name} " for words in allowed):
            yield f"{name}: {', '.join(old or ['(none)'])} -> {', '.join(new or ['(none)'])}"


def lay(shape, into, certificates):
    """Lays out the configuration of a shape as a server would have it."""
    shutil.copytree(shape.folder, into, dirs_exist_ok=True)
    shutil.copytree(certificates, into, dirs_exist_ok=True)
    Path(into, "shape.toml").unlink()


async def check_version(shape, version, patched, certificates):
    """Compares the original with each patch on one version; prints the counts and returns the number of faults."""
    faults = 0
    with rig.scratch() as original:
        lay(shape, original, certificates)
        shutil.rmtree("/run/cache", ignore_errors=True)
        before = await observe(shape, version, Path(original), rounds=2 if shape.warm else 1)
        for target in version, None:
            print(f"{shape.folder.name} on {shape.server} {version}, patched for {target or 'any version'}")
            try:
                wrong = [line async for line in check_patch(shape, version, target, Path(original), before, patched)]
            except rig.Broken as broken:
                wrong = [str(broken)]
            for line in wrong:
                print(f"  WRONG {line}")
            faults += len(wrong)
    return faults


async def check_patch(shape, version, target, original, before, patched):
    """Yields what is wrong with the patch for one target, run by one version."""
    with rig.scratch() as fixed:
        shutil.copytree(original, fixed, dirs_exist_ok=True)
        if patched:
            shutil.copytree(patched, fixed, dirs_exist_ok=True)
        else:
            stated = [f"--{shape.server}", target] if target else []
            rig.fix(fixed, SERVERS[shape.server][0], *shape.arguments, *stated)
        diff = rig.unified(rig.contents(original), rig.contents(fixed))
        if bool(diff) != for_version(shape.patched, target):
            yield f"the configuration should be left alone, but was patched:\n{diff}" if diff else \
                "the configuration should be patched, but was left alone"
        after = await observe(shape, version, Path(fixed))
        wrong = [line for pair in zip(shape.request, before, after) for line in compare(version, *pair)]
        for line in wrong:
            yield line
        if wrong:
            yield f"the patch was:\n{diff}"


def compare(version, request, old, new):
    """What is wrong with one request after the patch."""
    title = f"{request.method} {request.path}"
    print(f"  {title}: {old.asked} requests over {old.opened} connections before, {new.opened} after; "
          f"{request.clients} clients at once: {old.crowd} and {new.crowd}")
    for when, expected, one in ("before", request.before, old), ("after", request.after, new):
        if why := connections_wrong(for_version(expected, version), one, request):
            yield f"{title}: connections {when}: {why}"
    for difference in differences(old, new, request.differs):
        yield f"{title}: {difference}"


async def main(options):
    shape = Shape.read(options.shape)
    versions = [options.version] if options.version else shape.versions or SERVERS[shape.server][1]
    certificates = Path(options.scratch)
    rig.certificate(certificates)
    faults = [await check_version(shape, version, options.patched, certificates) for version in versions]
    return 1 if any(faults) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=sorted(path.parent.name for path in SHAPES.glob("*/shape.toml")))
    parser.add_argument("--version", help="only this version of the server")
    parser.add_argument("--patched", metavar="DIR", help="compare with this folder in place of what proxylint writes")
    options = parser.parse_args()
    rig.isolate()
    with rig.scratch() as options.scratch:
        sys.exit(asyncio.run(main(options)))
