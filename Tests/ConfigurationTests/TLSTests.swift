import Authorization
import Configuration
import Formats
import Interception
import ProxyCore
import TLSEngine
import Testing

@Suite struct TLSTests {
    @Test func nothingIsOpenedUnlessToldSo() throws {
        let snapshot = try snapshot("version: 1\n")
        #expect(snapshot.tls.interception.isEmpty && snapshot.settings.interception.isEmpty)
        #expect(snapshot.tls.authority.certificate == nil && snapshot.tls.authority.key == nil)
        #expect(snapshot.tls.authority.constraints == nil)
        #expect(!snapshot.tls.keyLog && snapshot.tls.listener == nil && snapshot.tls.unverified.isEmpty)
        let origins = snapshot.tls.origins
        #expect(origins.usesSystemTrust && origins.minimum == .tls12 && origins.extraTrust.isEmpty)
        #expect(origins.revocationLists.isEmpty && origins.rules.isEmpty && origins.identities.isEmpty)
        #expect(snapshot.settings.limits.leafCertificates == 1024)
    }

    @Test func everyKeyArrives() throws {
        let material = try Material()
        let (certificate, key) = try material.leaf("proxy.test")
        let snapshot = try ConfigurationTests.snapshot(
            """
            version: 1
            listen: ["http://127.0.0.1:3128", "https://[::1]:0"]
            tls:
              intercept: ["*.staging.example.com", 10.0.0.0/8]
              except: pinned.staging.example.com
              on_refusal: tunnel
              key_log: true
              ca: { certificate: own.pem, key: own.key, constrain_to: [staging.example.com, 10.0.0.0/8] }
              listener: { certificate: proxy.pem, key: proxy.key }
              upstream:
                trust: none
                extra_trust: [root.pem, root.der]
                verify: true
                minimum: 1.3
                hosts:
                  - { host: [old.staging.example.com, "*.older.example.com"], verify: false, minimum: "1.2" }
                  - { host: pinned.example.com, pins: ["sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="] }
            limits: { leaf_certificates: 7 }
            """,
            files: [
                "proxy.pem": certificate + material.root, "proxy.key": key, "root.pem": material.root + material.root,
                "root.der": material.rootDER,
            ], now: Material.now)
        #expect(snapshot.listeners.map(\.description) == ["127.0.0.1:3128", "https://[::1]:0"])
        #expect(snapshot.listeners.map(\.isSecure) == [false, true])

        let policy = snapshot.settings.interception
        #expect(policy.opens("am.staging.example.com", port: 443) && policy.opens("10.1.2.3", port: 8443))
        #expect(!policy.opens("pinned.staging.example.com", port: 443) && !policy.opens("example.com", port: 443))
        #expect(policy.onRefusal == .tunnel && snapshot.tls.interception.hosts == policy.hosts)

        let authority = snapshot.tls.authority
        #expect(authority.certificate == "own.pem" && authority.constraints != nil)
        guard case .path("own.key")? = authority.key else { return #expect(Bool(false)) }
        #expect(authority.constraints?.permits("am.staging.example.com") == true)
        #expect(authority.constraints?.permits("am.example.com") == false)
        #expect(snapshot.tls.keyLog && snapshot.settings.limits.leafCertificates == 7)
        #expect(snapshot.tls.listener?.certificate.names == ["proxy.test"])
        #expect(snapshot.tls.listener?.chain.count == 1)

        let origins = snapshot.tls.origins
        #expect(!origins.usesSystemTrust && origins.extraTrust.count == 3 && origins.minimum == .tls13)
        #expect(
            origins.rules.map(\.host.description) == [
                "old.staging.example.com", "*.older.example.com", "pinned.example.com",
            ])
        #expect(origins.rules.map(\.verifies) == [false, false, nil])
        #expect(origins.rules.map(\.minimum) == [.tls12, .tls12, nil])
        #expect(origins.rules[2].pins == [Base64.decode("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=") ?? []])
        #expect(snapshot.tls.unverified.map(\.description) == ["old.staging.example.com", "*.older.example.com"])
        #expect(snapshot.warnings.map(\.line) == [16, 16])
    }

