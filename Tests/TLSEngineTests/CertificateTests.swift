import COpenSSL
import Testing

@testable import TLSEngine

struct CertificateTests {
    static let now = 1_800_000_000
    private let authority: CertificateAuthority
    private let leaf: Certificate

    init() throws {
        authority = try .make(name: "Test", constraints: nil, now: Self.now)
        leaf = try authority.leaf(for: "www.example.com", key: .makeP256(), now: Self.now)
    }

    private func fault(_ bytes: [UInt8]) -> String? {
        defer { #expect(ErrorQueue.isEmpty) }
        do throws(MaterialFault) {
            _ = try Certificate.all(inPEM: bytes)
            return nil
        } catch {
            return error.words
        }
    }

    @Test("Certificates come back from PEM in their order, whatever stands between them")
    func several() throws {
        let text = Array("0 s:CN = www.example.com\n".utf8)
        let key = try leafKey()
        let bytes = text + leaf.pem + text + key + authority.certificate.pem + text
        #expect(try Certificate.all(inPEM: bytes).map(\.der) == [leaf.der, authority.certificate.der])
        #expect(try Certificate.all(inPEM: leaf.der).map(\.der) == [leaf.der])
        #expect(try Certificate(der: leaf.der).pem == leaf.pem)
        let lines = String(decoding: leaf.pem, as: UTF8.self)
        #expect(lines.hasPrefix("-----BEGIN CERTIFICATE-----\n") && lines.hasSuffix("-----END CERTIFICATE-----\n"))
        #expect(ErrorQueue.isEmpty)
    }

    private func leafKey() throws -> [UInt8] { try PrivateKey.makeP256().pem().bytes }

    @Test("The forms that OpenSSL writes for trusted certificates, and its old ones, are read")
    func trusted() throws {
        let text = try #require(
            MemoryText.written { PEM_write_bio_X509_AUX($0, authority.certificate.handle) == 1 })
        #expect(String(decoding: text, as: UTF8.self).hasPrefix("-----BEGIN TRUSTED CERTIFICATE-----"))
        #expect(try Certificate.all(inPEM: text).map(\.der) == [authority.certificate.der])
        let old = String(decoding: leaf.pem, as: UTF8.self).replacing(" CERTIFICATE", with: " X509 CERTIFICATE")
        #expect(try Certificate.all(inPEM: Array(old.utf8)).map(\.der) == [leaf.der])
    }

    @Test("What is no certificate says why")
    func garbage() throws {
        let whole = leaf.pem
        #expect(fault([]) == "holds no certificate in PEM")
        #expect(fault([0xFF, 0, 0x0A]) == "holds no certificate in PEM")
        #expect(try fault(leafKey()) == "holds no certificate in PEM")
        #expect(fault(Array(whole.dropLast(40))) == "holds a PEM block that is damaged or cut off")
        #expect(fault(whole + Array(whole.dropLast(40))) == "holds a PEM block that is damaged or cut off")
        let empty = Array("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n".utf8)
        #expect(fault(whole + empty) == "holds a certificate, the one at place 2, that cannot be read")
        #expect(fault([0x30, 0x81, 1, 2, 3]) == "is not a certificate in DER")
        #expect(fault(leaf.der + [0]) == "is not a certificate in DER")
        for count in stride(from: 0, to: leaf.der.count, by: 7) {
            #expect(throws: MaterialFault.self) { try Certificate(der: Array(leaf.der.prefix(count))) }
            #expect(ErrorQueue.isEmpty)
        }
    }

    @Test("A certificate says what stands in it")
    func reading() throws {
        let root = authority.certificate
        #expect(root.subject == root.issuer)
        #expect(leaf.subject == "CN=www.example.com")
        #expect(leaf.issuer == root.subject)
        #expect(leaf.commonName == "www.example.com")
        #expect(leaf.names == ["www.example.com"])
        #expect(root.names == [])
        #expect(root.isAuthority && root.isSelfIssued)
        #expect(!leaf.isAuthority && !leaf.isSelfIssued)
        #expect(leaf.sha256.count == 32)
        #expect(leaf.fingerprint.utf8.count == 95)
        #expect(leaf.fingerprint.split(separator: ":").map { UInt8($0, radix: 16) } == leaf.sha256)
        #expect(leaf.fingerprint == leaf.fingerprint.uppercased())
        #expect(leaf.publicKeyDigest != root.publicKeyDigest)
        #expect(root.publicKeyDigest == Encoded.sha256(authority.key.publicKeyInfo))
        #expect(ErrorQueue.isEmpty)
    }

