internal import HTTPCodec
import Interception
import TLSEngine

/// Why Usher answered in the origin's place: a proxy error type of RFC 9209 §2.3, the status that goes with it, and
/// words for a person.
public struct ProxyError: Error, Equatable, Sendable {
    public var token: String
    public var status: Int
    /// One sentence: what happened and, where there is one, the remedy.
    public var details: String
    /// The status of the next hop's answer, where that is what went wrong (RFC 9209 §2.1.4).
    public var receivedStatus: Int?
    /// What DNS said (RFC 9209 §2.3.2).
    public var rcode: String?
    /// The alert that the next hop sent (RFC 9209 §2.3.17).
    public var alert: UInt8?
    /// Of an interceptor's abort: 1 where the request was not to go out, 2 where what came of it was not to be delivered.
    public var abortCode: Int?
    /// Further fields of the answer's head.
    public var fields: [Field] = []
    /// What it is to interceptors; nil where no origin is to blame.
    var fault: OriginFault?

    /// One of them.
    public struct Field: Equatable, Sendable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public init(_ token: String, status: Int, _ details: String, receivedStatus: Int? = nil) {
        self.token = token
        self.status = status
        self.details = details
        self.receivedStatus = receivedStatus
        fault = OriginFault(token: token)
    }

    /// The client's request breaks a rule.
    static func broken(_ fault: HTTPFault) -> ProxyError {
        ProxyError(
            "http_request_error", status: fault.status,
            "\(fault.explanation) (\(fault.code.rawValue), byte \(fault.offset))")
    }

    init(_ failure: LeaseFailure, _ origin: Origin) {
        switch failure {
        case .unresolvable(let words, let rcode):
            self.init("dns_error", status: 502, "the name \(origin.hop.host) could not be resolved: \(words)")
            self.rcode = rcode
        case .unresolved:
            self.init(
                "dns_timeout", status: 504,
                "the name \(origin.hop.host) could not be resolved: no name server answered within timeouts.resolve")
        case .overloaded:
            self.init(
                "dns_error", status: 503,
                "the name \(origin.hop.host) was not looked up: too many others are waited for")
        case .tooManyNames:
            self.init(
                "dns_error", status: 503,
                "the name \(origin.hop.host) was not looked up: too many others are waited for by this client")
        case .refused(let words):
            self.init("connection_refused", status: 502, "\(origin.peer) refused the connection: \(words)")
        case .timedOut:
            var does = "did not accept a connection"
            if case .tunnel = origin.route { does = "made no tunnel to \(origin)" }
            self.init("connection_timeout", status: 504, "\(origin.peer) \(does) within timeouts.connect")
        case .tunnelRefused(let status): self.init(refusalBy: origin.peer, of: "\(origin)", status: status)
        case .forbidden(let entry):
            self.init(
                "destination_ip_prohibited", status: 403,
                "the configuration forbids \(origin) (destinations: \(entry))")
        case .loop:
            self.init("proxy_loop_detected", status: 508, "\(origin.peer) is this proxy itself")
        case .insecure(let fault): self.init(fault, origin)
        case .failed(let words):
            self.init("destination_unavailable", status: 502, "no connection to \(origin): \(words)")
        }
    }

    /// TLS with the origin did not come about, or broke.
    init(_ fault: TLSFault, _ origin: Origin) {
        let to = "no TLS with \(origin.serverName.map { "\($0) at " } ?? "")\(origin): "
        switch fault.kind {
        case .certificate: self.init("tls_certificate_error", status: 502, to + fault.words)
        case .alert(let alert):
            self.init("tls_alert_received", status: 502, to + fault.words + Self.remedy(alert))
            self.alert = alert
        case .version: self.init("tls_protocol_error", status: 502, to + fault.words + Self.remedy(70))
        case .protocolError, .closed: self.init("tls_protocol_error", status: 502, to + fault.words)
        case .local:
            self.init("proxy_internal_error", status: 502, to + fault.words)
            self.fault = .tls
        }
    }

    /// What may be done about an alert of an origin.
    private static func remedy(_ alert: UInt8) -> String {
        switch alert {
        case 40, 42, 46, 48, 116:
            "; it may want another client certificate than tls.client_certificates has for it, or one at all"
        case 70: "; tls.upstream.minimum says what is allowed, 1.2 at least"
        case 112: "; it does not know that name"
        case 120: "; it does not speak http/1.1"
        default: ""
        }
    }

