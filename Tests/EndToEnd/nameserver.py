"""A DNS server of a test's own, and a proxy that asks it: the proxy sees another /etc/resolv.conf than everyone else."""

import shutil
import socket
import struct
import subprocess
import threading

A, AAAA = 1, 28
TYPES = {4: A, 16: AAAA}


class NameServer:
    """Answers from `records`: name → (seconds to live, addresses as text). A name of `mute` gets no answer for IPv6."""

    def __init__(self):
        self.records = {}
        self.mute = set()
        self.questions = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for last in range(53, 250):
            self.address = f"127.0.53.{last}"
            try:
                # resolv.conf knows no other port
                self.socket.bind((self.address, 53))
                break
            except OSError:
                continue
        threading.Thread(target=self._serve, daemon=True).start()

    def asked(self, name, kind=A):
        return self.questions.count((name, kind))

    def _serve(self):
        while True:
            try:
                message, peer = self.socket.recvfrom(4096)
            except OSError:
                return
            labels, place = [], 12
            while message[place]:
                labels.append(message[place + 1:place + 1 + message[place]].decode().lower())
                place += 1 + message[place]
            kind = struct.unpack("!H", message[place + 1:place + 3])[0]
            name = ".".join(labels)
            self.questions.append((name, kind))
            if kind == AAAA and name in self.mute:
                continue
            life, texts = self.records.get(name, (0, None))
            packed = [socket.inet_pton(socket.AF_INET6 if ":" in t else socket.AF_INET, t) for t in texts or []]
            found = [p for p in packed if TYPES[len(p)] == kind]
            head = message[:2] + struct.pack("!HHHHH", 0x8180 if texts is not None else 0x8183, 1, len(found), 0, 0)
            answers = b"".join(struct.pack("!HHHIH", 0xC00C, kind, 1, life, len(p)) + p for p in found)
            self.socket.sendto(head + message[12:place + 5] + answers, peer)

    def close(self):
        self.socket.close()


def wrapped(binary, server, folder):
    """A program that runs `binary` with that server alone; None where this system does not let us."""
    settings = folder / "resolv.conf"
    settings.write_text(f"nameserver {server.address}\noptions timeout:2 attempts:1\n")
    program = folder / "usher"
    program.write_text(
        "#!/bin/sh\n"
        f"""exec unshare -m sh -c 'mount --bind {settings} /etc/resolv.conf && exec {binary} "$@"' usher "$@"\n""")
    program.chmod(0o755)
    if shutil.which("unshare") is None:
        return None
    tried = subprocess.run([program, "version"], capture_output=True, check=False)
    return program if tried.returncode == 0 else None
