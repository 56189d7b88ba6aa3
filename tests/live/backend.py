"""Backends that count: one accepts connections on a port and remembers every connection and every request."""

import asyncio
import ssl
import struct
from dataclasses import dataclass, field


@dataclass
class Seen:
    """One request as it reached a backend."""
    method: str = ""
    target: str = ""
    version: str = ""
    headers: list = field(default_factory=list)  # (name, value) as sent, in order
    body: bytes = b""
    server_name: str | None = None  # the name in the TLS handshake

    def header(self, name):
        """The value of a header, names compared without regard to case; None when it was not sent."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


class Backend:
    """Counts the connections and keeps the requests of one listening address; subclasses speak a protocol."""

    def __init__(self):
        self.connections = 0
        self.requests = []
        self.delay = 0.0  # seconds from a request to its answer
        self._server = None
        self._open = set()

    async def listen(self, port=None, path=None, tls=None):
        """Listens on 127.0.0.1:`port` or on the socket file `path`."""
        if path:
            self._server = await asyncio.start_unix_server(self._serve, path, backlog=512)
        else:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, ssl=tls, backlog=512)
        return self

    async def close(self):
        self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader, writer):
        self.connections += 1
        self._open.add(asyncio.current_task())
        try:
            await self.converse(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(asyncio.current_task())
            writer.close()

    async def converse(self, reader, writer):
        """Answers the requests of one connection until it ends."""
        raise NotImplementedError

    async def pause(self):
        if self.delay:
            await asyncio.sleep(self.delay)


class Http(Backend):
    """HTTP/1.x, kept open as the protocol says: 1.1 without `close`, 1.0 with `keep-alive`.

    What it answers depends on the end of the path: `/redirect` a Location at the Host it was asked for,
    `/redirect-own` a Location at its own address, `/login` 204 with the cookie `ok=1` and 401 without, `/chunked`
    a body in chunks, `/missing` a 404, everything else 200 with the request's target as body. A request with an
    `Upgrade` header and `Connection: upgrade` gets a 101 and then its own bytes back.
    """

    def __init__(self, own="http://127.0.0.1:9001", scheme="http"):
        super().__init__()
        self.own, self.scheme = own, scheme
        self.waits_for_close = 0.0  # seconds it leaves the other side to close first after an answer with `close`
        self.keeps_http_1_0 = True  # whether `Connection: keep-alive` is honoured under HTTP/1.0; gunicorn does not

    async def converse(self, reader, writer):
        while True:
            seen = await self.read(reader, writer)
            self.requests.append(seen)
            await self.pause()
            connection = (seen.header("Connection") or "").lower()
            if seen.header("Upgrade") and "upgrade" in connection:
                return await self.echo(reader, writer)
            keep = "close" not in connection and (
                seen.version == "HTTP/1.1" or self.keeps_http_1_0 and "keep-alive" in connection)
            writer.write(self.answer(seen, keep))
            await writer.drain()
            if not keep:
                return await self.let_close(reader)

    async def let_close(self, reader):
        if self.waits_for_close:
            try:
                await asyncio.wait_for(reader.read(1), self.waits_for_close)
            except asyncio.TimeoutError:
                pass

    async def read(self, reader, writer):
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, version = lines[0].split(" ", 2)
        headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:] if line]
        seen = Seen(method, target, version, headers)
        handshake = writer.get_extra_info("ssl_object")
        seen.server_name = getattr(handshake, "server_name_sent", None)
        if (seen.header("Transfer-Encoding") or "").lower() == "chunked":
            while size := int(await reader.readline(), 16):
                seen.body += await reader.readexactly(size)
                await reader.readline()
            await reader.readline()
        else:
            seen.body = await reader.readexactly(int(seen.header("Content-Length") or 0))
        return seen

    async def echo(self, reader, writer):
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n")
        while chunk := await reader.read(1024):
            writer.write(chunk)
            await writer.drain()

    def answer(self, seen, keep):
        path = seen.target.split("?")[0]
        status, headers, body = "200 OK", ["Content-Type: text/plain"], f"{seen.target}\n".encode()
        if path.endswith("/redirect"):
            status = "302 Found"
            headers.append(f"Location: {self.scheme}://{seen.header('Host')}/elsewhere")
        elif path.endswith("/redirect-own"):
            status = "302 Found"
            headers.append(f"Location: {self.own}/elsewhere")
        elif path.endswith("/login"):
            status, body = ("204 No Content" if "ok=1" in (seen.header("Cookie") or "") else "401 Unauthorized"), b""
        elif path.endswith("/missing"):
            status = "404 Not Found"
        elif path.endswith("/cached"):
            headers.append("Cache-Control: max-age=60")
        if path.endswith("/chunked") and seen.version == "HTTP/1.1":
            headers.append("Transfer-Encoding: chunked")
            framed = f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
        else:
            framed = body
            if not status.startswith("204"):
                headers.append(f"Content-Length: {len(body)}")
        if not keep:
            headers.append("Connection: close")
        elif seen.version == "HTTP/1.0":
            headers.append("Connection: keep-alive")
        head = "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode("latin-1")
        return head + (b"" if seen.method == "HEAD" else framed)


def tls_context(folder):
    """A server's TLS context with the certificate of `rig.certificate`, which remembers the name each client sent."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "backend.pem", folder / "backend.key")

    def remember(handshake, name, _context):
        handshake.server_name_sent = name
    context.sni_callback = remember
    return context


