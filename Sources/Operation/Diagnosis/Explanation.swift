public import Configuration
import Glibc
import HTTPCodec
import Interception
import ProxyCore

/// What Usher would make of one request, and of its answer: what `usher explain` says.
public struct Explanation {
    /// Why the text is no request, or no response, in one line.
    public struct Fault: Error, Sendable {
        public let description: String
    }

    let given: GivenRequest
    private let http2: HTTP2Settings
    /// What its origin answers, where that was given.
    let answer: GivenResponse?
    let dryRun: DryRun
    let redaction: Redaction
    /// What is said of each interceptor.
    let rules: [RuleVerdict]
    private let destinations: DestinationPolicy

    /// - Parameters:
    ///   - text: an HTTP message with an absolute-form request line, lines ended by CRLF or LF, or a curl command.
    ///   - response: the HTTP message that its origin answers with.
    /// - Throws: `Fault` when they can be read as neither.
    public init(_ text: [UInt8], response: [UInt8]? = nil, snapshot: Snapshot) throws(Fault) {
        let pasted = PastedText(text)
        given = try GivenRequest(pasted)
        http2 = snapshot.settings.http2
        destinations = snapshot.destinations
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
            throw Fault(description: "the message's body does not come to its end")
        }
        rules =
            dryRun.interceptors
            ?? snapshot.settings.rules.map {
                RuleVerdict(
                    name: $0.name, matched: false, because: "the request does not come as far as the interceptors")
            }
        redaction = Redaction(snapshot.settings)
    }

    // MARK: what came of it

    var classification: Classification {
        if let found = dryRun.classification { return found }
        return dryRun.isPlanned ? .unknownHost : Self.unclassified
    }

    private static let unclassified = Classification(
        action: nil, evidence: "The request does not come as far as being classified.")

    /// What the client speaks with Usher.
    var spoken: String { "\(given.version(http2).text)" }

    /// The same with the reason, where HTTP/2 was asked for.
    var protocolWords: String? {
        if given.keepsToHTTP1 { return "\(spoken): clients ask a proxy in it for what has an http URL" }
        guard given.wantsHTTP2 else { return nil }
        return given.version(http2) == .http2 ? spoken : "\(spoken): http2.clients is false, and HTTP/2 is not offered"
    }

    var forwarded: (head: RequestHead, body: [UInt8])? {
        if case .sent(let head, let body) = dryRun.outcome { (head, body) } else { nil }
    }

    /// Why it is not sent on.
    var end: String {
        answered?.words
            ?? "a tunnel is made, and what goes through it is another request: explain that one by its whole URL"
    }

    /// An answer that no origin gave.
    struct OwnAnswer {
        /// Nil where nothing valid was said at all.
        var status: Int?
        /// Nil where it is Usher's own.
        var interceptor: String?
        /// What went wrong, where that is why.
        var reason: String?

        var words: String {
            let who = interceptor.map { "interceptor \($0)" } ?? "usher"
            guard let status else { return "broken by \(who): \(reason ?? "")" }
            return "answered by \(who) with status \(status)" + (reason.map { ": \($0)" } ?? "")
        }
    }

    /// What the client gets in place of an origin's answer.
    var answered: OwnAnswer? {
        var status = dryRun.received?.head.status ?? 502
        // what the client does not understand it was told still
        if dryRun.received == nil, case .answered(let told) = dryRun.outcome { status = told }
        for moment in dryRun.moments {
            switch moment {
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
                + (dryRun.moments.contains(.leftToClient) ? "; the client asked to handle the advice itself" : "")
                + (dryRun.asksPerson ? "; where no answer fits, a person would be asked" : "")
        }
    }

    /// What AM is asked before it goes out.
    var decision: String? {
        for case .decision(let words) in dryRun.moments { return words }
        return nil
    }

    /// By way of which other proxy it goes.
    var route: String? {
        for case .routed(let peer) in dryRun.moments { return peer }
        return nil
    }

    /// What hangs on the address of its host, for no name is resolved here.
    var addressWords: String? {
        guard route == nil, let head = forwarded?.head else { return nil }
        return destinations.question(of: head.host, port: head.target.port)
    }

    /// What the client does not get before somebody else has answered, where it gets nothing yet.
    var pending: DryRequest? { dryRun.received == nil ? dryRun.sent.last : nil }
}
