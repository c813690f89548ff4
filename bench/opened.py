"""A client of proxies that open TLS: greets one host after the other, and looks at how long that takes."""

import os
import socket
import ssl
import statistics
import time

# a proxy that makes only so many certificates a second turns away who asks for more
PATIENCE = 30


def context():
    """Believes everybody, and resumes nothing."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    return made


def connect(port, host, client_side):
    """Seconds from the CONNECT until the handshake is done.

    OSError where the proxy would not; RuntimeError where the certificate is not of that host."""
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        begun = time.perf_counter()
        client.sendall(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            more = client.recv(4096)
            if not more:
                raise ConnectionError(f"CONNECT {host} was not answered")
            head += more
        if b" 200" not in head.split(b"\r\n", 1)[0]:
            raise RuntimeError(f"CONNECT {host} was refused: {head[:100]}")
        with client_side.wrap_socket(client, server_hostname=host) as secure:
            seconds = time.perf_counter() - begun
            if host.encode() not in secure.getpeercert(binary_form=True):
                raise RuntimeError(f"the certificate is not of {host}")
            # what was sent unasked, such as tickets, is read: a reset is not what clients end with
            secure.shutdown(socket.SHUT_WR)
            while secure.recv(4096):
                pass
            return seconds


def greet(port, hosts):
    """One connection to each, as fast as the proxy goes along."""
    client_side = context()
    for host in hosts:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                connect(port, host, client_side)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)


def measure_mint(port, hosts):
    """Median of the milliseconds that the first connection to a host takes longer than the second."""
    client_side = context()
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {1})
    try:
        return 1e3 * statistics.median(
            connect(port, host, client_side) - connect(port, host, client_side) for host in hosts)
    finally:
        os.sched_setaffinity(0, everywhere)
