public import Configuration
import Glibc
import HTTPCodec
import Interception
import ProxyCore

/// The treatment of a request and its response, as `usher explain` reports it.
public struct Explanation {
    /// The reason why a text is no request or response, in one line.
    public struct Fault: Error, Sendable {
        public let description: String
    }

    let given: GivenRequest
    private let http2: HTTP2Settings
    /// The origin's response, if given.
    let answer: GivenResponse?
    let dryRun: DryRun
    let redaction: Redaction
    /// The verdict on each interceptor.
    let rules: [RuleVerdict]
    private let destinations: DestinationPolicy
    /// The environment of the request's host.
    let environment: HostEnvironment?

    /// - Parameters:
    ///   - text: an HTTP message with an absolute-form request line, with CRLF or LF, or a curl command.
    ///   - response: the HTTP message of the origin's response.
    /// - Throws: `Fault` if either cannot be parsed.
    public init(_ text: [UInt8], response: [UInt8]? = nil, snapshot: Snapshot) throws(Fault) {
        let pasted = PastedText(text)
        given = try GivenRequest(pasted)
        http2 = snapshot.settings.http2
        destinations = snapshot.destinations
        environment = snapshot.settings.environments.environment(of: given.head.host)
        var origin = DryOrigin.silent
        if let response = response ?? pasted.response {
            let answer = try GivenResponse(response, to: given.head)
            origin = .always(.bytes(answer.message))
            self.answer = answer
        } else {
            answer = nil
        }
        dryRun = DryRun(
            given.message(snapshot.settings.http2), in: given.tunnel, snapshot.settings,
            pages: PageBuilder.pages(snapshot, at: nil),
            destinations: snapshot.destinations, origin: origin, payload: pasted.payload,
            time: time(nil), perform: CodeWait.answer)
        if case .incomplete = dryRun.outcome {
            throw Fault(description: "the body of the message is incomplete")
        }
        rules =
            dryRun.interceptors
            ?? snapshot.settings.rules.map {
                RuleVerdict(
                    name: $0.name, matched: false, because: "the request does not reach the interceptors")
            }
        redaction = Redaction(snapshot.settings)
    }

    // MARK: results

    var classification: Classification {
        if let found = dryRun.classification { return found }
        return dryRun.isPlanned ? .unknownHost : Self.unclassified
    }

    private static let unclassified = Classification(
        action: nil, evidence: "The request is not classified.")

    /// The HTTP version between the client and Usher.
    var spoken: String { "\(given.version(http2).text)" }

    /// The version with its reason, if HTTP/2 was requested.
    var protocolWords: String? {
        if given.keepsToHTTP1 { return "\(spoken): clients use it with a proxy for http URLs" }
        guard given.wantsHTTP2 else { return nil }
        return given.version(http2) == .http2 ? spoken : "\(spoken): http2.clients is false, and HTTP/2 is not offered"
    }

    var forwarded: (head: RequestHead, body: [UInt8])? {
        if case .sent(let head, let body) = dryRun.outcome { (head, body) } else { nil }
    }

    /// The reason why the request is not sent on.
    var end: String {
        answered?.words
            ?? "this opens a tunnel; explain the request in the tunnel by its absolute URL"
    }

    /// A response that does not come from an origin.
    struct OwnAnswer {
        /// Nil if the client got no valid response.
        var status: Int?
        /// Nil if the response is Usher's own.
        var interceptor: String?
        /// The error that caused the response, if any.
        var reason: String?

        var words: String {
            let who = interceptor.map { "interceptor \($0)" } ?? "usher"
            guard let status else { return "broken by \(who): \(reason ?? "")" }
            return "response of \(who) with status \(status)" + (reason.map { ": \($0)" } ?? "")
        }
    }

    /// The response in place of the origin's.
    var answered: OwnAnswer? {
        var status = dryRun.received?.head.status ?? 502
        // a response that the client cannot parse was still sent
        if dryRun.received == nil, case .answered(let told) = dryRun.outcome { status = told }
        for event in dryRun.events {
            switch event {
            case .responded(let interceptor, let status):
                return OwnAnswer(status: status, interceptor: interceptor)
            case .broken(let interceptor, let breakage):
                return OwnAnswer(status: nil, interceptor: interceptor, reason: breakage.words)
            case .failed(_, let details): return OwnAnswer(status: status, reason: details)
            default: continue
            }
        }
        if case .answered(let status) = dryRun.outcome { return OwnAnswer(status: status) }
        return nil
    }

    var protection: String? {
        dryRun.resource.map {
            "protected by \($0)"
                + (dryRun.events.contains(.leftToClient) ? "; the client asked to handle the advice itself" : "")
                + (dryRun.asksPerson ? "; if no answer matches, a person is asked" : "")
        }
    }

    /// AM's decision about the request.
    var decision: String? {
        for case .decision(let words) in dryRun.events { return words }
        return nil
    }

    /// The upstream proxy.
    var route: String? {
        for case .routed(let peer) in dryRun.events { return peer }
        return nil
    }

    /// The rules that depend on the host's address, because `explain` resolves no names.
    var addressWords: String? {
        guard route == nil, let head = forwarded?.head else { return nil }
        return ([destinations] + destinations.others).lazy.compactMap {
            $0.question(of: head.host, port: head.target.port)
        }.first
    }

    /// The pending request, if the client has no response before it is answered.
    var pending: DryRequest? { dryRun.received == nil ? dryRun.sent.last : nil }
}
