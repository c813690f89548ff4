"""The admin API over TCP, as curl and as bytes."""

import json
import subprocess

import programs
import wire

TOKEN = "0123456789abcdef-Token"
CONFIG = {"admin": {"listen": "127.0.0.1:0", "token": "${env.ADMIN_TOKEN}"}}


class Port:
    """Where a daemon with `CONFIG` answers about itself."""

    def __init__(self, usher):
        def found():
            prefix = "usher: serving the admin API on "
            return next((line.removeprefix(prefix) for line in list(usher.errors) if line.startswith(prefix)), None)

        self.address = usher.wait_for(found, "the admin port")
        self.host, number = self.address.rsplit(":", 1)
        self.number = int(number)
        self.url = f"http://{self.address}"

    def curl(self, path, *options, token=TOKEN):
        """Status, fields and body of one request."""
        shown = ["-H", f"Authorization: Bearer {token}"] if token else []
        done = subprocess.run(
            ["curl", "-sS", "-i", "--noproxy", "*", "--path-as-is", "-m", "60", *shown, *options, self.url + path],
            capture_output=True, timeout=70, check=True)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        while head.startswith(b"HTTP/1.1 100"):
            head, _, body = body.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        return int(lines[0].split()[1]), fields, body

    def json(self, path, *options, **how):
        status, _, body = self.curl(path, *options, **how)
        return status, json.loads(body)

    def connect(self):
        return wire.Connection((self.host.strip("[]"), self.number))

    def says(self, data):
        """What comes back for these bytes, until the end of the connection."""
        connection = self.connect()
        connection.send(data)
        return connection.read_rest()

    def head(self, method, path, *lines, token=TOKEN, version="1.1"):
        fields = [f"Host: {self.address}", *([f"Authorization: Bearer {token}"] if token else []), *lines]
        return f"{method} {path} HTTP/{version}\r\n" + "".join(f"{line}\r\n" for line in fields) + "\r\n"