    static func handshakeTimeout(_ origin: Origin) -> ProxyError {
        var error = ProxyError(
            "connection_timeout", status: 504,
            "\(origin) accepted the connection and did not finish the TLS handshake within timeouts.tls")
        error.fault = .handshakeTimeout
        return error
    }

    /// An upstream proxy does not do what destinations.via has it asked for.
    private init(refusalBy proxy: String, of destination: String, status: Int) {
        guard status != 407 else {
            self = .credentialsRefused(proxy)
            return
        }
        self.init(
            "destination_unavailable", status: 502,
            "\(proxy) made no tunnel to \(destination) but answered with status \(status)", receivedStatus: status)
        fault = .proxyRefused
    }

    /// The 407 of an upstream proxy concerns this configuration, not the client.
    static func credentialsRefused(_ proxy: String) -> ProxyError {
        var error = ProxyError(
            "proxy_configuration_error", status: 502,
            "\(proxy) wants a user name and password, or other ones than destinations.via gives it (status 407)",
            receivedStatus: 407)
        error.fault = .proxyRefused
        return error
    }

    /// An interceptor ended the exchange.
    static func aborted(
        _ phase: PhaseJudgement.Phase, by interceptor: String, _ reason: String, _ terms: RouterTerms
    ) -> ProxyError {
        let isRequest = phase == .request
        let object = terms.hasClient ? "" : isRequest ? " the call" : " the answer to the call"
        var error = ProxyError(
            isRequest ? "http_request_denied" : "proxy_internal_error", status: 502,
            "interceptor \(interceptor) aborted\(object): \(reason)")
        error.abortCode = isRequest ? 1 : 2
        return error
    }

    static func badRequest(_ status: Int, _ details: String) -> ProxyError {
        ProxyError("http_request_error", status: status, details)
    }

    static func badResponse(_ details: String) -> ProxyError {
        ProxyError("http_protocol_error", status: 502, details)
    }

    static func tooManyConnections(_ details: String) -> ProxyError {
        ProxyError("connection_limit_reached", status: 503, details)
    }

    static func tooManyOfClient(_ who: String) -> ProxyError {
        tooManyConnections("\(who) holds as many connections as limits.per_client allows")
    }

    /// A client has too much under way in streams.
    static func tooManyStreams(_ limit: Int) -> ProxyError {
        var error = tooManyConnections(
            "this client has \(limit) requests under way in streams, beside the first of each of its connections: more is not allowed"
                + " (the larger one of limits.per_client and http2.streams)")
        error.fields = [Field("Retry-After", "1")]
        return error
    }

    static func noRoom(_ what: String) -> ProxyError {
        ProxyError(
            "proxy_internal_error", status: 503,
            "\(what): all that limits.buffered allows is in use, or this client's half of it; try again later")
    }

    static let clientHalfClosed = ProxyError(
        "http_response_timeout", status: 504,
        "the client closed its side, and nothing of an answer came within timeouts.half_closed; the request was given up"
    )

    /// The origin's stream or its connection ended in the middle of an answer.
    static func incomplete(_ ending: StreamEnding) -> ProxyError {
        ProxyError("http_response_incomplete", status: 502, "\(ending.words) before its answer was complete")
    }

    /// It ended before one.
    static func terminated(_ ending: StreamEnding) -> ProxyError {
        ProxyError(
            ending.blamesProtocol ? "http_protocol_error" : "connection_terminated", status: 502,
            "\(ending.words) without an answer")
    }

    /// An interceptor gave the request up.
    static func missed(_ wish: TimeoutWish) -> ProxyError {
        ProxyError(
            "http_response_timeout", status: 504,
            "the origin did not answer within the \(wish.milliseconds) ms of interceptor \(wish.interceptor)")
    }

    static let responseTimeout = ProxyError(
        "http_response_timeout", status: 504, "the origin did not answer within timeouts.response")
    static let bodyTimeout = ProxyError(
        "http_request_error", status: 408, "the request's body did not arrive within timeouts.idle")
    static let requestTimeout = ProxyError(
        "http_request_error", status: 408, "the request did not arrive within timeouts.header")
}
