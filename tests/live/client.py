"""A plain HTTP/1.1 client that shows exactly what came back."""

import asyncio
from dataclasses import dataclass, field


@dataclass
class Response:
    status: int
    headers: list = field(default_factory=list)
    body: bytes = b""

    def header(self, name):
        """The value of a header, names compared without regard to case; None when it was not sent."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


class Client:
    """One client connection, opened when needed and again when the server closed it."""

    def __init__(self, port=8000, host="www.test"):
        self.port, self.host = port, host
        self._reader = self._writer = None

    async def request(self, method, target, headers=None, body=b""):
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port)
        lines = {"Host": self.host, **(headers or {})}
        if body:
            lines["Content-Length"] = str(len(body))
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._writer.write(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body)
        response = await asyncio.wait_for(self._read(method), 30)
        if response.status == 101:
            response.body = await self._ping()
        if response.status == 101 or (response.header("Connection") or "").lower() == "close":
            self.close()
        return response

    async def _read(self, method):
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:] if line]
        response = Response(int(lines[0].split()[1]), headers)
        if method == "HEAD" or response.status in (101, 204, 304):
            return response
        if (response.header("Transfer-Encoding") or "").lower() == "chunked":
            while size := int(await self._reader.readline(), 16):
                response.body += await self._reader.readexactly(size)
                await self._reader.readline()
            await self._reader.readline()
        elif response.header("Content-Length") is not None:
            response.body = await self._reader.readexactly(int(response.header("Content-Length")))
        else:
            response.body = await self._reader.read()
        return response

    async def _ping(self):
        """What the other side of an upgraded connection says to `ping`."""
        self._writer.write(b"ping")
        return await asyncio.wait_for(self._reader.readexactly(4), 10)

    def close(self):
        if self._writer is not None:
            self._writer.close()
            self._reader = self._writer = None


async def sequential(count, method, target, headers=None, body=b"", port=8000):
    """Sends the same request `count` times, one after another, over one client connection."""
    client = Client(port)
    try:
        return [await client.request(method, target, headers, body) for _ in range(count)]
    finally:
        client.close()


async def concurrent(clients, each, method, target, headers=None, body=b"", port=8000):
    """Sends the same request from many client connections at once, in `each` rounds: a round begins when the one
    before is over, so that in each of them all requests are open together."""
    everybody = [Client(port) for _ in range(clients)]
    answers = []
    try:
        for _ in range(each):
            answers += await asyncio.gather(*(client.request(method, target, headers, body) for client in everybody))
    finally:
        for client in everybody:
            client.close()
    return answers
