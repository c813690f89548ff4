import Configuration
import TLSEngine
import Testing

/// What is said of certificates that can be read and yet will not do, and of keys that do not fit one another.
@Suite struct TLSFaultTests {
    private func diagnose(
        _ tls: String, listen: String = "", files: [String: FileContent] = [:], now: Int = Material.now
    )
        -> String
    {
        diagnosis(
            "version: 1\ntls: { \(tls) }\n\(listen)", environment: ["SET": "s3cret"], files: files, now: now)
    }

    // MARK: what the CA may speak for

    @Test(arguments: [
        ("\"*.staging.example.com\"", "staging.example.com"), ("a.b.example.com", "a.b.example.com"),
        ("\"*.b.example.com:443\", 10.1.0.0/16", "10.1.0.0/16, b.example.com"),
        ("\"*\", a.example.com", "staging.example.com"), ("private", "staging.example.com"),
        ("\"*ging.example.com\", \"*.example.com\"", "example.com"),
    ])
    func anUnboundAuthorityIsWarnedOf(_ hosts: String, _ example: String) {
        let expected =
            "warning: tls.ca.constrain_to is missing, so whoever has the CA's key can impersonate every host; add "
            + "ca: { constrain_to: [\(example)] }\n"
        #expect(diagnose("intercept: [\(hosts)]") == "usher.yaml:2:19: \(expected)")
        #expect(diagnose("ca: { certificate: a.pem }, intercept: [\(hosts)]") == "usher.yaml:2:8: \(expected)")
        #expect(diagnose("ca: { constrain_to: [\"*\"] }, intercept: [\(hosts)]").contains("constrain_to[0] takes"))
        #expect(diagnose("ca: {}, intercept: []").isEmpty)
    }

    @Test(arguments: [
        ("\"*.staging.example.com\"", true), ("staging.example.com", true), ("A.Staging.Example.com:443", true),
        ("\"*.a.staging.example.com\"", true), ("\"a*.staging.example.com\"", true), ("10.1.2.3", true),
        ("10.1.0.0/16", true), ("\"10.1.2.3:443\"", true), ("\"a*z.staging.example.com\"", true),
        ("\"*.example.com\"", false), ("\"*\"", false), ("\"*staging.example.com\"", false), ("example.com", false),
        ("nostaging.example.com", false), ("11.0.0.1", false), ("8.0.0.0/6", false), ("\"::1\"", false),
        ("loopback", false), ("\"*.staging.example.*\"", false),
    ])
    func whatIsOpenedMustBePermitted(_ host: String, _ isPermitted: Bool) {
        let found = diagnose("intercept: [\(host)], ca: { constrain_to: [staging.example.com, 10.0.0.0/8] }")
        #expect(found.isEmpty == isPermitted, "\(found)")
        #expect(isPermitted || found.hasPrefix("usher.yaml:2:20: error: tls.ca.constrain_to does not permit all of"))
    }

    @Test func theRemedyForWhatIsNotPermitted() {
        let bound = "ca: { constrain_to: staging.example.com }"
        #expect(diagnose("intercept: \"*.example.org\", \(bound)").contains("; add example.org to it, or remove it"))
        #expect(diagnose("intercept: \"*\", \(bound)").contains("; name its hosts one by one, or remove it"))
    }

