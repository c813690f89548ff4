internal import HTTPCodec
import Interception
import TLSEngine

/// An error that Usher sends in the origin's place: an error type of RFC 9209 §2.3, its status, and a text for
/// people.
public struct ProxyError: Error, Equatable, Sendable {
    public var token: String
    public var status: Int
    /// One sentence: the problem and, if there is one, the remedy.
    public var details: String
    /// The status of the next hop's response, if that caused the error (RFC 9209 §2.1.4).
    public var receivedStatus: Int?
    /// The DNS response code (RFC 9209 §2.3.2).
    public var rcode: String?
    /// The alert that the next hop sent (RFC 9209 §2.3.17).
    public var alert: UInt8?
    /// The code of an interceptor's abort: 1 before the request is sent, 2 before the response is delivered.
    public var abortCode: Int?
    /// Further header fields of the response.
    public var fields: [Field] = []
    /// The fault as interceptors see it; nil when it is not the origin's.
    var fault: OriginFault?

    /// A header field of the response.
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

    /// The error for an invalid request.
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
                "the name \(origin.hop.host) could not be resolved: no name server responded within timeouts.resolve")
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
                "the configuration forbids \(origin): \(entry)")
        case .loop:
            self.init("proxy_loop_detected", status: 508, "\(origin.peer) is this proxy itself")
        case .insecure(let fault): self.init(fault, origin)
        case .failed(let words):
            self.init("destination_unavailable", status: 502, "no connection to \(origin): \(words)")
        }
    }

    /// The TLS handshake with the origin failed, or its connection broke.
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

    /// The remedy for an origin's alert.
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

    /// An upstream proxy (`destinations.via`) refused a request.
    private init(refusalBy proxy: String, of destination: String, status: Int) {
        guard status != 407 else {
            self = .credentialsRefused(proxy)
            return
        }
        self.init(
            "destination_unavailable", status: 502,
            "\(proxy) made no tunnel to \(destination) but responded with status \(status)", receivedStatus: status)
        fault = .proxyRefused
    }

    /// An upstream proxy sent 407: the configuration has wrong credentials; the client is not asked.
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
        let object = terms.hasClient ? "" : isRequest ? " the call" : " the response to the call"
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

    /// A client has too many exchanges under way in streams.
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
        "the client closed its side, and no response came within timeouts.half_closed; the request was given up"
    )

    /// The origin's stream or connection ended in the middle of a response.
    static func incomplete(_ ending: StreamEnding) -> ProxyError {
        ProxyError("http_response_incomplete", status: 502, "\(ending.words) before its response was complete")
    }

    /// The origin's stream or connection ended before a response.
    static func terminated(_ ending: StreamEnding) -> ProxyError {
        ProxyError(
            ending.blamesProtocol ? "http_protocol_error" : "connection_terminated", status: 502,
            "\(ending.words) without a response")
    }

    /// The request exceeded an interceptor's timeout.
    static func missed(_ wish: TimeoutWish) -> ProxyError {
        ProxyError(
            "http_response_timeout", status: 504,
            "the origin did not respond within the \(wish.milliseconds) ms of interceptor \(wish.interceptor)")
    }

    static let responseTimeout = ProxyError(
        "http_response_timeout", status: 504, "the origin did not respond within timeouts.response")
    static let bodyTimeout = ProxyError(
        "http_request_error", status: 408, "the request's body did not arrive within timeouts.idle")
    static let requestTimeout = ProxyError(
        "http_request_error", status: 408, "the request did not arrive within timeouts.header")
}
