"""The pytest plugin: the fixture `usher` is a test session of the test's own."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Generator
from typing import Any

import pytest

from .control import Control, UsherError
from .daemon import Daemon, Overlay, ServedDaemon
from .errors import Unmet
from .session import Usher

_DAEMON = pytest.StashKey[Daemon]()
_SESSION = pytest.StashKey[Usher]()
_SOCKET = "usher_socket"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("usher", "Usher, a proxy for apps that log in through PingAM")
    group.addoption(
        "--usher-config", metavar="FILE",
        help="Start usher serve with this configuration, unless USHER_SOCKET or USHER_URL names a daemon.")
    group.addoption("--usher-overlay", metavar="FILE", help="The overlay of each test's session.")
    group.addoption(
        "--usher-artifacts", metavar="DIR",
        help="Where to write the traffic of failed tests (HAR). Default: usher-artifacts beside the file of --junitxml.")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "usher(overlay=None, ttl=None, port=False): how the session of the fixture usher is opened")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Finds the daemon, or starts it: once, for all workers of xdist."""
    config = session.config
    worker = getattr(config, "workerinput", {})
    file = config.getoption("usher_config")
    if _SOCKET in worker:
        config.stash[_DAEMON] = Daemon(Control(socket=worker[_SOCKET]))
    elif daemon := Daemon.found():
        config.stash[_DAEMON] = daemon
    elif file and not worker and not config.option.collectonly:
        try:
            config.stash[_DAEMON] = ServedDaemon(file)
        except UsherError as error:
            raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a worker of xdist where the daemon is."""
    daemon = node.config.stash.get(_DAEMON, None)
    if isinstance(daemon, ServedDaemon):
        node.workerinput[_SOCKET] = daemon.control.socket


def pytest_unconfigure(config: pytest.Config) -> None:
    daemon = config.stash.get(_DAEMON, None)
    if isinstance(daemon, ServedDaemon):
        daemon.stop()


@pytest.fixture(scope="session")
def usher_daemon(pytestconfig: pytest.Config) -> Daemon:
    """The daemon that sessions are opened at."""
    daemon = pytestconfig.stash.get(_DAEMON, None)
    if daemon is None:
        pytest.fail(
            "there is no usher to test with: run pytest by usher run, set USHER_SOCKET or USHER_URL and USHER_TOKEN,"
            " or give --usher-config FILE", pytrace=False)
    return daemon


@pytest.fixture
def usher(request: pytest.FixtureRequest, usher_daemon: Daemon) -> Generator[Usher, None, None]:
    """A test session of this test's own. Its expectations are judged when the test is over."""
    marker = request.node.get_closest_marker("usher")
    options = dict(marker.kwargs) if marker else {}
    overlay = options.pop("overlay", None)
    opened = usher_daemon.session(
        request.node.name, overlay=_overlay(overlay, request.path.parent, request.config), **options)
    request.node.stash[_SESSION] = opened
    request.node.user_properties.append(("usher_session", opened.id))
    yield opened
    opened.close()


def _overlay(given: Overlay | None, folder: pathlib.Path, config: pytest.Config) -> Overlay | None:
    """A path of a marker is relative to the test's file, one of the command line to where pytest runs."""
    if given is None:
        option: str | None = config.getoption("usher_overlay")
        return option and pathlib.Path(config.invocation_params.dir, option)
    return folder / given if isinstance(given, (str, pathlib.Path)) else given


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Judges the expectations after the test itself; a test that failed shows its journeys."""
    outcome = yield
    session = item.stash.get(_SESSION, None)
    report: pytest.TestReport = outcome.get_result()
    if session is None or report.when != "call":
        return
    if report.passed:
        _judge(item, report, session)
    if report.failed:
        _tell(item, report, session)


def _judge(item: pytest.Item, report: pytest.TestReport, session: Usher) -> None:
    try:
        session.verify()
        return
    except (Unmet, UsherError) as error:
        words = str(error)
    report.outcome = "failed"
    try:
        # pytest shows these words alone, and names them in its summary
        pytest.fail(words, pytrace=False)
    except pytest.fail.Exception:
        report.longrepr = item.repr_failure(pytest.ExceptionInfo.from_current())


def _tell(item: pytest.Item, report: pytest.TestReport, session: Usher) -> None:
    try:
        text = session.summary()
        folder = _artifacts(item.config)
        if folder:
            name = re.sub(r"[^A-Za-z0-9._-]+", "-", item.nodeid).strip("-")[-120:]
            har = session.write_har(folder / f"{name}.har")
            item.user_properties.append(("usher_har", str(har)))
            text += f"\nthe traffic is in {har}"
    except (UsherError, OSError) as error:
        text = f"usher: {error}"
    report.sections.append((f"usher: session {session.name}", text))


def _artifacts(config: pytest.Config) -> pathlib.Path | None:
    given = config.getoption("usher_artifacts")
    junit = getattr(config.option, "xmlpath", None)
    if not given and junit:
        given = pathlib.Path(junit).parent / "usher-artifacts"
    return pathlib.Path(config.invocation_params.dir, given) if given else None
