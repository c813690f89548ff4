"""HTTP by hand, where every byte matters: raw connections, and origins that answer what a test tells them."""

import contextlib
import collections
import re
import socket
import threading

TIMEOUT = 10.0


class Message(collections.namedtuple("Message", "line fields body head")):
    """One request or response: its first line, its fields as (name, value) in order, its body, and the raw head."""

    @property
    def status(self):
        return int(self.line.split(" ", 2)[1])

    @property
    def target(self):
        return self.line.split(" ")[1]

    def all(self, name):
        return [value for field, value in self.fields if field.lower() == name.lower()]

    def get(self, name):
        values = self.all(name)
        return values[0] if values else None


class Connection:
    """Either end of a TCP connection, reading HTTP messages byte by byte exactly."""

    def __init__(self, target):
        """A connected socket, or (host, port) to connect to."""
        self.socket = target if isinstance(target, socket.socket) else socket.create_connection(target, TIMEOUT)
        self.socket.settimeout(TIMEOUT)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        """Closes with RST, as a crashed client does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data.encode("latin-1") if isinstance(data, str) else data)

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)

    def _more(self):
        """Raises ConnectionResetError for a reset: it is the end of nothing that may pass for whole."""
        piece = self.socket.recv(65536)
        self.buffer += piece
        return bool(piece)

    def read_until(self, mark):
        while mark not in self.buffer:
            if not self._more():
                raise EOFError(f"closed before {mark!r}; read {self.buffer[:200]!r}")
        end = self.buffer.index(mark) + len(mark)
        taken, self.buffer = self.buffer[:end], self.buffer[end:]
        return taken

    def read(self, count):
        while len(self.buffer) < count:
            if not self._more():
                raise EOFError(f"closed after {len(self.buffer)} of {count} bytes")
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def read_rest(self):
        while self._more():
            pass
        taken, self.buffer = self.buffer, b""
        return taken

    def is_at_end(self):
        """True once the peer has closed and everything is read; waits for it."""
        return not self.buffer and not self._more()

    def end(self):
        """How the peer ends the connection, "closed" or "reset", where a test expects a reset; waits for it. What came before
        is left in `buffer`."""
        try:
            while self._more():
                pass
        except ConnectionResetError:
            return "reset"
        return "closed"

    def read_head(self):
        head = self.read_until(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")[:-2]
        fields = [tuple(part.strip(" \t") for part in line.split(":", 1)) for line in lines[1:]]
        return Message(lines[0], fields, b"", head)

    def read_chunked(self):
        body = b""
        while True:
            size = int(self.read_until(b"\r\n").split(b";")[0], 16)
            if size == 0:
                while self.read_until(b"\r\n") != b"\r\n":
                    pass
                return body
            body += self.read(size)
            assert self.read(2) == b"\r\n"

    def read_body(self, head, until_close=False):
        if (head.get("transfer-encoding") or "").lower() == "chunked":
            return self.read_chunked()
        if head.get("content-length") is not None:
            return self.read(int(head.get("content-length")))
        return self.read_rest() if until_close else b""

    def read_request(self):
        head = self.read_head()
        return head._replace(body=self.read_body(head))

    def read_response(self, method="GET"):
        """The next final response; interim ones are skipped."""
        while True:
            head = self.read_head()
            if head.status >= 200 or head.status == 101:
                break
        if method == "HEAD" or head.status in (101, 204, 304):
            return head
        return head._replace(body=self.read_body(head, until_close=True))

    def exchange(self, data, method="GET"):
        self.send(data)
        return self.read_response(method)


def request(method, url, fields=(), body=b"", version="1.1"):
    """An absolute-form request as bytes; Host is added unless given, Content-Length where there is a body."""
    fields = list(fields)
    names = [name.lower() for name, _ in fields]
    if "host" not in names:
        fields.insert(0, ("Host", re.sub(r"^\w+://([^/?]*).*", r"\1", url)))
    if body and "transfer-encoding" not in names and "content-length" not in names:
        fields.append(("Content-Length", str(len(body))))
    head = f"{method} {url} HTTP/{version}\r\n" + "".join(f"{n}: {v}\r\n" for n, v in fields) + "\r\n"
    return head.encode("latin-1") + body


def response(status=200, fields=(), body=b"", reason="Answer"):
    fields = list(fields) + [("Content-Length", str(len(body)))]
    head = f"HTTP/1.1 {status} {reason}\r\n" + "".join(f"{n}: {v}\r\n" for n, v in fields) + "\r\n"
    return head.encode("latin-1") + body


def chunked(body, size):
    pieces = [body[start:start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


class Origin:
    """A server whose every connection is served by `serve(connection)` in a thread of its own."""

    scheme = "http"

    def __init__(self, serve, host="127.0.0.1"):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.create_server((host, 0), family=family)
        self.port = self.listener.getsockname()[1]
        self.authority = f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"
        self.url = f"{self.scheme}://{self.authority}"
        self.serve = serve
        self.accepted = []
        self.failures = []
        self.broken = []
        self.acceptor = threading.Thread(target=self._accept, daemon=True)
        self.acceptor.start()

    def _accept(self):
        while True:
            try:
                accepted, _ = self.listener.accept()
            except OSError:
                return
            connection = Connection(accepted)
            self.accepted.append(connection)
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def begin(self, connection):
        """What comes before the first message."""

    def left(self, connection):
        """What is said to a client that has ended the connection in order."""

    def _run(self, connection):
        try:
            self.begin(connection)
            self.serve(connection)
        except (EOFError, OSError) as failure:
            self.failures.append(failure)
            if isinstance(failure, EOFError):
                self.left(connection)
        except Exception as failure:
            # a thread's assertion fails nobody by itself
            self.broken.append(failure)
        finally:
            connection.close()

    def close(self):
        # closing alone leaves the port open while the other thread waits in accept
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        # nor may it go on with the next listener that gets this number
        self.acceptor.join(TIMEOUT)
        self.listener.close()
        # closing is for the thread that serves it: where it waits within TLS it would go on with whatever gets that number
        for connection in self.accepted:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(connection.socket, socket.SHUT_RDWR)
        if self.broken:
            raise self.broken[0]


class Answering(Origin):
    """An origin that keeps every request and answers what `answer(request)` returns; connections stay open."""

    def __init__(self, answer=lambda request: response(body=b"ok"), host="127.0.0.1"):
        self.requests = []
        self.answer = answer
        super().__init__(self._answer, host)

    def _answer(self, connection):
        while True:
            message = connection.read_request()
            self.requests.append(message)
            answer = self.answer(message)
            if answer is None:
                return
            connection.send(answer)