    /// A key may be a path, a credential, a secret file, or stand in the environment itself.
    @Test func keysComeFromEverywhere() throws {
        let material = try Material()
        let (certificate, key) = try material.leaf("app.test")
        let pem = String(decoding: key.bytes, as: UTF8.self)
        let closed = FileContent(bytes: key.bytes)
        var mounted = key
        // service managers hand credentials over as they like
        mounted.isWorldReadable = true
        for (written, file) in [
            ("app.key", "/etc/usher/app.key"), ("${credential.app-key}", "/run/c/app-key"),
            ("${file:keys/app.key}", "/etc/usher/keys/app.key"), ("${env.FOLDER}/app.key", "/srv/keys/app.key"),
            ("${env.KEY_PATH}", "/srv/keys/app.key"), ("${env.KEY}", "-"),
        ] {
            let snapshot = try load(
                """
                version: 1
                tls: { client_certificates: [{ host: am.test, certificate: app.pem, key: "\(written)" }] }
                """, file: "/etc/usher/usher.yaml",
                environment: [
                    "CREDENTIALS_DIRECTORY": "/run/c", "FOLDER": "/srv/keys", "KEY_PATH": "/srv/keys/app.key",
                    "KEY": pem,
                ],
                files: ["/etc/usher/app.pem": certificate, file: file.hasPrefix("/run") ? mounted : closed],
                now: Material.now
            ).get()
            #expect(snapshot.tls.origins.identities.map(\.host.description) == ["am.test"], "\(written)")
            #expect(snapshot.tls.origins.identities.first?.identity.certificate.names == ["app.test"])
        }
    }

    @Test func theAuthoritysKeyMayBeACredential() throws {
        let material = try Material()
        let text = "version: 1\ntls: { ca: { certificate: ca.pem, key: \"${credential.ca-key}\" } }"
        let snapshot = try ConfigurationTests.snapshot(
            text, environment: ["CREDENTIALS_DIRECTORY": "/c"], files: ["/c/ca-key": material.rootKey])
        guard case .material(let bytes)? = snapshot.tls.authority.key else { return #expect(Bool(false)) }
        #expect(try PrivateKey(pem: bytes).fits(material.authority.certificate))
        #expect(
            diagnosis(
                text, environment: ["CREDENTIALS_DIRECTORY": "/c"], files: ["/c/ca-key": material.root]
            ).hasPrefix("usher.yaml:2:40: error: this holds no private key in PEM"))
    }

    @Test func anAuthorizationServerMayBeCalledOverHTTPS() throws {
        let text = """
            version: 1
            am: [{ url: https://am.staging.example.com/am }]
            authorization: { resources: ["https://shop.staging.example.com/*", "https://*.example.com/*"] }
            """
        #expect(try snapshot(text).settings.authorization.first?.server.url == "https://am.staging.example.com/am")
        #expect(
            diagnosis(text)
                == [30, 68].map {
                    "usher.yaml:3:\($0): warning: requests there pass in tunnels that are not opened, so Usher "
                        + "recognises nothing; add the host to tls.intercept\n"
                }.joined())
        let opened = "tls: { intercept: [\"*.staging.example.com:443\"], ca: { constrain_to: staging.example.com } }"
        #expect(diagnosis("\(text)\n\(opened)").isEmpty)
        #expect(
            diagnosis(text.replacing("shop.staging.example.com", with: "shop.staging.example.com:8443") + "\n" + opened)
                .contains("usher.yaml:3:30"))
    }

    @Test func interceptorsSeeNothingOfAServerThatIsNotOpened() {
        let text = """
            version: 1
            am: [{ url: "https://am.example.com:8443/am" }]
            interceptors: [{ name: a, request: [{ set_method: PUT }] }]
            """
        #expect(
            diagnosis(text)
                == "usher.yaml:2:13: warning: requests to am.example.com pass in tunnels that are not opened, so "
                + "no interceptor sees them; add tls: { intercept: [\"am.example.com\"] }\n"
        )
        #expect(
            diagnosis("\(text)\ntls: { intercept: am.example.com, ca: { constrain_to: am.example.com } }").isEmpty)
    }

    @Test func listenersAreOfOneAddressWithOrWithoutTLS() throws {
        #expect(
            diagnosis("version: 1\nlisten: [\"127.0.0.1:1\", \"https://127.0.0.1:1\"]")
                == "usher.yaml:2:25: error: 127.0.0.1:1 is already in line 2; remove one\n")
        for text in ["https://127.0.0.1:1", "https://[::1]:1"] { #expect(Listener(text)?.description == text) }
        #expect(Listener("http://127.0.0.1:1")?.description == "127.0.0.1:1")
        for text in [
            "https://127.0.0.1", "https://", "https://https://127.0.0.1:1", "ftp://127.0.0.1:1", "https://127.0.0.1:1/",
        ] {
            #expect(Listener(text) == nil, "\(text)")
        }
    }
}
