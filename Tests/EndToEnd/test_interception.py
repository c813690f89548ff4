"""Tunnels that are opened: who is shown which certificate, what passes, and what is left alone."""

import base64
import contextlib
import os
import socket
import ssl
import stat
import threading

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

import inside
import origins
import programs
import wire
from inside import get, opened

VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


@pytest.mark.parametrize("mine", VERSIONS)
@pytest.mark.parametrize("theirs", VERSIONS)
def test_requests_inside_are_exchanges(opener, secure_origin, mine, theirs):
    """Each side speaks its own version."""
    server = secure_origin(only=theirs)
    with opened(opener, server.authority, inside.trusting(opener, only=VERSIONS[mine])) as client:
        for number in range(3):
            answer = client.exchange(get(server.authority, f"/{mine}/{theirs}/{number}"))
            assert (answer.status, answer.body) == (200, b"ok")
        assert client.socket.version() == f"TLSv{mine}"
    # one connection was enough
    assert [seen.version for seen in server.handshakes] == [f"TLSv{theirs}"]
    assert server.handshakes[0].name == "origin.localhost"
    assert all("usher" in seen.get("via") for seen in server.requests)
    access = opener.flow(f"/{mine}/{theirs}/2").access
    assert access["url"] == f"{server.url}/{mine}/{theirs}/2"
    assert access["status"] == 200


def test_a_large_body_goes_both_ways(opener, secure_origin):
    body = os.urandom(3 << 20)
    server = secure_origin(origins.Answering, lambda seen: wire.response(body=seen.body))
    with opened(opener, server.authority) as client:
        # one thread: Python's TLS objects do not bear two
        assert client.exchange(get(server.authority, method="POST", body=body)).body == body


def test_chunks_go_both_ways(opener, secure_origin):
    server = secure_origin(origins.Site)
    with opened(opener, server.authority) as client:
        assert client.exchange(get(server.authority, "/chunked")).body == b"x" * 200_000
        echo = client.exchange(
            get(server.authority, "/echo", [("Transfer-Encoding", "chunked")], "POST") + wire.chunked(b"abc" * 9000, 1000))
        assert echo.body == b"abc" * 9000


def test_records_of_one_byte(opener, secure_origin):
    server = secure_origin(origins.Server, origins.tiny_records)
    with opened(opener, server.authority) as client:
        for byte in get(server.authority, "/tiny"):
            client.send(bytes([byte]))
        assert client.read_response().body == b"/tiny" * 20


def test_requests_in_a_row_are_answered_in_order(opener, secure_origin):
    server = secure_origin(origins.Answering, lambda seen: wire.response(body=seen.target.encode()))
    with opened(opener, server.authority) as client:
        client.send(b"".join(get(server.authority, f"/{number}") for number in range(10)))
        assert [client.read_response().body for _ in range(10)] == [b"/%d" % number for number in range(10)]


def test_interceptors_act_inside(opening, secure_origin):
    server = secure_origin()
    usher = opening({"interceptors": [
        {"name": "mark", "when": {"scheme": "https", "host": "origin.localhost"},
         "request": [{"set_header": {"X-Mark": "1"}}], "response": [{"set_header": {"X-Seen": "2"}}]},
        {"name": "made", "when": {"path": "/made"}, "request": [{"respond": {"status": 418}}]}]})
    with opened(usher, server.authority) as client:
        answer = client.exchange(get(server.authority, "/real"))
        assert (answer.status, answer.get("x-seen")) == (200, "2")
        assert client.exchange(get(server.authority, "/made")).status == 418
    assert [(seen.target, seen.get("x-mark")) for seen in server.requests] == [("/real", "1")]


def test_a_websocket_inside(opener, secure_origin):
    server = secure_origin(origins.Site)
    with opened(opener, server.authority) as client:
        key = base64.b64encode(os.urandom(16)).decode()
        answer = client.exchange(get(server.authority, "/socket", [
            ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Key", key),
            ("Sec-WebSocket-Version", "13")]))
        assert answer.status == 101
        for word in (b"first", b"second"):
            client.send(bytes([0x81, 0x80 | len(word)]) + bytes(4) + word)
            assert client.read(2 + len(word)) == bytes([0x81, len(word)]) + word
        client.send(b"\x88\x80" + bytes(4))
        assert client.read(2) == b"\x88\x00"


