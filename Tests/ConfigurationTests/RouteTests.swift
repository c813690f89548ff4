import Configuration
import ProxyCore
import Testing

@Suite struct RouteTests {
    private func table(_ via: String, environment: [String: String] = [:]) throws -> RouteTable {
        try snapshot("version: 1\ndestinations: { via: \(via) }", environment: environment).settings.routes
    }

    @Test func proxiesAndExceptions() throws {
        let table = try table(
            """
            [{ host: [intranet.example.com, 10.0.0.1], proxy: direct },
             { host: "*.Example.com", proxy: "http://user:${env.PASSWORD}@Proxy.example.com:8080/" }]
            """, environment: ["PASSWORD": "s%20e"])
        #expect(table.proxy(for: "intranet.example.com") == nil && table.proxy(for: "10.0.0.1") == nil)
        #expect(table.proxy(for: "a.example.com") == UpstreamProxy("http://user:s%20e@proxy.example.com:8080"))
        #expect(try self.table("[]").isEmpty)
        #expect(try snapshot("version: 1").settings.routes.isEmpty)
    }

    @Test func faults() {
        let found = diagnosis(
            """
            version: 1
            destinations:
              via:
                - { host: a.test, proxy: "https://proxy.test" }
                - { host: "http://a.test", proxy: "http://proxy.test" }
                - { host: b.test }
                - { host: [], proxy: direct }
                - { host: c.test, proxy: "http://user:hush@proxy.test/path" }
                - { host: d.test, proxy: "http://proxy.test", via: x }
            """)
        #expect(
            found.split(separator: "\n").map { $0.prefix(96) } == [
                "usher.yaml:4:30: error: destinations.via[0].proxy takes direct, or the http URL of a proxy witho",
                "usher.yaml:5:15: error: destinations.via[1].host takes a host, a host glob such as *.example.com",
                "usher.yaml:6:7: error: destinations.via[2] lacks the key \"proxy\"; it takes direct, or the http U",
                "usher.yaml:7:15: error: host takes at least one host or host glob",
                "usher.yaml:8:30: error: destinations.via[4].proxy takes direct, or the http URL of a proxy witho",
                "usher.yaml:9:51: error: unknown key \"via\" in destinations.via[5]; valid keys: host, proxy",
            ], "\(found)")
        #expect(!found.contains("hush"))
    }

    @Test func entriesThatAreNeverReached() {
        let found = diagnosis(
            """
            version: 1
            destinations:
              via:
                - { host: "*.test", proxy: direct }
                - { host: A.test, proxy: "http://proxy.test" }
                - { host: "*.b.test", proxy: "http://proxy.test" }
                - { host: "*", proxy: "http://proxy.test" }
            """)
        #expect(
            found
                == "usher.yaml:5:15: warning: \"A.test\" is never reached: \"*.test\" of line 4 comes first\n"
                + "usher.yaml:6:15: warning: \"*.b.test\" is never reached: \"*.test\" of line 4 comes first\n")
    }

    @Test func theSharesOfClients() throws {
        func limits(_ text: String) throws -> Limits { try snapshot("version: 1\nlimits: { \(text) }").settings.limits }
        #expect(try limits("connections: 400").perClient == 100 && limits("connections: 4").perClient == 64)
        #expect(try limits("connections: 4, per_client: 2").perClient == 2 && limits("header: 1KiB").perClient == 1024)
        #expect(try limits("buffered: 1MiB").buffered == 1 << 20)
        #expect(diagnosis("version: 1\nlimits: { buffered: 1KiB }").contains("limits.buffered takes a size"))
        let timeouts = try snapshot("version: 1\ntimeouts: { half_closed: 0s, drain: 2s }").settings.timeouts
        #expect(timeouts.halfClosed == 0 && timeouts.drain == 2_000)
    }

    @Test func thePool() throws {
        let settings = try snapshot(
            "version: 1\nlimits: { idle_per_origin: 3 }\ntimeouts: { pool_idle: 2m }"
        ).settings
        #expect(settings.limits.idlePerOrigin == 3 && settings.timeouts.poolIdle == 120_000)
        let plain = try snapshot("version: 1").settings
        #expect(plain.limits.idlePerOrigin == 64 && plain.timeouts.poolIdle == 30_000)
        #expect(diagnosis("version: 1\nlimits: { idle_per_origin: -1 }").contains("a number from 0 to 10000"))
        #expect(diagnosis("version: 1\ntimeouts: { pool_idle: 30 }").contains("a number needs a unit"))
    }
}