    @Test func aListenerMustBePermittedToo() {
        let bound = "ca: { constrain_to: [staging.example.com] }"
        let listen = "listen: [\"https://127.0.0.1:3129\", \"127.0.0.1:3128\", \"https://192.0.2.1:3129\"]"
        #expect(
            diagnose(bound, listen: listen)
                == "usher.yaml:3:10: warning: tls.ca.constrain_to does not permit 127.0.0.1, so clients refuse "
                + "the certificate of https://127.0.0.1:3129; add 127.0.0.1 to it, or name a certificate "
                + "in tls.listener\n"
        )
        #expect(diagnose("ca: { constrain_to: [a.test, 127.0.0.0/8] }", listen: listen).isEmpty)
        #expect(diagnose("ca: { constrain_to: [localhost] }", listen: listen).isEmpty)
        #expect(diagnose("", listen: listen).isEmpty)
    }

    // MARK: keys that ask for one another

    @Test func keysThatDoNothing() {
        #expect(
            diagnose("except: [a.test], on_refusal: tunnel")
                == "usher.yaml:2:8: warning: tls.except has no effect without tls.intercept, which names the "
                + "hosts to intercept\n"
                + "usher.yaml:2:26: warning: tls.on_refusal has no effect without tls.intercept, which names the "
                + "hosts to intercept\n"
        )
        #expect(diagnose("except: [], on_refusal: fail").isEmpty)
        #expect(
            diagnose("upstream: { trust: none, hosts: [{ host: a.test }] }")
                == "usher.yaml:2:27: warning: no root is trusted, so TLS to every origin fails; name roots in "
                + "tls.upstream.extra_trust\n"
                + "usher.yaml:2:41: warning: this entry has no effect; add verify, minimum or pins\n")
    }

    @Test func hostsThatAreNotVerified() {
        #expect(
            diagnose("upstream: { hosts: [{ host: old.test, verify: false }, { host: b.test, verify: true }] }")
                == "usher.yaml:2:36: warning: the certificates of \"old.test\" are not verified, so an attacker "
                + "on the way can read and change everything; if its root is known, add it to extra_trust "
                + "instead\n"
        )
    }

    // MARK: certificates

    @Test func keysThatAreNotTheCertificates() throws {
        let material = try Material()
        let (certificate, key) = try material.leaf("a.test")
        let files = [
            "a.pem": certificate, "chain.pem": material.root + certificate, "a.key": key, "other.key": material.rootKey,
        ]
        func found(_ certificate: String, _ key: String) -> String {
            diagnose("client_certificates: [{ host: a.test, certificate: \(certificate), key: \(key) }]", files: files)
        }
        #expect(found("a.pem", "a.key").isEmpty)
        #expect(
            found("a.pem", "other.key")
                == "usher.yaml:2:71: error: this is not the key of the first certificate in a.pem\n")
        #expect(
            found("chain.pem", "a.key")
                == "usher.yaml:2:75: error: this is not the key of the first certificate in chain.pem; put its "
                + "certificate first\n"
        )
        #expect(found("a.key", "a.key").hasPrefix("usher.yaml:2:59: error: the file a.key holds no certificate"))
        #expect(found("a.pem", "a.pem").hasPrefix("usher.yaml:2:71: error: the key file a.pem holds no "))
    }

    @Test func keysThatOthersMayRead() throws {
        let (certificate, key) = try Material().leaf("a.test")
        let open = FileContent(bytes: key.bytes, isWorldReadable: true)
        #expect(
            diagnose(
                "client_certificates: [{ host: a.test, certificate: a.pem, key: a.key }]",
                files: ["a.pem": certificate, "a.key": open])
                == "usher.yaml:2:71: error: the key file a.key is readable for every user; fix it: chmod o-r a.key\n"
        )
    }

    @Test func certificatesOutOfTheirTime() throws {
        let material = try Material()
        let (certificate, key) = try material.leaf("a.test")
        let files = ["a.pem": certificate, "a.key": key, "root.pem": material.root]
        func found(_ now: Int) throws -> [String] {
            diagnose(
                "client_certificates: [{ host: a.test, certificate: a.pem, key: a.key }], upstream: { extra_trust: root.pem }",
                files: files, now: now
            ).split(separator: "\n").map(String.init)
        }
        let parsed = try #require(try Certificate.all(inPEM: certificate.bytes).first)
        #expect(try found(Material.now).isEmpty)
        let expired = try found(parsed.notAfter + 10 * 86_400)
        #expect(expired == ["usher.yaml:2:59: warning: the certificate of a.pem expired 10 days ago"])
        let root = material.authority.certificate
        #expect(
            try found(root.notAfter + 3600).last
                == "usher.yaml:2:106: warning: root.pem holds the certificate \(root.subject), which expired less than a day ago"
        )
        let early = try found(parsed.notBefore - 86_400)
        #expect(early.first == "usher.yaml:2:59: warning: the certificate of a.pem is not valid for another 1 day")
    }

    @Test func clientCertificatesThatAreNeverReached() throws {
        let (certificate, key) = try Material().leaf("a.test")
        let found = diagnosis(
            """
            version: 1
            tls:
              client_certificates:
                - { host: "*.example.com", certificate: a.pem, key: a.key }
                - { host: [a.example.com, b.example.org, "*.example.com:443"], certificate: a.pem, key: a.key }
                - { host: "B.example.org:443", certificate: a.pem, key: a.key }
                - { host: "*", certificate: a.pem, key: a.key }
                - { host: 10.0.0.0/8, certificate: a.pem, key: a.key }
            """, files: ["a.pem": certificate, "a.key": key], now: Material.now)
        func line(_ place: String, _ host: String, _ earlier: String, _ line: Int) -> String {
            "usher.yaml:\(place): warning: \"\(host)\" is never reached: \"\(earlier)\" of line \(line) comes first\n"
        }
        #expect(
            found
                == line("5:16", "a.example.com", "*.example.com", 4)
                + line("5:46", "*.example.com:443", "*.example.com", 4)
                + line("6:15", "B.example.org:443", "b.example.org", 5) + line("8:15", "10.0.0.0/8", "*", 7))
    }

    @Test func aListenersCertificateThatIsShownNowhere() throws {
        let (certificate, key) = try Material().leaf("a.test")
        let files = ["a.pem": certificate, "a.key": key]
        let listener = "listener: { certificate: a.pem, key: a.key }"
        #expect(
            diagnose(listener, files: files)
                == "usher.yaml:2:18: warning: this certificate is never used, because no address in listen begins "
                + "with https://\n"
        )
        #expect(diagnose(listener, listen: "listen: [\"https://127.0.0.1:1\"]", files: files).isEmpty)
    }
}
