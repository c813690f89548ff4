"""What a process costs, by what /proc says of it, and load that stays out of its way: the proxy has core 0 to itself, load and
origin share core 1."""

import contextlib
import os
import pathlib
import re
import socket
import subprocess
import time

import peers

HERE = pathlib.Path(__file__).resolve().parent


def processes(root):
    """The process and all that descend from it."""
    found, children = [], {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    queue = [root]
    while queue:
        pid = queue.pop()
        found.append(pid)
        queue += children.get(pid, [])
    return found


def cpu(root):
    """Seconds on a processor so far, of all threads there are; the kernel's own clock, finer than its ticks."""
    return sum(own_cpu(pid) for pid in processes(root))


def own_cpu(pid):
    """The same of one process, without those that it started."""
    threads = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def resident(root):
    """KiB."""
    return sum(
        int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))
        for pid in processes(root))


def load(command, **environment):
    done = subprocess.run(
        ["taskset", "-c", "1", *map(str, command)], capture_output=True, text=True, timeout=600,
        env={"PATH": os.environ["PATH"], **environment})
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def accepts(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
        return True
    return False


@contextlib.contextmanager
def running(proxy, folder):
    """The proxy on core 0, accepting; gives (process id, port, seconds until it accepted)."""
    port = peers.free_port()
    command = proxy.prepare(folder, port)
    begun = time.monotonic()
    with open(folder / f"{proxy.name}.err", "wb") as errors:
        child = subprocess.Popen(
            ["taskset", "-c", "0", *map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=errors, env={**os.environ, **proxy.environment})
    try:
        while not accepts(port):
            if child.poll() is not None or time.monotonic() - begun > 20:
                raise RuntimeError(f"{proxy.name} does not start: " + (folder / f"{proxy.name}.err").read_text()[-300:])
            time.sleep(0.0005)
        yield child.pid, port, time.monotonic() - begun
    finally:
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def ask(pid, port, url, connections, seconds, **wishes):
    """CPU µs of a request, with so many connections that are kept (wrk). For `wishes` see absolute.lua."""
    before = cpu(pid)
    output = load(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", HERE / "absolute.lua", f"http://127.0.0.1:{port}"],
        TARGET=url, TARGET_HOST=url.split("/")[2], **wishes)
    wrong = re.findall(r"Non-2xx.*|Socket errors.*", output)
    if wrong:
        raise RuntimeError(wrong[0])
    answered = int(re.search(r"(\d+) requests in", output).group(1))
    if answered == 0:
        raise RuntimeError(f"nothing was answered within {seconds} s")
    return (cpu(pid) - before) * 1e6 / answered