class FastCgi(Backend):
    """A FastCGI responder that closes after each request unless FCGI_KEEP_CONN is set, as the protocol says."""

    BEGIN, END, PARAMS, STDIN, STDOUT = 1, 3, 4, 5, 6

    async def converse(self, reader, writer):
        keep = True
        while keep:
            seen, keep, number = await self.read(reader)
            self.requests.append(seen)
            await self.pause()
            body = f"Content-Type: text/plain\r\n\r\n{seen.target}\n".encode()
            writer.write(self.record(self.STDOUT, number, body) + self.record(self.STDOUT, number, b"")
                         + self.record(self.END, number, bytes(8)))
            await writer.drain()

    async def read(self, reader):
        keep, params, body = False, b"", b""
        while True:
            _, kind, number, length, padding, _ = struct.unpack("!BBHHBB", await reader.readexactly(8))
            content = (await reader.readexactly(length + padding))[:length]
            if kind == self.BEGIN:
                keep = bool(content[2] & 1)
            elif kind == self.PARAMS:
                params += content
            elif kind == self.STDIN and content:
                body += content
            elif kind == self.STDIN:
                pairs = list(self.pairs(params))
                known = dict(pairs)
                seen = Seen(known.get("REQUEST_METHOD", ""), known.get("REQUEST_URI", ""), "FastCGI", pairs, body)
                return seen, keep, number

    @staticmethod
    def pairs(data):
        """The name-value pairs of a FCGI_PARAMS stream."""
        at = 0

        def length():
            nonlocal at
            size, width = (data[at], 1) if data[at] < 128 else (struct.unpack_from("!I", data, at)[0] & 0x7FFFFFFF, 4)
            at += width
            return size
        while at < len(data):
            name, value = length(), length()
            yield data[at:at + name].decode("latin-1"), data[at + name:at + name + value].decode("latin-1")
            at += name + value

    @staticmethod
    def record(kind, number, content):
        return struct.pack("!BBHHBB", 1, kind, number, len(content), 0, 0) + content


class Memcached(Backend):
    """Answers every `get` with a value."""

    async def converse(self, reader, writer):
        while line := await reader.readline():
            key = line.split()[1].decode("latin-1")
            self.requests.append(Seen("get", key, "memcached"))
            await self.pause()
            writer.write(f"VALUE {key} 0 6\r\nvalue\n\r\nEND\r\n".encode())
            await writer.drain()


class OpenHanded(Backend):
    """uwsgi and SCGI: answers whatever packet comes and leaves the connection open for another."""

    async def converse(self, reader, writer):
        while packet := await reader.read(65536):
            self.requests.append(Seen(body=packet))
            await self.pause()
            writer.write(b"Status: 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n")
            await writer.drain()


class Dns(asyncio.DatagramProtocol):
    """A name server that knows every name and sends everybody to 127.0.0.1."""

    @classmethod
    async def listen(cls, port):
        return await asyncio.get_running_loop().create_datagram_endpoint(cls, local_addr=("127.0.0.1", port))

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, query, address):
        name_end = query.index(0, 12) + 1
        question, kind = query[12:name_end + 4], query[name_end:name_end + 2]
        is_a = kind == b"\0\1"
        record = b"\xc0\x0c\0\1\0\1" + struct.pack("!IH", 60, 4) + bytes([127, 0, 0, 1]) if is_a else b""
        head = query[:2] + struct.pack("!HHHHH", 0x8180, 1, int(is_a), 0, 0)
        self.transport.sendto(head + question + record, address)
