"""The CA on the disk: `usher ca`, `usher env`, and what they leave behind."""

import json
import os
import pathlib
import re
import shlex
import shutil
import ssl
import stat
import subprocess

import pytest

import programs
from wire import Origin


def shown(call, *arguments):
    done = call("ca", "show", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def bundle_of(state):
    """The one bundle that there is."""
    [path] = state.glob("ca-bundle-*.pem")
    return path


def openssl(*arguments, given=None):
    return subprocess.run(["openssl", *map(str, arguments)], input=given, capture_output=True, timeout=30)


def test_show_makes_it_once(call, state):
    done = call("ca", "show")
    assert done.returncode == 0
    assert "no CA yet" in done.stderr and str(state) in done.stderr
    assert "SHA-256" in done.stdout
    first = shown(call)
    assert first == shown(call)
    assert first["subject"] and first["not_after"].endswith("Z") and first["cross_certificates"] == []
    assert first["certificate"] == str(state / "ca.pem") and first["key"] == str(state / "ca.key")
    assert stat.S_IMODE((state / "ca.key").stat().st_mode) == 0o600
    assert stat.S_IMODE((state / "ca.pem").stat().st_mode) == 0o644
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


def test_the_umask_takes_nothing_away_and_gives_nothing(binary, state):
    for mask in (0o000, 0o077):
        shutil.rmtree(state, ignore_errors=True)
        subprocess.run(
            ["sh", "-c", f"umask {mask:o}; exec {binary} ca show"], check=True, capture_output=True,
            env={**os.environ, "STATE_DIRECTORY": str(state)})
        assert stat.S_IMODE((state / "ca.key").stat().st_mode) == 0o600
        assert stat.S_IMODE((state / "ca.pem").stat().st_mode) == 0o644


def test_many_starts_at_once_make_one(binary, state):
    environment = {**os.environ, "STATE_DIRECTORY": str(state)}
    children = [
        subprocess.Popen([binary, "ca", "show", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         env=environment) for _ in range(8)]
    found = {json.loads(child.communicate(timeout=60)[0])["sha256"] for child in children}
    assert len(found) == 1


def test_export(call, state, tmp_path):
    done = call("ca", "export")
    pem = done.stdout
    assert pem == (state / "ca.pem").read_text()
    assert "PRIVATE" not in pem
    der = call("ca", "export", "--form", "der", binary_output=True)
    assert der.returncode == 0
    assert der.stdout == ssl.PEM_cert_to_DER_cert(pem)
    store = tmp_path / "trust.p12"
    done = call("ca", "export", "--form", "p12", "--output", store)
    assert done.returncode == 0 and "usher" in done.stderr
    assert b"PRIVATE" not in openssl("pkcs12", "-in", store, "-passin", "pass:usher", "-nodes").stdout
    done = call("ca", "export", "--form", "p12", "--password", "other", "--output", store)
    assert done.returncode == 0 and "other" not in done.stderr
    assert openssl("pkcs12", "-in", store, "-passin", "pass:other", "-nokeys").returncode == 0
    assert openssl("pkcs12", "-in", store, "-passin", "pass:usher", "-nokeys").returncode != 0


@pytest.mark.parametrize("form", ["der", "p12"])
def test_no_binary_for_a_terminal(binary, state, form):
    primary, secondary = os.openpty()
    done = subprocess.run(
        [binary, "ca", "export", "--form", form], stdout=secondary, stderr=subprocess.PIPE, text=True, timeout=30,
        env={**os.environ, "STATE_DIRECTORY": str(state)})
    os.close(primary)
    os.close(secondary)
    assert done.returncode == 2
    assert "--output" in done.stderr


@pytest.mark.parametrize("arguments", [
    ["ca", "export", "--form", "pkcs7"], ["ca", "export", "--password", "x"],
    ["ca", "export", "--form", "p12", "--password", ""], ["ca", "frobnicate"],
    ["env", "x"], ["run"], ["run", "--"], ["run", "--intercept", "a b", "--", "true"],
    ["doctor", "x"],
])
def test_wrong_use(call, arguments):
    done = call(*arguments)
    assert done.returncode == 2
    assert done.stderr and not done.stdout


def test_export_where_nobody_may_write(call, tmp_path):
    done = call("ca", "export", "--output", tmp_path / "none" / "ca.pem")
    assert done.returncode == 1
    assert "No such file" in done.stderr


def test_java_takes_the_store(call, tmp_path):
    if not shutil.which("keytool"):
        programs.missing("there is no Java")
    store = tmp_path / "trust.p12"
    call("ca", "export", "--form", "p12", "--output", store)
    listed = subprocess.run(
        ["keytool", "-list", "-keystore", str(store), "-storepass", "usher"], capture_output=True, text=True,
        timeout=60)
    assert "trustedCertEntry" in listed.stdout, listed.stdout + listed.stderr


# rotation

def test_rotation_overlaps(call, state, tmp_path):
    old = shown(call)
    (tmp_path / "old.pem").write_text(call("ca", "export").stdout)
    old_key = (state / "ca.key").read_bytes()
    done = call("ca", "rotate", "--json")
    assert done.returncode == 0, done.stderr
    assert "reload" in done.stderr
    rotated = json.loads(done.stdout)
    assert rotated["old"]["sha256"] == old["sha256"]
    new = shown(call)
    assert new["sha256"] == rotated["new"]["sha256"] != old["sha256"]
    assert new["cross_certificates"][0]["issuer"] == old["subject"]
    assert (state / "ca.key").read_bytes() != old_key
    assert stat.S_IMODE((state / "ca.key").stat().st_mode) == 0o600
    # who trusts the old root alone believes what the new key says
    (tmp_path / "cross.pem").write_bytes((state / "ca.cross.pem").read_bytes())
    assert openssl("verify", "-CAfile", tmp_path / "old.pem", tmp_path / "cross.pem").returncode == 0
    assert call("env").returncode == 0
    bundle = bundle_of(state).read_text()
    assert (tmp_path / "old.pem").read_text().strip() in bundle and (state / "ca.pem").read_text().strip() in bundle


def test_rotation_without_a_ca(call):
    done = call("ca", "rotate")
    assert done.returncode == 1
    assert "usher ca show" in done.stderr


def test_rotation_of_a_key_from_outside(call, write_config, tmp_path):
    key = tmp_path / "credentials" / "ca-key"
    key.parent.mkdir()
    key.write_bytes(openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256").stdout)
    key.chmod(0o400)
    config = write_config({"tls": {"ca": {"key": "${credential.ca-key}"}}})
    credentials = {"CREDENTIALS_DIRECTORY": str(key.parent)}
    done = call("ca", "show", "--config", config, "--json", **credentials)
    assert done.returncode == 0, done.stderr
    public = openssl("x509", "-pubkey", "-noout", given=call("ca", "export").stdout.encode()).stdout
    assert public == openssl("pkey", "-in", key, "-pubout").stdout
    done = call("ca", "rotate", "--config", config, **credentials)
    assert done.returncode == 1
    assert "tls.ca.key" in done.stderr


# what is wrong with it

def test_a_key_that_others_may_read(call, state):
    shown(call)
    (state / "ca.key").chmod(0o644)
    done = call("ca", "show")
    assert done.returncode == 1
    assert f"chmod 600 {state / 'ca.key'}" in done.stderr


def test_a_certificate_without_its_key(call, state):
    shown(call)
    (state / "ca.key").unlink()
    done = call("ca", "show")
    assert done.returncode == 1
    assert str(state / "ca.key") in done.stderr
    # it can still be given to those who trust it
    assert call("ca", "export").returncode == 0


def test_a_key_of_another(call, state):
    shown(call)
    key = openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256").stdout
    (state / "ca.key").write_bytes(key)
    done = call("ca", "show")
    assert done.returncode == 1
    assert str(state / "ca.pem") in done.stderr


@pytest.mark.parametrize("text", ["", "nonsense\n", "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n"])
def test_no_certificate(call, state, text):
    state.mkdir(0o700)
    (state / "ca.pem").write_text(text)
    for verb in (["ca", "show"], ["ca", "export"], ["env"], ["run", "--", "true"]):
        done = call(*verb)
        assert done.returncode == 1
        assert str(state / "ca.pem") in done.stderr


def test_a_state_directory_that_cannot_be(call, tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below", "/proc/nowhere"):
        for verb in (["ca", "show"], ["env"], ["run", "--", "true"]):
            done = call(*verb, STATE_DIRECTORY=str(path))
            assert done.returncode == 1
            assert len(done.stderr.strip().splitlines()) == 1 and str(path) in done.stderr


def test_without_a_home_the_accounts_is_found(binary, tmp_path):
    # the sanitizers' options are how the program runs, not where
    known = {name: value for name, value in os.environ.items() if name == "PATH" or name.endswith("SAN_OPTIONS")}
    done = subprocess.run(
        [binary, "ca", "show"], capture_output=True, text=True, timeout=30,
        env={**known, "XDG_STATE_HOME": str(tmp_path)})
    assert done.returncode == 0
    assert (tmp_path / "usher" / "ca.key").exists()


def test_constraints_that_changed(call, write_config):
    shown(call)
    config = write_config({"tls": {"ca": {"constrain_to": ["staging.example.com"]}}})
    done = call("ca", "show", "--config", config)
    assert done.returncode == 0
    assert "usher ca rotate" in done.stderr
    assert call("ca", "rotate", "--config", config).returncode == 0
    done = call("ca", "show", "--config", config)
    assert "rotate" not in done.stderr and "staging.example.com" in done.stdout


# env

def test_env_for_a_shell(call, state, write_config):
    config = write_config({"listen": ["0.0.0.0:4128"]})
    done = call("env", "--config", config)
    assert done.returncode == 0
    printed = subprocess.run(
        ["sh", "-c", f'{done.stdout}\nenv'], check=True, capture_output=True, text=True,
        env={"PATH": os.environ["PATH"]})
    variables = dict(line.split("=", 1) for line in printed.stdout.splitlines())
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        assert variables[name] == "http://127.0.0.1:4128"
    assert variables["NO_PROXY"] == variables["no_proxy"] == ""
    for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "DENO_CERT",
                 "AWS_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO"):
        assert variables[name] == str(bundle_of(state))
    assert f"-Djavax.net.ssl.trustStore={bundle_of(state).with_suffix('.p12')}" in variables["JAVA_TOOL_OPTIONS"]
    as_json = json.loads(call("env", "--config", config, "--json").stdout)
    assert {name: variables[name] for name in as_json} == as_json


def test_the_bundle_holds_the_systems_roots_too(call, state):
    call("env")
    held = bundle_of(state).read_text()
    assert (state / "ca.pem").read_text().strip() in held
    system = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
    if system.exists():
        assert held.count("BEGIN CERTIFICATE") > system.read_text().count("BEGIN CERTIFICATE") * 0.9
    # asked for again from a shell that it was given to, it does not grow
    call("env", SSL_CERT_FILE=str(bundle_of(state)))
    assert bundle_of(state).read_text() == held


def test_env_of_a_proxy_that_speaks_tls(call, write_config):
    done = call("env", "--json", "--config", write_config({"listen": ["https://127.0.0.1:4129"]}))
    variables = json.loads(done.stdout)
    assert variables["HTTPS_PROXY"] == variables["http_proxy"] == "https://127.0.0.1:4129"


def test_env_of_a_port_that_is_not_known(call, write_config):
    done = call("env", "--config", write_config({"listen": ["127.0.0.1:0"]}))
    assert done.returncode == 1
    assert "usher run" in done.stderr and not done.stdout


def test_paths_with_quotes_and_spaces(binary, tmp_path):
    folder = tmp_path / "it's a folder"
    done = subprocess.run(
        [binary, "env"], capture_output=True, text=True, check=True, timeout=30,
        env={**os.environ, "STATE_DIRECTORY": str(folder)})
    printed = subprocess.run(
        ["sh", "-c", f'{done.stdout}\nprintf "%s|%s" "$SSL_CERT_FILE" "$JAVA_TOOL_OPTIONS"'], capture_output=True,
        text=True, check=True)
    path, java = printed.stdout.split("|")
    assert path == str(bundle_of(folder))
    assert f'"-Djavax.net.ssl.trustStore={bundle_of(folder).with_suffix(".p12")}"' in java


# beside a proxy that runs

@pytest.fixture
def daemon(binary, write_config, tmp_path):
    """A proxy with a state directory of its own, and the configuration that names its port."""
    folder = tmp_path / "daemon"
    made = subprocess.run(
        [binary, "ca", "show"], env={**os.environ, "STATE_DIRECTORY": str(folder)}, capture_output=True, timeout=60)
    assert made.returncode == 0
    proxy = programs.Usher(
        binary, write_config({}, "daemon.yaml"), environment={"STATE_DIRECTORY": str(folder)})
    proxy.folder = folder
    proxy.named = write_config({"listen": [f"127.0.0.1:{proxy.port}"]}, "named.yaml")
    yield proxy
    assert proxy.stop() == 0


@pytest.mark.parametrize("has_own", [False, True])
def test_env_names_no_ca_that_the_proxy_does_not_sign_with(call, daemon, state, has_own):
    if has_own:
        assert call("ca", "show").returncode == 0
    before = sorted(state.glob("*"))
    done = call("env", "--config", daemon.named)
    assert done.returncode == 1 and not done.stdout
    (line,) = done.stderr.strip().splitlines()
    for words in (f"127.0.0.1:{daemon.port} uses another CA", str(state / "ca.pem"), "STATE_DIRECTORY"):
        assert words in line, line
    assert sorted(state.glob("*")) == before, "no second CA was made"
    # a command with a proxy of its own has its own CA
    assert call("run", "--config", daemon.named, "--", "true").returncode == 0


def test_the_remedy_helps(call, daemon, state):
    line = call("env", "--config", daemon.named).stderr
    fetch = re.search(r"curl -x \S+ --create-dirs -o \S+ http://usher.proxy/ca.pem", line)[0]
    folder = re.search(r"set STATE_DIRECTORY=(/\S+);", line)[1]
    subprocess.run(shlex.split(fetch), check=True, capture_output=True, timeout=60)
    done = call("env", "--config", daemon.named, "--json", STATE_DIRECTORY=folder)
    assert done.returncode == 0, done.stderr
    bundle = pathlib.Path(json.loads(done.stdout)["SSL_CERT_FILE"]).read_text()
    assert (daemon.folder / "ca.pem").read_text().strip() in bundle
    assert not (pathlib.Path(folder) / "ca.key").exists()


@pytest.mark.parametrize("verb", [["show"], ["export"]])
def test_no_ca_is_made_beside_another(call, daemon, state, verb):
    done = call("ca", *verb, "--config", daemon.named)
    assert done.returncode == 1 and "uses another CA" in done.stderr
    assert not state.exists()
    # one that is there is shown: usher run signs with it
    assert call("run", "--config", daemon.named, "--", "true").returncode == 0
    assert call("ca", *verb, "--config", daemon.named).returncode == 0


def test_the_daemons_own_folder_is_told(call, daemon):
    own = {"STATE_DIRECTORY": str(daemon.folder)}
    assert call("env", "--config", daemon.named, **own).returncode == 0
    # the proxy has not noticed yet: what it signs with is trusted all the same
    assert call("ca", "rotate", **own).returncode == 0
    assert call("env", "--config", daemon.named, **own).returncode == 0


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", None],
                         ids=["hangs up", "is another", "says nothing"])
def test_what_is_no_proxy_of_ushers_keeps_nobody(call, write_config, origin, answer):
    def serve(connection):
        connection.read_head()
        if answer is None:
            assert connection.socket.recv(1) == b"", "it hangs up by itself"
        elif answer:
            connection.send(answer)

    server = origin(Origin(serve))
    config = write_config({"listen": [server.authority]})
    assert call("env", "--config", config).returncode == 0
