import Testing

@testable import TLSEngine

struct PrivateKeyTests {
    private func fault(_ body: () throws(MaterialFault) -> Void) -> String? {
        defer { #expect(ErrorQueue.isEmpty) }
        do throws(MaterialFault) {
            try body()
            return nil
        } catch {
            return error.words
        }
    }

    @Test("A key comes back from the PEM that it was written as")
    func roundTrip() throws {
        let keys = [
            try PrivateKey.makeP256(), try KeyForms.curve("P-384"), try KeyForms.rsa(), try KeyForms.ed25519(),
        ]
        for key in keys {
            let pem = try key.pem()
            #expect(pem.bytes.starts(with: Array("-----BEGIN PRIVATE KEY-----\n".utf8)))
            #expect(try PrivateKey(pem: pem).isSame(as: key))
            #expect(ErrorQueue.isEmpty)
        }
    }

    @Test("SEC 1 and PKCS#1 are read, behind text and certificates, with a byte order mark and with line ends of DOS")
    func traditional() throws {
        let certificate = try CertificateAuthority.make(name: "Test", constraints: nil, now: 1_800_000_000).certificate
        for key in [try PrivateKey.makeP256(), try KeyForms.rsa()] {
            let pem = try KeyForms.traditional(key)
            #expect(try PrivateKey(pem: SecretBytes(pem)).isSame(as: key))
            let before = Array("subject: somebody\n".utf8) + certificate.pem + Array("the key:\n".utf8)
            #expect(try PrivateKey(pem: SecretBytes(before + pem)).isSame(as: key))
            #expect(try PrivateKey(pem: SecretBytes([0xEF, 0xBB, 0xBF] + pem)).isSame(as: key))
            let dos = pem.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
            #expect(try PrivateKey(pem: SecretBytes(dos)).isSame(as: key))
        }
        let key = try PrivateKey.makeP256()
        // what openssl ecparam -genkey writes before a key
        let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        let pem = try Array(parameters.utf8) + KeyForms.traditional(key)
        #expect(try PrivateKey(pem: SecretBytes(pem)).isSame(as: key))
        #expect(ErrorQueue.isEmpty)
    }

    @Test("An encrypted key opens with its password alone, and nobody is asked for it", arguments: [true, false])
    func encrypted(_ isSealed: Bool) throws {
        let key = try PrivateKey.makeP256()
        let words = "open sesame, \u{fc}"
        let pem = SecretBytes(
            isSealed ? try KeyForms.sealed(key, password: words) : try KeyForms.traditional(key, password: words))
        #expect(try PrivateKey(pem: pem, password: SecretBytes(words)).isSame(as: key))
        #expect(ErrorQueue.isEmpty)
        #expect(
            fault { () throws(MaterialFault) in _ = try PrivateKey(pem: pem) }
                == "holds a private key that is encrypted; give its password")
        for wrong in ["open sesame", "", String(repeating: "long", count: 1000)] {
            #expect(
                fault { () throws(MaterialFault) in _ = try PrivateKey(pem: pem, password: SecretBytes(wrong)) }
                    == "holds a private key that this password does not open; correct the password")
        }
    }

    @Test("A password for a key that needs none is not looked at")
    func needless() throws {
        let key = try PrivateKey.makeP256()
        #expect(try PrivateKey(pem: key.pem(), password: SecretBytes("x")).isSame(as: key))
    }

    @Test("What is no key says why")
    func garbage() throws {
        let certificate = try CertificateAuthority.make(name: "Test", constraints: nil, now: 1_800_000_000).certificate
        let whole = try PrivateKey.makeP256().pem().bytes
        let cut = Array(whole.prefix(whole.count / 2))
        let empty = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n"
        let foreign = "-----BEGIN OPENSSH PRIVATE KEY-----\nMAA=\n-----END OPENSSH PRIVATE KEY-----\n"
        let cases: [([UInt8], String)] = [
            ([], "holds no private key in PEM"),
            ([0, 255, 10, 10], "holds no private key in PEM"),
            (certificate.pem, "holds no private key in PEM"),
            (cut, "holds a PEM block that is damaged or cut off"),
            (Array(empty.utf8), "holds a private key that is damaged"),
            (
                Array(foreign.utf8),
                "holds a private key in a form that is not read here (OPENSSH PRIVATE KEY); make it PKCS#8 with openssl "
                    + "pkcs8 -topk8"
            ),
        ]
        for (bytes, words) in cases {
            #expect(fault { () throws(MaterialFault) in _ = try PrivateKey(pem: SecretBytes(bytes)) } == words)
        }
    }

    @Test("A key fits its own certificate and no other")
    func fits() throws {
        let authority = try CertificateAuthority.make(name: "Test", constraints: nil, now: 1_800_000_000)
        #expect(authority.key.fits(authority.certificate))
        #expect(try !PrivateKey.makeP256().fits(authority.certificate))
        #expect(ErrorQueue.isEmpty)
        #expect(throws: MaterialFault("holds a key that is not the certificate's")) {
            try Identity(certificate: authority.certificate, key: .makeP256())
        }
    }

    @Test("Secret bytes leave nothing in the array that they came in")
    func secret() {
        var bytes: [UInt8] = [1, 2, 3]
        let secret = SecretBytes(taking: &bytes)
        #expect(bytes.isEmpty)
        #expect(secret.bytes == [1, 2, 3])
    }
}