# the origin is there, or not


@pytest.fixture(params=["http", "https"])
def asking(request, opening):
    """asking(rest of the configuration): a proxy that opens tunnels, at a listener of either kind, and who asks it for one."""
    def run(rest=None):
        usher = opening(rest, listen=(f"{'https://' if request.param == 'https' else ''}127.0.0.1:0",))

        @contextlib.contextmanager
        def ask(authority):
            with wire.Connection(("127.0.0.1", usher.port)) as client:
                if request.param == "https":
                    inside.secured(client, inside.trusting(usher), "127.0.0.1")
                client.send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n")
                yield client

        return usher, ask

    return run


@pytest.fixture
def closed_port():
    """One that nobody listens at, for as long as it is held."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.mark.parametrize("authority, error", [
    ("origin.localhost:%d", "connection_refused"), ("127.0.0.1:%d", "connection_refused"),
    ("nobody.invalid:443", "dns_error")])
def test_a_tunnel_to_nobody(asking, closed_port, authority, error):
    usher, ask = asking()
    authority = authority % closed_port if "%" in authority else authority
    with ask(authority) as client:
        answer = client.read_response()
        assert answer.status == 502 and f"error={error}" in answer.get("proxy-status")
    assert usher.flow(authority).access["status"] == 502


def test_who_answers_in_its_place(asking, closed_port):
    usher, ask = asking({"interceptors": [
        {"name": "mock", "when": {"host": "mock.localhost"}, "request": [{"respond": {"status": 418}}]},
        {"name": "spare", "when": {"host": "spare.localhost"}, "error": [{"respond": {"status": 203}}]}]})
    for host, status in [("mock.localhost", 418), ("spare.localhost", 203), ("other.localhost", None)]:
        with ask(f"{host}:{closed_port}") as client:
            assert client.read_head().status == (200 if status else 502)
            if status:
                # plain HTTP in there is HTTP
                assert client.exchange(get(f"{host}:{closed_port}")).status == status


def test_the_connection_is_for_the_first_request(opener, secure_origin):
    server = secure_origin()
    with inside.tunnel(opener, server.authority) as tunnel:
        programs.eventually(lambda: len(server.accepted) == 1, "the connection that the tunnel was answered by")
        inside.secured(tunnel, inside.trusting(opener), "origin.localhost")
        for path in ("/a", "/b"):
            assert tunnel.exchange(get(server.authority, path)).status == 200
        assert len(server.accepted) == 1
        # one that stands says that the origin is there
        with opened(opener, server.authority) as other:
            assert other.exchange(get(server.authority)).status == 200
    assert len(server.accepted) == 1


def test_a_connection_that_ended_meanwhile(opener, origin, certificates):
    """Before anything was asked on it."""
    class Hasty(origins.Answering):
        def begin(self, connection):
            if len(self.accepted) == 1:
                raise ConnectionResetError
            super().begin(connection)

    server = origin(Hasty(origins.context(certificates.good)))
    with inside.tunnel(opener, server.authority) as tunnel:
        programs.eventually(
            lambda: len(server.accepted) == 1 and not programs.held(server.port), "the end of the first connection")
        inside.secured(tunnel, inside.trusting(opener), "origin.localhost")
        assert tunnel.exchange(get(server.authority)).status == 200
    assert len(server.accepted) == 2


# the certificate


def san(certificate):
    return certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value


@pytest.mark.parametrize("host", ["origin.localhost", "deep.wild.localhost", "xn--bcher-kva.localhost"])
def test_the_certificate_is_for_the_name_asked_for(opener, secure_origin, host):
    server = secure_origin(name=host)
    with opened(opener, server.authority) as client:
        leaf = x509.load_der_x509_certificate(inside.leaf(client))
        assert client.exchange(get(server.authority)).status == 200
    assert host in san(leaf).get_values_for_type(x509.DNSName)
    assert server.handshakes[0].name == host


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_certificate_of_an_address(opener, secure_origin, origin, certificates, host):
    server = origin(origins.Answering(origins.context(certificates.good), host=host, name=None))
    with opened(opener, server.authority) as client:
        leaf = x509.load_der_x509_certificate(inside.leaf(client))
        assert client.exchange(get(server.authority)).status == 200
    assert [str(address) for address in san(leaf).get_values_for_type(x509.IPAddress)] == [host]
    # an address is no server name (RFC 6066 §3)
    assert server.handshakes[0].name is None


def test_the_certificate_is_one_that_browsers_take(opener, secure_origin):
    with opened(opener, secure_origin().authority) as client:
        leaf = x509.load_der_x509_certificate(inside.leaf(client))
        told = client.socket.getpeercert()
    root = x509.load_pem_x509_certificate(opener.ca.read_bytes())
    extensions = leaf.extensions
    assert leaf.issuer == root.subject
    assert list(extensions.get_extension_for_class(x509.ExtendedKeyUsage).value) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert extensions.get_extension_for_class(x509.KeyUsage).value.digital_signature
    assert not extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    issuer = extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
    assert issuer == root.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
    assert leaf.serial_number.bit_length() > 64
    life = ssl.cert_time_to_seconds(told["notAfter"]) - ssl.cert_time_to_seconds(told["notBefore"])
    assert 86_400 < life <= 398 * 86_400


def test_what_a_start_leaves_behind(opener):
    """A root that may be handed out, and a key that may not."""
    root = x509.load_pem_x509_certificate(opener.ca.read_bytes())
    assert root.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    keys = [
        path for path in opener.ca.parent.iterdir()
        if path.is_file() and b"PRIVATE KEY" in path.read_bytes()]
    assert keys
    assert {stat.S_IMODE(path.stat().st_mode) for path in keys} == {0o600}
    assert not any("PRIVATE" in line for line in opener.lines + opener.errors)


def test_the_authority_outlives_the_proxy(binary, certificates, write_config, tmp_path):
    config, roots = write_config(inside.config(certificates)), []
    for _ in range(2):
        usher = programs.Usher(binary, config, state=tmp_path)
        roots.append(usher.ca.read_bytes())
        assert usher.stop() == 0
    assert roots[0] == roots[1]


def test_the_name_of_the_hello_goes_before_that_of_the_tunnel(opener, secure_origin):
    """The certificate is for the one, the connection goes to the other, and the log has both."""
    server = secure_origin()
    with opened(opener, server.authority, name="other.wild.localhost") as client:
        leaf = x509.load_der_x509_certificate(inside.leaf(client))
        assert client.exchange(get(f"other.wild.localhost:{server.port}", "/two-names")).status == 200
    assert san(leaf).get_values_for_type(x509.DNSName) == ["other.wild.localhost"]
    assert [seen.target for seen in server.requests] == ["/two-names"]
    opener.wait_for(
        lambda: [line for line in list(opener.lines) if "other.wild.localhost" in line and server.authority in line],
        "a line with both names")


def test_without_a_name_in_the_hello_the_tunnel_has_one(opener, secure_origin):
    server = secure_origin()
    context = inside.trusting(opener)
    context.check_hostname = False
    connection = inside.tunnel(opener, server.authority)
    connection.socket = context.wrap_socket(connection.socket)
    with connection as client:
        leaf = x509.load_der_x509_certificate(inside.leaf(client))
        assert client.exchange(get(server.authority)).status == 200
    assert san(leaf).get_values_for_type(x509.DNSName) == ["origin.localhost"]


# protocols


@pytest.mark.parametrize("offered, chosen", [
    (["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"), ([], None)], ids=str)
def test_only_what_is_spoken_is_chosen(opening, secure_origin, offered, chosen):
    opener = opening({"http2": {"clients": False, "origins": False}})
    server = secure_origin(protocols=["h2", "http/1.1"])
    with opened(opener, server.authority, inside.trusting(opener, protocols=offered)) as client:
        assert client.socket.selected_alpn_protocol() == chosen
        assert client.exchange(get(server.authority)).status == 200
    assert "h2" not in server.handshakes[0].protocols


# what is left alone


def is_untouched(usher, server, certificates, **options):
    """Whether the origin's own certificate is what a client sees."""
    with opened(usher, server.authority, inside.context(certificates.trust, **options)) as client:
        assert client.socket.getpeercert()["issuer"] == ((("commonName", "Test Issuing"),),)
        return client.socket.selected_alpn_protocol()


