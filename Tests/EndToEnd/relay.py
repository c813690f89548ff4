"""For clients that know no proxy: a port from which connections go on to another one, after a CONNECT if one is to be asked for, and
as late, and no faster, as a long way has them."""

import contextlib
import queue
import socket
import sys
import threading
import time

BUFFER = 256 << 10
# pieces under way in one direction: a long way holds a lot
UNDER_WAY = 4096


def connect(target, authority):
    """A connection on which a tunnel to that authority is open, if there is one."""
    made = socket.create_connection(target, 10)
    made.settimeout(None)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if authority:
        made.sendall(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
        head = b""
        # byte for byte: what comes behind it is not for here
        while not head.endswith(b"\r\n\r\n"):
            byte = made.recv(1)
            if not byte:
                raise ConnectionError(f"CONNECT was not answered: {head!r}")
            head += byte
        if b" 200 " not in head.split(b"\r\n", 1)[0]:
            raise ConnectionError(f"CONNECT was refused: {head!r}")
    return made


def pieces(source, buffer):
    """What comes, the end and a broken connection as empty bytes."""
    with contextlib.suppress(OSError):
        while count := source.recv_into(buffer):
            yield buffer[:count]
    yield b""


def give(target, piece):
    """False where nothing more can be given."""
    with contextlib.suppress(OSError):
        if piece:
            target.sendall(piece)
            return True
        target.shutdown(socket.SHUT_WR)
    return False


def carry(source, target):
    for piece in pieces(source, memoryview(bytearray(BUFFER))):
        if not give(target, piece):
            with contextlib.suppress(OSError):
                source.shutdown(socket.SHUT_RD)
            return


def carry_late(source, target, delay, rate):
    under_way = queue.Queue(UNDER_WAY)

    def arrive():
        going = True
        while True:
            due, piece = under_way.get()
            # nothing is waited for here: to be late is what this is for
            time.sleep(max(0, due - time.monotonic()))
            going = going and give(target, piece)
            if not piece:
                return

    arrival = threading.Thread(target=arrive, daemon=True)
    arrival.start()
    free = 0
    for piece in pieces(source, memoryview(bytearray(BUFFER))):
        # a piece is on the line as long as its bytes take, behind the one before
        free = max(free, time.monotonic()) + len(piece) / rate
        under_way.put((free + delay, bytes(piece)))
    arrival.join()


class Relay:
    """`target` is (host, port); with `authority` a tunnel to it is asked for there. `delay` is each direction's, in seconds, and counts
    with a `rate`, of bytes a second."""

    def __init__(self, target, authority=None, delay=0.0, rate=float("inf")):
        self.target, self.authority, self.delay, self.rate = target, authority, delay, rate
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]

    def start(self):
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def serve(self):
        """Comes back when it was closed."""
        while True:
            try:
                accepted, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._run, args=(accepted,), daemon=True).start()

    def _run(self, here):
        here.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with here:
            try:
                there = connect(self.target, self.authority)
            except OSError as failure:
                print(f"relay: {failure}", file=sys.stderr, flush=True)
                return
            with there:
                carries = (carry_late, self.delay, self.rate) if self.delay else (carry,)
                back = threading.Thread(target=carries[0], args=(there, here, *carries[1:]), daemon=True)
                back.start()
                carries[0](here, there, *carries[1:])
                back.join()

    def close(self):
        # closing alone leaves the port open while the other thread waits in accept
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def main(target, authority="", milliseconds="0", megabits="inf"):
    """relay.py HOST:PORT [AUTHORITY [MILLISECONDS MEGABITS-A-SECOND]]: prints its port, and relays until it is ended."""
    host, _, port = target.rpartition(":")
    relay = Relay((host, int(port)), authority, float(milliseconds) / 1e3, float(megabits) * 1e6 / 8)
    print(relay.port, flush=True)
    relay.serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
