import HTTPCodec
import Testing

@testable import ProxyCore

@Suite("The decision on a request's head")
struct ReceptionTests {
    private static let pages = OwnPages(["/": .init(type: "text/html", body: Array("here".utf8))])

    /// - Returns: the status that the request is refused with, 200 where it is answered here, or what it is.
    private func received(
        _ method: String, _ url: String, _ fields: [(String, String)] = [], framing: BodyFraming = .none,
        in tunnel: Origin? = nil, _ change: (inout Settings) -> Void = { _ in }
    ) throws -> String {
        let engine = Engine(settings(change), pages: Self.pages)
        var head = try RequestHead(method: method, url: url)
        for (name, value) in fields { head.fields.add(name, value) }
        var told: [UInt8] = []
        if let error = try Reception.refusal(of: &head, framing, in: tunnel, engine, url: &told) {
            return "\(error.status)"
        }
        #expect(!told.isEmpty)
        return switch try Reception(&head, engine, flow: 1, date: []) {
        case .proceeds: "proceeds"
        case .answered(let local): "\(local.head.status)"
        case .refused(let error, _): "\(error.status)"
        case .tunnel: "tunnel"
        case .ownTunnel(let origin): "own \(origin.port)"
        case .push: "push"
        case .authenticates: "a password"
        }
    }

    @Test func itProceeds() throws {
        #expect(try received("GET", "http://a.test/") == "proceeds")
        #expect(
            try received("GET", "http://a.test/", in: Origin(scheme: .http, host: "a.test", port: 80)) == "proceeds")
        #expect(try received("TRACE", "http://a.test/", [("Max-Forwards", "1")]) == "proceeds")
        #expect(try received("GET", "http://a.test/", [("Via", "1.1 other")]) == "proceeds")
    }

    @Test func itGoesNoFurther() throws {
        #expect(try received("GET", "http://a.test/", [("Via", "1.1 usher")]) == "508")
        #expect(try received("GET", "http://a.test/", in: Origin(scheme: .http, host: "b.test", port: 80)) == "421")
        #expect(try received("TRACE", "http://a.test/", [("Max-Forwards", "0")]) == "200")
        #expect(try received("POST", "http://a.test/", framing: .length(11)) { $0.limits.body = 10 } == "413")
        #expect(try received("POST", "http://a.test/", framing: .length(10)) { $0.limits.body = 10 } == "proceeds")
    }

    @Test func itIsForUsherItself() throws {
        #expect(try received("GET", "http://usher.proxy/") == "200")
        #expect(try received("GET", "http://usher.proxy/nothing") == "404")
        #expect(try received("POST", "http://usher.proxy/") == "405")
        // no device of the configuration takes pushes
        #expect(try received("POST", "http://usher.proxy/devices/push") == "405")
    }
}
