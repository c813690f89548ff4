import contextlib
import faulthandler
import json
import os
import pathlib
import signal
import subprocess

import pytest
import requests

import certificates as certificates_module
import heap as heap_module
import inside
import origins
import programs
import wire

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytest_plugins = ["browsers"]

# seconds that a test, or what it sets up, may take; sanitizers take their time, too
LIMIT = 120 * int(os.environ.get("USHER_TEST_PATIENCE", "1"))


@contextlib.contextmanager
def limited(item, stage):
    """Nothing waits for ever: what takes too long fails, and is named."""
    marker = item.get_closest_marker("limit")
    seconds = marker.args[0] * LIMIT // 120 if marker else LIMIT

    def over(*_):
        pytest.fail(f"{item.nodeid}: {stage} took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    # where the main thread hears no signal
    faulthandler.dump_traceback_later(seconds + 60, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item):
    with limited(item, "the set-up"):
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    with limited(item, "the test"):
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item):
    with limited(item, "what comes after"):
        yield


@pytest.fixture(scope="session")
def binary():
    """The built program: `USHER_BINARY`, else what `swift build` made."""
    given = os.environ.get("USHER_BINARY")
    if not given:
        folder = subprocess.run(
            ["swift", "build", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
        given = f"{folder}/usher"
    assert os.access(given, os.X_OK), f"{given} is not built: run `swift build`"
    return given


@pytest.fixture(scope="session")
def heap_library(tmp_path_factory):
    return heap_module.library(tmp_path_factory.mktemp("heap"))


@pytest.fixture
def heap(heap_library, tmp_path):
    """Counts what a program has on its heap that is started with `environment=heap.environment`."""
    return heap_module.Counter(heap_library, tmp_path / "heap")


@pytest.fixture(scope="session")
def sandbox(binary):
    program = programs.Sandbox(binary)
    yield program
    assert program.stop() == 0


@pytest.fixture
def own_sandbox(binary):
    """Starts sandboxes of a test's own: own_sandbox(*switches, ca=None)."""
    running = []

    def run(*switches, **options):
        running.append(programs.Sandbox(binary, *switches, **options))
        return running[-1]

    yield run
    for program in running:
        assert program.process.poll() is None, "\n".join(program.errors[-20:])
        assert program.stop() == 0


@pytest.fixture(scope="session")
def secure_sandbox(binary, tmp_path_factory):
    """The same over HTTPS, with an authority of its own."""
    program = programs.Sandbox(binary, ca=tmp_path_factory.mktemp("sandbox") / "sandbox-ca.pem")
    yield program
    assert program.stop() == 0


@pytest.fixture
def write_config(tmp_path):
    """Writes a configuration, given as YAML text or as values, and gives its path."""
    def write(config, name="usher.yaml"):
        path = tmp_path / name
        # JSON is YAML
        path.write_text(config if isinstance(config, str) else json.dumps({"version": 1, **config}, indent=1))
        return path

    return write


@pytest.fixture
def state(tmp_path):
    """A state directory that is not there yet."""
    return tmp_path / "state"


@pytest.fixture
def call(binary, state, tmp_path):
    """Runs a verb to its end, with a state directory of its own and no variables that lead to a proxy."""
    def run(*arguments, given=None, binary_output=False, **variables):
        environment = {
            name: value for name, value in os.environ.items() if not name.lower().endswith(("_proxy", "_ca_bundle"))}
        environment |= {"STATE_DIRECTORY": str(state), "HOME": str(tmp_path), **variables}
        return subprocess.run(
            [binary, *map(str, arguments)], input=given, capture_output=True, text=not binary_output, timeout=60,
            env=environment)

    return run


@pytest.fixture
def start(binary, write_config):
    """Starts proxies; every one must still run when the test ends, and end cleanly when told to."""
    running = []

    def run(config=None, **options):
        program = programs.Usher(binary, write_config(config or {}, f"usher-{len(running)}.yaml"), **options)
        running.append(program)
        return program

    yield run
    for program in running:
        alive = program.process.poll() is None
        status = program.stop()
        assert alive, f"the proxy ended by itself with status {status}:\n" + "\n".join(program.errors[-20:])
        assert status == 0, f"the proxy ended with status {status}:\n" + "\n".join(program.errors[-20:])


@pytest.fixture
def play(start):
    """Starts proxies with these interceptors; gives each with a connection of a client."""
    opened = []

    def begin(interceptors, **more):
        usher = start({"workers": 1, "interceptors": interceptors, **more})
        client = wire.Connection(("127.0.0.1", usher.port))
        opened.append(client)
        return usher, client

    yield begin
    for client in opened:
        client.close()


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    return certificates_module.Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def opening(start, certificates, tmp_path):
    """Starts proxies that open every tunnel: opening(rest of the configuration, **keys of `tls`)."""
    def run(rest=None, environment=None, listen=("127.0.0.1:0",), **tls):
        return start(
            inside.config(certificates, rest, **tls), environment=environment, listen=listen, state=tmp_path)

    return run


@pytest.fixture(scope="module")
def opener(binary, certificates, tmp_path_factory):
    """A proxy that opens every tunnel and has no rules, one for each module."""
    folder = tmp_path_factory.mktemp("opener")
    path = folder / "usher.yaml"
    path.write_text(json.dumps({"version": 1, **inside.config(certificates)}))
    program = programs.Usher(binary, path, state=folder)
    yield program
    assert program.process.poll() is None, "\n".join(program.errors[-20:])
    assert program.stop() == 0


@pytest.fixture
def secure_origin(origin, certificates):
    """Starts origins that speak TLS: secure_origin(kind, *arguments, identity=…, **keys of origins.context)."""
    def run(kind=origins.Answering, *arguments, identity=None, name=origins.NAME, **options):
        context = origins.context(identity or certificates.good, **options)
        return origin(kind(context, *arguments, name=name))

    return run


@pytest.fixture(scope="module")
def plain_usher(binary, tmp_path_factory):
    """A proxy with no rules at all, one for each module. One worker: its pool is the whole pool."""
    path = tmp_path_factory.mktemp("plain") / "usher.yaml"
    path.write_text("version: 1\nworkers: 1\n")
    program = programs.Usher(binary, path)
    yield program
    assert program.process.poll() is None, "\n".join(program.errors[-20:])
    assert program.stop() == 0


@pytest.fixture
def origin():
    """Starts origins; closes them when the test ends."""
    started = []

    def run(serve=None, **options):
        server = serve if isinstance(serve, wire.Origin) else wire.Answering(serve, **options) if serve else (
            wire.Answering(**options))
        started.append(server)
        return server

    yield run
    for server in started:
        server.close()


@pytest.fixture
def through():
    """A requests session that goes through a proxy, whatever the environment says."""
    def make(usher):
        client = requests.Session()
        client.trust_env = False
        client.proxies = {"http": usher.url, "https": usher.url}
        return client

    return make


@pytest.fixture
def connect(plain_usher):
    """Raw connections to the plain proxy."""
    opened = []

    def run():
        connection = wire.Connection(("127.0.0.1", plain_usher.port))
        opened.append(connection)
        return connection

    yield run
    for connection in opened:
        connection.close()
