import Interceptors
import Testing

@testable import Configuration

/// What a program registers.
struct Registered: AsyncRequestInterceptor, ResponseInterceptor {
    func intercept(request: Request, action: Action) async -> Request { request }
    func intercept(response: Response, request: Request, action: Action) -> Response { response }
}

private struct Responses: ResponseInterceptor {
    func intercept(response: Response, request: Request, action: Action) -> Response { response }
}

/// Interceptors that are written in Swift, as a configuration names them.
@Suite struct SwiftTests {
    private func diagnosis(_ rules: String, _ interceptors: [String: any Interceptor]) -> String {
        let text = "version: 1\ninterceptors:\n  - \(rules)\n"
        let loaded = ConfigurationLoader.load(
            text: text, file: "usher.yaml", environment: [:], interceptors: interceptors,
            readFile: { _ throws(FileFault) in throw .missing })
        switch loaded {
        case .success(let snapshot): return snapshot.warnings.map { "\($0)\n" }.joined()
        case .failure(let faults): return lines(faults)
        }
    }

    @Test func oneThatIsRegistered() {
        let name = "{ name: a, request: [{ swift: code }], response: [{ swift: { name: code } }] }"
        #expect(diagnosis(name, ["code": Registered()]) == "")
        #expect(
            diagnosis("{ name: a, request: [{ swift: { name: code, deadline: 1s } }] }", ["code": Registered()]) == "")
    }

    @Test func oneThatIsNot() {
        let rule = "{ name: a, request: [{ swift: force_auth }] }"
        #expect(
            diagnosis(rule, [:]).contains(
                "3:35: error: no interceptor is registered under \"force_auth\"; this program registers none"))
        let known = diagnosis(rule, ["force-auth": Registered(), "other": Registered()])
        #expect(known.contains("known: force-auth, other; did you mean \"force-auth\"?"), "\(known)")
    }

    @Test func oneThatNobodyNames() {
        let found = diagnosis("{ name: a, request: [{ swift: code }] }", ["code": Registered(), "other": Registered()])
        #expect(found.contains("warning: \"other\" is registered, but no interceptor runs it"), "\(found)")
    }

    @Test func oneOfTheOtherPhase() {
        let found = diagnosis("{ name: a, request: [{ swift: code }] }", ["code": Responses()])
        #expect(found.contains("conforms to neither RequestInterceptor nor AsyncRequestInterceptor"), "\(found)")
    }

    @Test func aDeadlineIsForWhatWaits() {
        let found = diagnosis(
            "{ name: a, response: [{ swift: { name: code, deadline: 1s } }] }", ["code": Registered()])
        #expect(found.contains("is synchronous") && found.contains("deadline has no effect"), "\(found)")
    }
}