    @Test(
        "Lifetimes are read in both forms of time, before 1970 and after 2050", arguments: [-86_400, 0, 2_600_000_000])
    func times(_ now: Int) throws {
        let key = try PrivateKey.makeP256()
        let draft = CertificateDraft(
            subject: CertificateDraft.name("x"), issuer: CertificateDraft.name("x"), publicKeyInfo: key.publicKeyInfo,
            notBefore: now, notAfter: now + 12_345, extensions: [CertificateExtension.isLeaf])
        let certificate = try draft.signed(by: key)
        #expect(certificate.notBefore == now)
        #expect(certificate.notAfter == now + 12_345)
    }

    @Test("A name with a zero in it is no name")
    func zero() throws {
        let key = try PrivateKey.makeP256()
        let name = CertificateDraft.name("good.example\0.evil.example")
        let alternative = DER.sequence(
            DER.identifier([0x55, 0x1D, 0x11]),
            DER.octets(
                DER.sequence(
                    DER.value(0x82, Array("good.example\0.evil.example".utf8)),
                    DER.value(0x82, Array("b.example".utf8)),
                    DER.value(0x87, [192, 0, 2, 1]), DER.value(0x87, [1, 2, 3]), DER.value(0x81, Array("a@b".utf8)))))
        let draft = CertificateDraft(
            subject: name, issuer: name, publicKeyInfo: key.publicKeyInfo, notBefore: 0, notAfter: 1,
            extensions: [alternative])
        let certificate = try draft.signed(by: key)
        #expect(certificate.names == ["b.example", "192.0.2.1"])
        #expect(certificate.commonName == nil)
        #expect(!certificate.subject.utf8.contains(0))
        #expect(ErrorQueue.isEmpty)
    }

    @Test("Revocation lists are read in PEM, several of them, and in DER; what is none says why")
    func lists() throws {
        let pem = try list()
        let two = try RevocationList.all(inPEM: Array("text\n".utf8) + pem + authority.certificate.pem + pem)
        #expect(two.count == 2)
        let der = Encoded.bytes { i2d_X509_CRL(two[0].handle, $0) }
        #expect(try RevocationList.all(inPEM: der).count == 1)
        #expect(ErrorQueue.isEmpty)
        let empty = Array("-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n".utf8)
        let cases: [([UInt8], String)] = [
            ([], "holds no certificate revocation list"),
            (authority.certificate.pem, "holds no certificate revocation list"),
            ([0x30, 0x01], "holds no certificate revocation list"),
            (Array(der.dropLast()), "holds no certificate revocation list"),
            (der + [0], "holds more than one certificate revocation list in DER"),
            (pem + empty, "holds a certificate revocation list, the one at place 2, that cannot be read"),
            (Array(pem.dropLast(40)), "holds a PEM block that is damaged or cut off"),
        ]
        for (bytes, words) in cases {
            #expect(throws: MaterialFault(words)) { try RevocationList.all(inPEM: bytes) }
            #expect(ErrorQueue.isEmpty)
        }
    }

    private func list() throws -> [UInt8] {
        let list = try #require(X509_CRL_new())
        defer { X509_CRL_free(list) }
        let time = ASN1_TIME_set(nil, Self.now)
        defer { ASN1_TIME_free(time) }
        X509_CRL_set_version(list, 1)
        X509_CRL_set_issuer_name(list, X509_get_subject_name(authority.certificate.handle))
        X509_CRL_set1_lastUpdate(list, time)
        try #require(X509_CRL_sign(list, authority.key.handle, EVP_sha256()) > 0)
        return try #require(MemoryText.written { PEM_write_bio_X509_CRL($0, list) == 1 })
    }
}
