import COpenSSL
import Testing

@testable import TLSEngine

struct PKCS12Tests {
    private static let now = 1_800_000_000
    private let root: CertificateAuthority
    private let issuer: CertificateAuthority
    private let key: PrivateKey
    private let leaf: Certificate

    init() throws {
        root = try .make(name: "Root", constraints: nil, now: Self.now)
        // its cross certificate stands between the root and the leaf
        issuer = try root.rotated(constraints: nil, now: Self.now)
        key = try .makeP256()
        leaf = try issuer.leaf(for: "client.example", key: key, now: Self.now)
    }

    private func container(
        _ others: [Certificate], password: String?, certificate: Certificate? = nil, key: PrivateKey? = nil,
        cipher: Int32 = 0
    ) throws -> [UInt8] {
        let stack = OPENSSL_sk_new_null()
        defer { OPENSSL_sk_free(stack) }
        for other in others { OPENSSL_sk_push(stack, UnsafeRawPointer(other.handle)) }
        let made = PKCS12_create(
            password, "client", key?.handle, certificate?.handle, stack, cipher, cipher, 0, 0, 0)
        let container = try #require(made)
        defer { PKCS12_free(container) }
        return Encoded.bytes { i2d_PKCS12(container, $0) }
    }

    private func fault(_ bytes: [UInt8], _ password: String?) -> String? {
        defer { #expect(ErrorQueue.isEmpty) }
        do throws(MaterialFault) {
            _ = try PKCS12.identity(bytes, password: password.map { SecretBytes($0) })
            return nil
        } catch {
            return error.words
        }
    }

    @Test(
        "An identity comes with its chain in order, without its root and what else there is",
        arguments: [0, NID_pbe_WithSHA1And3_Key_TripleDES_CBC])
    func identity(_ cipher: Int32) throws {
        let stranger = try CertificateAuthority.make(name: "Stranger", constraints: nil, now: Self.now).certificate
        let third = try issuer.rotated(constraints: nil, now: Self.now)
        let low = try third.leaf(for: "client.example", key: key, now: Self.now)
        let bytes = try container(
            [root.certificate, stranger] + third.crosses.reversed(), password: "pass wörd", certificate: low, key: key,
            cipher: cipher)
        let identity = try PKCS12.identity(bytes, password: SecretBytes("pass wörd"))
        #expect(identity.certificate.der == low.der)
        #expect(identity.key.isSame(as: key))
        #expect(identity.chain.map(\.der) == third.crosses.map(\.der))
        #expect(ErrorQueue.isEmpty)
    }

    @Test("The password is right or it is not")
    func passwords() throws {
        let locked = try container([], password: "secret", certificate: leaf, key: key)
        #expect(fault(locked, "secret") == nil)
        #expect(fault(locked, nil) == "is locked; give its password")
        for wrong in ["", "Secret", "secret "] {
            #expect(fault(locked, wrong) == "is locked with another password; correct the password")
        }
        // an empty password is one too, and nobody has to give it
        let open = try container([], password: "", certificate: leaf, key: key)
        #expect(fault(open, nil) == nil)
        #expect(fault(open, "") == nil)
    }

    @Test("What is no identity says why")
    func garbage() throws {
        let whole = try container([], password: "x", certificate: leaf, key: key)
        #expect(fault([], "x") == "is not a PKCS#12 container")
        #expect(fault(leaf.pem, "x") == "is not a PKCS#12 container")
        #expect(fault(leaf.der, "x") == "is not a PKCS#12 container")
        #expect(fault(Array(whole.dropLast()), "x") == "is not a PKCS#12 container")
        #expect(try fault(container([], password: "x", key: key), "x") == "holds no certificate for its private key")
        #expect(try fault(container([root.certificate], password: "x"), "x") == "holds no private key")
        var bent = whole
        bent[bent.count / 2] ^= 0x55
        #expect(fault(bent, "x") != nil)
    }

    @Test("Ciphers that OpenSSL 3 left behind are named as what they are")
    func old() {
        #expect(
            fault(Base64Fixture.legacyContainer, "changeit")
                == "is encrypted in an old way that OpenSSL 3 does not read; open it with openssl pkcs12 -legacy and write it anew"
        )
    }

    @Test("A trust store holds every certificate under a name of its own, marked as trusted")
    func trustStore() throws {
        let again = try CertificateAuthority(certificate: root.certificate, key: root.key)
        let bytes = try PKCS12.trustStore(
            [root.certificate, issuer.certificate, again.certificate], password: "changeit")
        #expect(ErrorQueue.isEmpty)
        // anyExtendedKeyUsage in trustedKeyUsage, once for each
        let mark: [UInt8] = [
            0x06, 0x0C, 0x60, 0x86, 0x48, 0x01, 0x86, 0xF9, 0x66, 0xAD, 0xCA, 0x7B, 0x01, 0x01, 0x31, 0x06, 0x06, 0x04,
            0x55,
            0x1D, 0x25, 0x00,
        ]
        #expect(bytes.indices.filter { bytes[$0...].starts(with: mark) }.count == 3)
        #expect(fault(bytes, "changeit") == "holds no private key")
        #expect(fault(bytes, "other") == "is locked with another password; correct the password")

        let container = try #require(
            bytes.withUnsafeBufferPointer {
                var next = $0.baseAddress
                return d2i_PKCS12(nil, &next, $0.count)
            })
        defer { PKCS12_free(container) }
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        try #require(PKCS12_parse(container, "changeit", &key, &certificate, &others) == 1)
        defer { OPENSSL_sk_free(others) }
        #expect(key == nil && certificate == nil)
        var names: Set<String> = []
        var held: [[UInt8]] = []
        for index in 0..<usher_sk_X509_num(others) {
            let entry = Certificate(owning: try #require(usher_sk_X509_value(others, index)))
            held.append(entry.der)
            var count: Int32 = 0
            let alias = try #require(X509_alias_get0(entry.handle, &count))
            names.insert(
                String(decoding: UnsafeBufferPointer(start: alias, count: Int(count)), as: UTF8.self).lowercased())
        }
        #expect(held == [root.certificate.der, issuer.certificate.der, root.certificate.der])
        #expect(names.count == 3)
    }

    @Test("A trust store of nothing is not made")
    func empty() {
        #expect(throws: MaterialFault("could not be put into a PKCS#12 container")) {
            try PKCS12.trustStore([], password: "changeit")
        }
        #expect(ErrorQueue.isEmpty)
    }
}
