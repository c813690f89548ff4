import Configuration
import Interception
import ProxyCore
import Testing

/// What is said of all interceptors together, and how a retry is written.
struct ChainTests {
    private func chain(_ keys: String) throws -> ChainRules { try snapshot("version: 1\n\(keys)").settings.chain }

    @Test func keys() throws {
        #expect(try chain("") == ChainRules())
        #expect(try chain("compatibility: none\nresponse_order: file") == ChainRules())
        #expect(try chain("compatibility: cdt").compatibility == .cdt)
        #expect(try chain("response_order: reversed").responseOrder == .reversed)
    }

    private func policy(_ retry: String, _ compatibility: String = "none") throws -> RetryPolicy? {
        let rules = try snapshot(
            "version: 1\ncompatibility: \(compatibility)\ninterceptors: [{ name: a, response: [{ retry: \(retry) }] }]"
        ).settings.rules
        return try #require(rules.first?.response.first as? Retry).policy
    }

    @Test("A retry is yes, no, or how")
    func retries() throws {
        #expect(try policy("true") == RetryPolicy() && policy("{}") == RetryPolicy())
        #expect(try policy("false") == nil && policy("false", "cdt") == nil)
        #expect(try policy("{ times: 3 }")?.times == 3)
        let cdt = try #require(try policy("true", "cdt"))
        #expect(cdt.repeatsAny && cdt.times >= 10)
        let told = try #require(try policy("{ times: 2, methods: idempotent }", "cdt"))
        #expect(!told.repeatsAny && told.times == 2)
        #expect(try policy("{ methods: any }")?.repeatsAny == true)
    }

    private func warnings(_ text: String) -> [String] {
        diagnosis("version: 1\n\(text)").split(separator: "\n").filter { $0.contains("warning") }.map(String.init)
    }

    @Test func whatIsNeverHeardIsTold() {
        let flag = "interceptors: [{ name: a, response: [{ retry: false }] }]"
        #expect(warnings(flag).count == 1 && warnings("compatibility: cdt\n\(flag)").isEmpty)
        let failure = "interceptors: [{ name: a, when: { error: tls }, response: [{ abort: no }] }]"
        #expect(warnings(failure).count == 1 && warnings("compatibility: cdt\n\(failure)").isEmpty)
        let both =
            "interceptors: [{ name: a, when: { error: tls }, response: [{ abort: no }], error: [{ abort: no }] }]"
        #expect(warnings("compatibility: cdt\n\(both)").count == 1)
        let unset = #"interceptors: [{ name: a, request: [{ set_header: { A: "${state.a}" } }] }]"#
        #expect(warnings(unset).count == 1 && warnings("compatibility: cdt\n\(unset)").isEmpty)
    }

    @Test("Who comes behind one that ends a phase depends on its order")
    func order() {
        let rules = """
            interceptors:
              - { name: first, response: [{ set_status: 200 }] }
              - { name: ends, response: [{ abort: no }] }
              - { name: last, response: [{ set_status: 200 }] }
            """
        #expect(warnings(rules).map { $0.contains(":5:") } == [true])
        #expect(warnings("response_order: reversed\n\(rules)").map { $0.contains(":4:") } == [true])
    }
}
