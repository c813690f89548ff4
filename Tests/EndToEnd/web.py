"""An origin that a real client can browse: pages, echoes, chunks, an event stream, a WebSocket. Standard library alone."""

import base64
import hashlib
import queue
import struct

import wire

PAGE = b"""<!doctype html><meta charset="utf-8"><title>begun</title><script>
const said = [];
function tell(text) {
  said.push(text);
  if (said.length === 3) fetch('/told', {method: 'POST', body: said.sort().join(' ')}).then(() => document.title = 'done');
}
fetch('/chunked').then(a => a.text()).then(text => tell('chunked:' + text.length));
const events = new EventSource('/events');
let count = 0;
events.onmessage = (event) => fetch('/seen', {method: 'POST', body: event.data}).then(() => {
  count += 1;
  if (count === 3) { events.close(); tell('events:' + count); }
});
const socket = new WebSocket(location.origin.replace('http', 'ws') + '/socket');
socket.onopen = () => socket.send('hello');
socket.onmessage = (message) => { tell('socket:' + message.data); socket.close(); };
</script>"""


class Web(wire.Origin):
    """Keeps every request. `told` is a queue of what the page says about itself when all of it has worked."""

    def __init__(self):
        self.requests = []
        self.told = queue.Queue()
        self.seen = queue.Queue()
        super().__init__(self._serve)

    def _serve(self, connection):
        while True:
            request = connection.read_request()
            self.requests.append(request)
            path = request.target
            if path == "/socket":
                return self._socket(connection, request)
            if path == "/events":
                return self._events(connection)
            if path == "/chunked":
                connection.send(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + wire.chunked(b"x" * 200_000, 7_777))
            elif path == "/echo":
                connection.send(wire.response(body=request.body))
            elif path == "/get":
                connection.send(wire.response(body=b"hello"))
            elif path in ("/seen", "/told"):
                (self.seen if path == "/seen" else self.told).put(request.body.decode())
                connection.send(wire.response(body=b""))
            elif path == "/":
                connection.send(wire.response(fields=[("Content-Type", "text/html")], body=PAGE))
            else:
                connection.send(wire.response(404))

    def _events(self, connection):
        """Each event but the first waits until the client has told that it saw the one before: nothing may hold it up."""
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\r\n")
        for number in range(3):
            connection.send(f"data: {number}\n\n")
            assert self.seen.get(timeout=wire.TIMEOUT) == str(number)

    @staticmethod
    def _socket(connection, request):
        """RFC 6455: the handshake, then every message comes back until the client closes."""
        key = (request.get("sec-websocket-key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()
        accept = base64.b64encode(hashlib.sha1(key).digest()).decode()
        connection.send(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\n\r\n")
        while True:
            first, second = connection.read(2)
            length = second & 0x7F
            if length == 126:
                length, = struct.unpack("!H", connection.read(2))
            mask = connection.read(4)
            data = bytes(byte ^ mask[index % 4] for index, byte in enumerate(connection.read(length)))
            size = bytes([length]) if length < 126 else b"\x7e" + struct.pack("!H", length)
            connection.send(bytes([first]) + size + data)
            if first & 0x0F == 8:
                return