def test_a_client_that_speaks_nothing_known_is_left_alone(opener, secure_origin, certificates):
    server = secure_origin(protocols=["acme-tls/1"])
    assert is_untouched(opener, server, certificates, protocols=["acme-tls/1"]) == "acme-tls/1"


def test_a_client_that_speaks_only_h2_is_left_alone_where_that_is_not_spoken(opening, secure_origin, certificates):
    server = secure_origin(protocols=["h2"])
    usher = opening({"http2": {"clients": False}})
    assert is_untouched(usher, server, certificates, protocols=["h2"]) == "h2"


@pytest.mark.parametrize("tls", [
    {"intercept": ["*.example.com"]}, {"except": ["origin.localhost"]}, {"intercept": []}], ids=str)
def test_other_hosts_are_left_alone(opening, secure_origin, certificates, tls):
    server = secure_origin()
    usher = opening(**tls)
    is_untouched(usher, server, certificates)
    access = usher.flow(server.authority).access
    assert (access["method"], access["status"]) == ("CONNECT", 200)


def test_who_speaks_no_tls_may_close_its_side(opening, origin):
    """What was said tells that nothing is opened; only then is the origin connected to, and the end travels there, too."""
    def serve(connection):
        connection.send(b"heard %d" % len(connection.read_rest()))

    server = origin(wire.Origin(serve))
    usher = opening()
    with wire.Connection(("127.0.0.1", usher.port)) as client:
        client.send(f"CONNECT {server.authority} HTTP/1.1\r\nHost: {server.authority}\r\n\r\n")
        assert client.read_head().status == 200
        client.send(b"\x00" * 1000)
        client.half_close()
        assert client.read_rest() == b"heard 1000"


