"""The certificates of the test world: an authority of its own, and everything that can be wrong with a certificate."""

import datetime
import ipaddress
import pathlib
import subprocess

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = datetime.timedelta(days=1)
# every good origin's names; a name under .localhost leads to this machine
NAMES = ["origin.localhost", "localhost", "*.wild.localhost", "xn--bcher-kva.localhost", "127.0.0.1", "::1"]
PASSWORD = b"open sesame"


def common_name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def general_name(text):
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def pem(*certificates):
    return b"".join(certificate.public_bytes(serialization.Encoding.PEM) for certificate in certificates)


def private(key, password=None):
    hidden = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hidden)


class Issuer:
    """A certificate authority: its certificate, its key, and those between it and the root."""

    def __init__(self, name, parent=None):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.parent = parent
        self.chain = []
        self.certificate = self._certificate(name)
        if parent:
            self.chain = [self.certificate, *parent.chain]

    def _certificate(self, name):
        signer = self.parent or self
        issued_by = self.parent.certificate.subject if self.parent else common_name(name)
        return (
            builder(common_name(name), issued_by, self.key, signer.key)
            .add_extension(x509.BasicConstraints(True, None), critical=True)
            .add_extension(x509.KeyUsage(False, False, False, False, False, True, True, False, False), critical=True)
            .sign(signer.key, hashes.SHA256()))

    def issue(self, name, names=(), key=None, days=(-1, 30), client=False, digest=None):
        """A leaf of this authority for `key`, good for `days` counted from now."""
        use = ExtendedKeyUsageOID.CLIENT_AUTH if client else ExtendedKeyUsageOID.SERVER_AUTH
        made = builder(common_name(name), self.certificate.subject, key, self.key, days)
        if names:
            made = made.add_extension(x509.SubjectAlternativeName([general_name(n) for n in names]), critical=False)
        return (
            made.add_extension(x509.BasicConstraints(False, None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([use]), critical=False)
            .sign(self.key, digest or hashes.SHA256()))

    def revocations(self, *certificates):
        """A list that revokes them, in PEM."""
        now = datetime.datetime.now(datetime.timezone.utc)
        made = (
            x509.CertificateRevocationListBuilder().issuer_name(self.certificate.subject)
            .last_update(now - DAY).next_update(now + 30 * DAY))
        for certificate in certificates:
            made = made.add_revoked_certificate(
                x509.RevokedCertificateBuilder().serial_number(certificate.serial_number)
                .revocation_date(now - DAY).build())
        return made.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def builder(subject, issuer, key, signer, days=(-1, 30)):
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + days[0] * DAY).not_valid_after(now + days[1] * DAY)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False))


class Certificates:
    """Files, made once: `NAME.pem` holds a server's chain and its key together, as servers like to read it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.root = Issuer("Test Root")
        self.issuing = Issuer("Test Issuing", self.root)
        self.stranger = Issuer("Stranger Root")
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.trust = self._write("root.pem", pem(self.root.certificate))
        self.good = self.server("good")
        self._make_bad_ones()
        self._make_clients()

    def _write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        # Usher reads no key that others can read
        path.chmod(0o600)
        return path

    def server(self, name, issuer=None, names=tuple(NAMES), key=None, chain=None, **options):
        """A server's certificate in a file of that name; for what is not named here see `Issuer.issue`."""
        issuer, key = issuer or self.issuing, key or self.key
        leaf = issuer.issue(names[0] if names else name, names, key, **options)
        return self._write(f"{name}.pem", pem(leaf, *(issuer.chain if chain is None else chain)) + private(key))

    def _make_bad_ones(self):
        self.server("expired", days=(-30, -1))
        self.server("not-yet", days=(1, 30))
        self.server("wrong-host", names=["elsewhere.test"])
        self.server("stranger", self.stranger)
        self.server("no-intermediate", chain=[])
        self.server("client-only", client=True)
        self.server("weak-key", key=rsa.generate_private_key(65537, 1024))
        self._make_sha1()
        alone = (
            builder(common_name("origin.localhost"), common_name("origin.localhost"), self.key, self.key)
            .add_extension(x509.SubjectAlternativeName([general_name(n) for n in NAMES]), critical=False)
            .sign(self.key, hashes.SHA256()))
        self._write("self-signed.pem", pem(alone) + private(self.key))
        revoked = self.server("revoked")
        leaf = x509.load_pem_x509_certificate(revoked.read_bytes())
        # a chain is checked whole: each authority in it says whom it revokes
        self.revocations = self._write("crl.pem", self.issuing.revocations(leaf) + self.root.revocations())

    def _make_sha1(self):
        """A leaf whose signature rests on SHA-1: the library above makes none any more."""
        wish = x509.CertificateSigningRequestBuilder().subject_name(common_name("origin.localhost"))
        request = self._write("sha1.csr", wish.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        signer = self._write("issuing.pem", pem(self.issuing.certificate) + private(self.issuing.key))
        extensions = self._write("sha1.cnf", b"subjectAltName=DNS:origin.localhost\nextendedKeyUsage=serverAuth\n")
        leaf = subprocess.run(
            ["openssl", "x509", "-req", "-in", request, "-CA", signer, "-CAkey", signer, "-sha1", "-days", "30",
             "-set_serial", "77", "-extfile", extensions], check=True, capture_output=True).stdout
        self._write("sha1.pem", leaf + pem(*self.issuing.chain) + private(self.key))

    def bad(self, name):
        path = self.folder / f"{name}.pem"
        assert path.exists(), name
        return path

    def _make_clients(self):
        """`app` is one that origins accept: PEM with and without a password, and p12."""
        self.client_root = Issuer("Client Root")
        self.client_trust = self._write("client-root.pem", pem(self.client_root.certificate))
        key = ec.generate_private_key(ec.SECP256R1())
        app = self.client_root.issue("app", key=key, client=True)
        self.app_certificate = self._write("app.pem", pem(app))
        self.app_key = self._write("app.key", private(key))
        self.app_locked_key = self._write("app-locked.key", private(key, PASSWORD))
        self.app_p12 = self._write("app.p12", pkcs12.serialize_key_and_certificates(
            b"app", key, app, [self.client_root.certificate], serialization.BestAvailableEncryption(PASSWORD)))

    def key_digest(self, certificate):
        """SHA-256 of the public key of a certificate in PEM, as pins say it."""
        found = x509.load_pem_x509_certificate(pathlib.Path(certificate).read_bytes())
        digest = hashes.Hash(hashes.SHA256())
        digest.update(found.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo))
        return digest.finalize()
