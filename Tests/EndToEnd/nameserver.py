"""DNS servers of a test's own, and a proxy that sees other files than everyone else."""

import shutil
import socket
import struct
import subprocess
import threading

A, AAAA = 1, 28
TYPES = {4: A, 16: AAAA}
NXDOMAIN = 3


class NameServer:
    """Answers from `records`: name → (seconds to live, addresses as text). A name of `mute` gets no answer for IPv6, one
    that ends as `dead` says none at all, one of `codes` that response code alone."""

    def __init__(self, port=0):
        self.records = {}
        self.mute = set()
        self.dead = ".dead.test"
        self.codes = {}
        self.questions = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for last in range(53, 250):
            self.address = f"127.0.53.{last}"
            try:
                self.socket.bind((self.address, port))
                break
            except OSError:
                continue
        self.authority = f"{self.address}:{self.socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def asked(self, name, kind=A):
        """How often it was asked. What is sent again because no answer came soon enough is the same question."""
        return len({number for number, *asked in self.questions if asked == [name, kind]})

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
            self.questions.append((message[:2], name, kind))
            if name.endswith(self.dead) or kind == AAAA and name in self.mute:
                continue
            life, texts = self.records.get(name, (0, []))
            code = self.codes.get(name, 0 if name in self.records else NXDOMAIN)
            packed = [socket.inet_pton(socket.AF_INET6 if ":" in t else socket.AF_INET, t) for t in texts]
            found = [p for p in packed if TYPES[len(p)] == kind]
            head = message[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(found), 0, 0)
            answers = b"".join(struct.pack("!HHHIH", 0xC00C, kind, 1, life, len(p)) + p for p in found)
            self.socket.sendto(head + message[12:place + 5] + answers, peer)

    def close(self):
        self.socket.close()


def wrapped(binary, folder, **files):
    """A program that runs `binary` with files of its own in the place of those of /etc, by name: `resolv` for
    /etc/resolv.conf, `hosts` for /etc/hosts. None where this system does not let us."""
    places = {"resolv": "/etc/resolv.conf", "hosts": "/etc/hosts"}
    mounts = " && ".join(f"mount --bind {path} {places[name]}" for name, path in files.items())
    program = folder / "usher"
    program.write_text(
        "#!/bin/sh\n"
        f"""exec unshare -m sh -c '{mounts} && exec {binary} "$@"' usher "$@"\n""")
    program.chmod(0o755)
    if shutil.which("unshare") is None:
        return None
    tried = subprocess.run([program, "version"], capture_output=True, check=False)
    return program if tried.returncode == 0 else None
