/// Why Usher answered in the origin's place: a proxy error type of RFC 9209 §2.3, the status that goes with it, and
/// words for a person.
public struct ProxyError: Equatable, Sendable {
    public var token: String
    public var status: Int
    /// One sentence: what happened and, where there is one, the remedy.
    public var details: String
    /// Further lines of the answer's head, without their ends.
    public var fields: [String] = []

    public init(_ token: String, status: Int, _ details: String) {
        self.token = token
        self.status = status
        self.details = details
    }

    init(_ failure: LeaseFailure, _ origin: Origin) {
        switch failure {
        case .unresolvable(let words):
            self.init("dns_error", status: 502, "the name \(origin.host) could not be resolved: \(words)")
        case .refused(let words):
            self.init("connection_refused", status: 502, "\(origin) refused the connection: \(words)")
        case .timedOut:
            self.init(
                "connection_timeout", status: 504, "\(origin) did not accept a connection within timeouts.connect")
        case .forbidden(let entry):
            self.init(
                "destination_ip_prohibited", status: 403,
                "the configuration forbids \(origin) (destinations: \(entry))")
        case .loop:
            self.init("proxy_loop_detected", status: 508, "\(origin) is this proxy itself")
        case .failed(let words):
            self.init("destination_unavailable", status: 502, "no connection to \(origin): \(words)")
        }
    }

    static func badRequest(_ status: Int, _ details: String) -> ProxyError {
        ProxyError("http_request_error", status: status, details)
    }

    static func badResponse(_ details: String) -> ProxyError {
        ProxyError("http_protocol_error", status: 502, details)
    }

    static let incompleteResponse = ProxyError(
        "http_response_incomplete", status: 502, "the origin closed the connection before its answer was complete")
    static let connectionTerminated = ProxyError(
        "connection_terminated", status: 502, "the origin closed the connection without an answer")
    static let responseTimeout = ProxyError(
        "http_response_timeout", status: 504, "the origin did not answer within timeouts.response")
    static let bodyTimeout = ProxyError(
        "http_request_error", status: 408, "the request's body did not arrive within timeouts.idle")
    static let requestTimeout = ProxyError(
        "http_request_error", status: 408, "the request did not arrive within timeouts.header")
}
