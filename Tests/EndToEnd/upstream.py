"""A forward proxy to send requests on to: it keeps what it was asked and can be told to refuse."""

import base64
import socket
import threading
import urllib.parse

import wire


class Proxy(wire.Origin):
    """Answers absolute-form requests itself, as a proxy would with an origin's answer, and makes tunnels."""

    def __init__(self, answer=lambda request: wire.response(body=b"by proxy"), credentials=None, tunnel=None):
        """`tunnel(request)` gives the raw answer to a CONNECT where no tunnel is to be made, or None."""
        self.requests = []
        self.answer = answer
        self.expected = credentials and "Basic " + base64.b64encode(credentials.encode()).decode()
        self.tunnel = tunnel or (lambda request: None)
        super().__init__(self._serve)

    def _serve(self, connection):
        while True:
            message = connection.read_request()
            self.requests.append(message)
            if self.expected and message.get("proxy-authorization") != self.expected:
                connection.send(wire.response(407, [("Proxy-Authenticate", "Basic realm=up")], b"who are you"))
            elif message.line.startswith("CONNECT "):
                refusal = self.tunnel(message)
                if refusal is not None:
                    connection.send(refusal)
                    return
                return self._relay(connection, message.target)
            else:
                assert message.target.startswith("http://"), message.line
                answer = self.answer(message)
                if answer is None:
                    return
                connection.send(answer)

    def _relay(self, connection, authority):
        parts = urllib.parse.urlsplit("//" + authority)
        far = socket.create_connection(("127.0.0.1", parts.port), wire.TIMEOUT)
        connection.send("HTTP/1.1 200 Connection established\r\nVia: 1.1 up\r\n\r\n")
        back = threading.Thread(target=pump, args=(far, connection.socket), daemon=True)
        back.start()
        pump(connection.socket, far, connection.buffer)
        back.join(wire.TIMEOUT)
        far.close()


def pump(source, target, first=b""):
    try:
        if first:
            target.sendall(first)
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
