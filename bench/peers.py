"""The origin and the proxies of the benchmark: each in a folder of its own, one worker, nothing cached or logged."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Origin:
    """nginx with a page of 912 bytes and a large file, over HTTP and TLS, which resumes; a second TLS port closes after each
    answer, a third speaks HTTP/2."""

    def __init__(self, folder, mebibytes, locations=""):
        # more of the server's block, in nginx's words
        self.locations = locations
        self.port, self.tls_port, self.closing_port, self.h2_port = free_port(), free_port(), free_port(), free_port()
        self.authority = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.authority}"
        self.tls_url = f"https://127.0.0.1:{self.tls_port}"
        # the name for which TLS is opened
        self.opened_url = f"https://localhost:{self.tls_port}"
        self.closing_url = f"https://localhost:{self.closing_port}"
        self.h2_url = f"https://localhost:{self.h2_port}"
        self.folder = folder / "origin"
        self.certificate, self.key = self.folder / "certificate.pem", self.folder / "key.pem"
        self.certificate_and_key = self.folder / "both.pem"
        pages = self.folder / "pages"
        pages.mkdir(parents=True)
        (pages / "1k").write_bytes(b"0123456789abcdef" * 57)
        with open(pages / f"{mebibytes}m", "wb") as large:
            for _ in range(mebibytes):
                large.write(os.urandom(1 << 20))
        for path in (self.folder, pages):
            path.chmod(0o755)

    def __enter__(self):
        where = self.folder
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", self.key,
             "-out", self.certificate], check=True, capture_output=True)
        self.certificate_and_key.write_bytes(self.key.read_bytes() + self.certificate.read_bytes())
        (where / "nginx.conf").write_text(f"""
            daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid {where}/pid; error_log {where}/error.log;
            events {{ worker_connections 9000; }}
            http {{
              access_log off; default_type text/plain; sendfile on; open_file_cache max=16;
              keepalive_timeout 600s; keepalive_requests 1000000000;
              ssl_certificate {self.certificate}; ssl_certificate_key {self.key};
              ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:sessions:10m; ssl_session_tickets on;
              root {where}/pages;
              server {{
                listen {self.authority} backlog=4096; listen 127.0.0.1:{self.tls_port} ssl backlog=4096;
                listen 127.0.0.1:{self.h2_port} ssl http2 backlog=4096;
                {self.locations}
              }}
              server {{ listen 127.0.0.1:{self.closing_port} ssl backlog=4096; keepalive_timeout 0; }}
            }}
            """)
        self.process = subprocess.Popen(
            ["taskset", "-c", "1", "/usr/sbin/nginx", "-c", where / "nginx.conf"], stderr=subprocess.DEVNULL)
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.01)
        raise RuntimeError("the origin does not start")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)


class Proxy:
    """One proxy: `prepare` writes its files and gives its command."""

    figures = {"plain", "download", "tunnel", "idle", "rest", "ready"}
    environment = {}
    # so many times fewer requests are enough to tell what one costs
    slowness = 1

    def __init__(self, name, program):
        self.name, self.program = name, program

    def is_installed(self):
        return shutil.which(self.program, path=f"{os.environ['PATH']}:/usr/sbin") is not None

    def place(self, folder):
        path = folder / self.name
        path.mkdir(exist_ok=True)
        return path


# of the kinds that people write, none of which applies to what the benchmark asks for
CONDITIONS = [
    "{ action: LOGOUT }", "{ host: api.example.com }", '{ path: "/admin/*" }', "{ method: DELETE }",
    '{ header: { X-Debug: "*" } }']


# below it are the hosts for which certificates are made on demand
UNHEARD = "bench.test"


class Usher(Proxy):
    def __init__(self, name, binary, access, interceptors=0, workers=1, journal="64MiB"):
        super().__init__(name, str(binary))
        self.access, self.interceptors, self.workers, self.journal = access, interceptors, workers, journal

    def is_installed(self):
        return os.access(self.program, os.X_OK)

    def prepare(self, folder, port):
        config = self.place(folder) / "usher.yaml"
        rules = "".join(
            f"  - {{ name: rule {number}, when: {CONDITIONS[number % len(CONDITIONS)]}, "
            "request: [{ set_header: { X-Mark: '1' } }] }\n" for number in range(self.interceptors))
        config.write_text(
            f"version: 1\nworkers: {self.workers}\nlimits: {{ connections: 9000 }}\nlog: {{ access: {self.access} }}\n"
            f"journal: {{ memory: {self.journal} }}\n"
            + (f"interceptors:\n{rules}" if rules else ""))
        return [self.program, "serve", "--config", config, "--listen", f"127.0.0.1:{port}"]


class OpeningUsher(Usher):
    """Usher that opens TLS, also to hosts that nobody ever heard of, with a CA of its own."""

    figures = {"tls", "handshake", "greeting", "mint", "hosts"}

    def __init__(self, name, binary, origin, access, interceptors=0):
        super().__init__(name, binary, access, interceptors)
        self.origin = origin

    def prepare(self, folder, port):
        command = super().prepare(folder, port)
        place = self.place(folder)
        self.environment = {"STATE_DIRECTORY": str(place / "state")}
        with open(place / "usher.yaml", "a") as config:
            config.write(
                f"tls:\n  intercept: [localhost, '*.{UNHEARD}']\n  upstream: {{ extra_trust: [{self.origin.certificate}] }}\n"
                f"  ca: {{ constrain_to: [localhost, {UNHEARD}] }}\n")
        return command


class HAProxy(Proxy):
    """With a fixed backend: it is no forward proxy, but what a proxy that reads HTTP can hope for."""

    figures = Proxy.figures - {"tunnel"}

    def __init__(self, origin):
        super().__init__("haproxy", "haproxy")
        self.origin = origin

    def prepare(self, folder, port):
        config = self.place(folder) / "haproxy.cfg"
        config.write_text(
            "global\n  nbthread 1\n  maxconn 9000\n"
            "defaults\n  mode http\n  timeout connect 5s\n  timeout client 600s\n  timeout server 600s\n"
            f"frontend clients\n  bind 127.0.0.1:{port}\n  http-request set-header X-Edited yes\n  default_backend origin\n"
            f"backend origin\n  http-reuse always\n  server origin {self.origin.authority}\n")
        return ["/usr/sbin/haproxy", "-db", "-f", config]


class Squid(Proxy):
    def __init__(self, name="squid"):
        super().__init__(name, "squid")

    def prepare(self, folder, port):
        place = self.place(folder)
        config = place / "squid.conf"
        config.write_text(
            f"http_port 127.0.0.1:{port}\nhttp_access allow all\ncache deny all\naccess_log none\nworkers 1\n"
            f"cache_log {place}/cache.log\npid_filename {place}/pid\ncoredump_dir {place}\nshutdown_lifetime 0 seconds\n"
            "max_filedescriptors 20000\n")
        if os.geteuid() == 0:
            shutil.chown(place, "proxy")
        return ["/usr/sbin/squid", "-N", "-f", config]


class OpeningSquid(Squid):
    """Squid that opens TLS (ssl_bump). It has its leaves speak for the key of its CA, so the CA's kind decides what a handshake
    costs: RSA is what its manual shows, P-256 what Usher uses."""

    figures = {"tls", "handshake", "greeting", "mint"}
    GENERATOR = pathlib.Path("/usr/lib/squid/security_file_certgen")

    def __init__(self, name, origin, key):
        super().__init__(name)
        self.origin, self.key = origin, key

    def is_installed(self):
        return super().is_installed() and self.GENERATOR.exists()

    def prepare(self, folder, port):
        command = super().prepare(folder, port)
        place = self.place(folder)
        database = place / "certificates"
        if not database.exists():
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", *self.key, "-nodes", "-days", "2", "-subj", f"/CN={self.name}",
                 "-keyout", place / "ca.key", "-out", place / "ca.pem"], check=True, capture_output=True)
            subprocess.run([self.GENERATOR, "-c", "-s", database, "-M", "16MB"], check=True, capture_output=True)
        config = place / "squid.conf"
        config.write_text(config.read_text().replace(
            f"http_port 127.0.0.1:{port}\n",
            f"http_port 127.0.0.1:{port} ssl-bump tls-cert={place}/ca.pem tls-key={place}/ca.key "
            "generate-host-certificates=on dynamic_cert_mem_cache_size=16MB\n"
            f"sslcrtd_program {self.GENERATOR} -s {database} -M 16MB\nsslcrtd_children 2 startup=2\nssl_bump bump all\n"
            f"tls_outgoing_options cafile={self.origin.certificate}\n"))
        if os.geteuid() == 0:
            for path in [place, *place.rglob("*")]:
                shutil.chown(path, "proxy")
        return command


class Mitmproxy(Proxy):
    """Of PyPI, not of Debian: measured where somebody installed it."""

    figures = {"tls", "handshake", "greeting"}
    slowness = 10

    def __init__(self, program, origin):
        super().__init__("mitmproxy", str(program))
        self.origin = origin

    def prepare(self, folder, port):
        return [
            self.program, "-q", "--listen-host", "127.0.0.1", "-p", port, "--set", f"confdir={self.place(folder)}",
            "--set", f"ssl_verify_upstream_trusted_ca={self.origin.certificate}"]


class Nghttpx(Proxy):
    """A forward proxy that speaks HTTP/2 over TLS itself, so that clients need no tunnel. It sends all there is to one server, in
    the one protocol that it is told of."""

    figures = {"opened"}

    def __init__(self, origin, port, protocol):
        super().__init__(f"nghttpx-{'h2' if protocol == 'h2' else 'h1'}", "nghttpx")
        self.origin, self.port, self.protocol = origin, port, protocol

    def prepare(self, folder, port):
        place = self.place(folder)
        key, certificate = place / "key.pem", place / "certificate.pem"
        if not key.exists():
            # the kind of key that Usher's leaves have
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                 "-subj", "/CN=localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        (place / "nghttpx.conf").write_text("")
        # nothing that a window holds up
        return [
            "nghttpx", f"--conf={place}/nghttpx.conf", "--http2-proxy", "--workers=1", f"--frontend=127.0.0.1,{port}",
            f"--backend=127.0.0.1,{self.port};;tls;proto={self.protocol};sni=localhost", f"--cacert={self.origin.certificate}",
            "--no-ocsp", "--backend-http2-window-size=262143", "--frontend-http2-window-size=262143",
            "--frontend-http2-connection-window-size=1048575", "--errorlog-file=/dev/null", key, certificate]


class TrafficServer(Proxy):
    def __init__(self):
        super().__init__("trafficserver", "traffic_server")

    def prepare(self, folder, port):
        place = self.place(folder)
        for name in ("cache", "log", "run"):
            (place / name).mkdir(exist_ok=True)
        if not (place / "etc").exists():
            shutil.copytree("/etc/trafficserver", place / "etc")
        settings = {
            "admin.user_id STRING": "trafficserver", "http.server_ports STRING": f"{port}:ip-in=127.0.0.1",
            "http.cache.http INT": 0, "reverse_proxy.enabled INT": 0, "url_remap.remap_required INT": 0,
            "exec_thread.autoconfig.enabled INT": 0, "exec_thread.limit INT": 1, "accept_threads INT": 0,
            "log.logging_enabled INT": 0, "http.server_session_sharing.pool STRING": "thread",
            "http.server_session_sharing.match STRING": "host", "net.connections_throttle INT": 20000,
            "http.keep_alive_no_activity_timeout_in INT": 600, "http.connect_ports STRING": "*"}
        (place / "etc/records.config").write_text(
            "".join(f"CONFIG proxy.config.{name} {value}\n" for name, value in settings.items()))
        allow = "".join(
            f"  - apply: {way}\n    ip_addrs: 0/0\n    action: allow\n    methods: ALL\n" for way in ("in", "out"))
        (place / "etc/ip_allow.yaml").write_text("ip_allow:\n" + allow)
        folders = {
            "prefix": place, "exec_prefix": "/usr", "bindir": "/usr/bin", "sbindir": "/usr/sbin",
            "sysconfdir": place / "etc", "datadir": place / "cache", "includedir": "/usr/include", "libdir": "/usr/lib",
            "libexecdir": "/usr/lib/trafficserver/modules", "localstatedir": place / "run", "runtimedir": place / "run",
            "logdir": place / "log", "mandir": "/usr/share/man", "infodir": "/usr/share/info",
            "cachedir": place / "cache"}
        (place / "runroot.yaml").write_text("".join(f"{name}: {path}\n" for name, path in folders.items()))
        if os.geteuid() == 0:
            for path in [place, *place.rglob("*")]:
                shutil.chown(path, "trafficserver")
        return ["traffic_server", f"--run-root={place}/runroot.yaml"]


def proxies(root, binary, origin):
    return [
        Usher("usher", binary, "json", 20), Usher("usher-silent", binary, "none", 20, journal="0B"),
        Usher("usher-bare", binary, "none", journal="0B"),
        Usher("usher-two", binary, "json", 20, workers=2), TrafficServer(), HAProxy(origin), Squid(),
        OpeningUsher("usher-tls", binary, origin, "json", 20),
        OpeningSquid("squid-bump", origin, ["rsa:2048"]),
        OpeningSquid("squid-bump-ec", origin, ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]),
        Mitmproxy(root / ".build/mitmproxy/bin/mitmdump", origin)]


class ConfiguredUsher(Usher):
    """With a configuration of its own behind what all of them have."""

    def __init__(self, name, binary, **configuration):
        super().__init__(name, binary, "json")
        self.configuration = configuration

    def prepare(self, folder, port):
        command = super().prepare(folder, port)
        with open(self.place(folder) / "usher.yaml", "a") as config:
            # a JSON value is a YAML value
            config.writelines(f"{key}: {json.dumps(value)}\n" for key, value in self.configuration.items())
        return command