def test_the_policy_is_asked_again_with_the_name_of_the_hello(opening, secure_origin, certificates):
    server = secure_origin()
    usher = opening(**{"except": ["*.wild.localhost"]})
    with opened(usher, server.authority, inside.context(certificates.trust), name="a.wild.localhost") as client:
        assert client.exchange(get(server.authority)).status == 200
    with opened(usher, server.authority) as client:
        assert client.exchange(get(server.authority)).status == 200


# many hosts


def test_concurrent_first_connections_share_a_certificate(opening, secure_origin):
    server = secure_origin()
    usher = opening({"workers": 2})
    barrier, leaves = threading.Barrier(8), []

    def connect():
        barrier.wait(wire.TIMEOUT)
        with opened(usher, server.authority) as client:
            leaves.append(inside.leaf(client))

    threads = [threading.Thread(target=connect) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(wire.TIMEOUT)
    assert len(leaves) == 8 and len(set(leaves)) == 1


def test_the_memory_that_many_hosts_hold(opening, secure_origin, heap):
    usher = opening(
        {"limits": {"leaf_certificates": 50}, "journal": {"memory": "64KiB"}}, environment=heap.environment)
    # neither its connections are kept nor what they could be resumed by: certificates are all that is left
    server = secure_origin(origins.Server, origins.ends(b"ok", 2), only="1.3")
    server.context.num_tickets = 0
    trusting = inside.trusting(usher)

    def visit(first, count):
        for number in range(first, first + count):
            name = f"h{number}.wild.localhost"
            with opened(usher, server.authority, trusting, name) as client:
                assert client.exchange(get(f"{name}:{server.port}")).status == 200

    visit(0, 100)
    settled = heap.live()
    visit(100, 300)
    heap.stays(settled, 512 << 10)


# the key log


@pytest.mark.parametrize("allowed", [True, False])
def test_the_key_log_is_written_only_where_it_is_allowed(opening, secure_origin, tmp_path, allowed):
    log = tmp_path / "keys.log"
    usher = opening(environment={"SSLKEYLOGFILE": str(log)}, key_log=allowed)
    server = secure_origin()
    with opened(usher, server.authority) as client:
        assert client.exchange(get(server.authority)).status == 200
    if allowed:
        programs.eventually(lambda: log.exists() and "TRAFFIC_SECRET" in log.read_text(), "the keys are written")
        assert stat.S_IMODE(log.stat().st_mode) == 0o600
    else:
        usher.flow(server.authority)
        assert not log.exists()
