import Testing

@testable import Interception

/// Why there is no answer: what a condition calls it, and when it is asked.
struct OriginFaultTests {
    private static func holds(_ condition: Condition, _ fault: OriginFault?) throws -> Bool {
        let subject = Subject(
            request: try request("GET http://a.example.com/"), response: nil, classification: nil, error: fault)
        return CompiledCondition(condition).holds(for: subject)
    }

    @Test(arguments: OriginFault.allCases)
    func everyFaultIsOfItsKinds(_ fault: OriginFault) throws {
        #expect(!fault.kinds.isEmpty)
        for kind in OriginFault.Kind.allCases {
            let isOfIt = try Self.holds(.test(.error, [.exact(kind.rawValue)]), fault)
            #expect(isOfIt == fault.kinds.contains(kind))
        }
        #expect(try Self.holds(.test(.error, [.glob("*")]), fault))
        #expect(try !Self.holds(.test(.error, [.exact("other")]), fault))
    }

    /// RFC 9209 has no type of its own for it.
    @Test func aHandshakeThatTakesTooLong() { #expect(OriginFault.handshakeTimeout.kinds == [.tls, .timeout]) }

    @Test func everyKindIsOfSomeFault() {
        #expect(Set(OriginFault.allCases.flatMap(\.kinds)) == Set(OriginFault.Kind.allCases))
    }

    @Test func whereThereIsNoneNothingMatches() throws {
        #expect(try !Self.holds(.test(.error, [.glob("*")]), nil))
        #expect(try Self.holds(.not(.test(.error, [.glob("*")])), nil))
    }

    @Test(arguments: [
        ("dns_error", [OriginFault.Kind.dns]), ("dns_timeout", [.dns, .timeout]),
        ("connection_refused", [.refused, .connect]), ("connection_timeout", [.connect, .timeout]),
        ("destination_unavailable", [.connect]), ("tls_certificate_error", [.tls]), ("tls_alert_received", [.tls]),
        ("tls_protocol_error", [.tls]), ("connection_terminated", [.reset]), ("http_response_timeout", [.timeout]),
        ("http_response_incomplete", [.incomplete, .reset]), ("http_protocol_error", [.malformed]),
    ])
    func theTypesOfRFC9209(token: String, kinds: [OriginFault.Kind]) {
        #expect(OriginFault(token: token)?.kinds == kinds)
    }

    @Test(arguments: [
        "http_request_error", "http_request_denied", "destination_ip_prohibited", "proxy_loop_detected",
        "proxy_internal_error", "connection_limit_reached",
    ])
    func whatNoOriginIsToBlameFor(token: String) { #expect(OriginFault(token: token) == nil) }

    @Test func askedOfNoRequestAndNoResponse() throws {
        let error = Condition.test(.error, [.glob("*")])
        for condition in [error, .not(error), .any([.always, error])] {
            let rule = Rule(
                name: "r", when: condition, request: [SetHeader([Pair("X", "1")])],
                response: [SetHeader([Pair("X", "1")])])
            let plan = Plan(rules: [rule])
            let asked = try request("GET http://a.example.com/")
            let answer = try response("HTTP/1.1 200 OK")
            #expect(plan.firstRequestMatch(asked, nil) == nil)
            #expect(plan.firstResponseMatch(answer, request: asked, nil) == nil)
            #expect(!plan.hasResponseRules)
            let told = explain([rule], asked)
            #expect(told.map(\.matched) == [false])
            #expect(told.first?.because == "its condition tests the error")
        }
    }
}
