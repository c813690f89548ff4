import Formats

/// The fields that Usher itself looks at, known by a number so that finding one compares no text.
public enum FieldName: UInt8, Sendable {
    case other
    case host, connection, keepAlive, proxyConnection, contentLength, transferEncoding, te, trailer, upgrade, via
    case expect, cookie, setCookie, authorization, proxyAuthorization, proxyAuthenticate, contentType, location
    case wwwAuthenticate, persistentAuth, maxForwards, xAuthenticateResponse, contentEncoding, date, accept, server
    case usherSession

    /// Identifies a field by its name, ignoring case.
    public init(_ name: String) {
        let bytes = Array(name.utf8)
        self = .identify(bytes.span, 0, bytes.count)
    }

    /// The name of the field in `bytes[range]`, without regard to case.
    static func identify(_ bytes: Span<UInt8>, _ lower: Int, _ upper: Int) -> FieldName {
        switch upper - lower {
        case 2: bytes.holds("te", at: lower) ? .te : .other
        case 3: bytes.holds("via", at: lower) ? .via : .other
        case 4:
            switch ASCII.lower(bytes[lower]) {
            case 0x68: bytes.holds("host", at: lower) ? .host : .other
            case 0x64: bytes.holds("date", at: lower) ? .date : .other
            default: .other
            }
        case 6:
            switch ASCII.lower(bytes[lower]) {
            case 0x63: bytes.holds("cookie", at: lower) ? .cookie : .other
            case 0x65: bytes.holds("expect", at: lower) ? .expect : .other
            case 0x61: bytes.holds("accept", at: lower) ? .accept : .other
            case 0x73: bytes.holds("server", at: lower) ? .server : .other
            default: .other
            }
        case 7:
            switch ASCII.lower(bytes[lower]) {
            case 0x75: bytes.holds("upgrade", at: lower) ? .upgrade : .other
            case 0x74: bytes.holds("trailer", at: lower) ? .trailer : .other
            default: .other
            }
        case 8: bytes.holds("location", at: lower) ? .location : .other
        case 10:
            switch ASCII.lower(bytes[lower]) {
            case 0x63: bytes.holds("connection", at: lower) ? .connection : .other
            case 0x6B: bytes.holds("keep-alive", at: lower) ? .keepAlive : .other
            case 0x73: bytes.holds("set-cookie", at: lower) ? .setCookie : .other
            default: .other
            }
        case 12:
            switch ASCII.lower(bytes[lower]) {
            case 0x63: bytes.holds("content-type", at: lower) ? .contentType : .other
            case 0x6D: bytes.holds("max-forwards", at: lower) ? .maxForwards : .other
            default: .other
            }
        case 13:
            switch ASCII.lower(bytes[lower]) {
            case 0x61: bytes.holds("authorization", at: lower) ? .authorization : .other
            case 0x75: bytes.holds("usher-session", at: lower) ? .usherSession : .other
            default: .other
            }
        case 14: bytes.holds("content-length", at: lower) ? .contentLength : .other
        case 15: bytes.holds("persistent-auth", at: lower) ? .persistentAuth : .other
        case 16:
            switch ASCII.lower(bytes[lower]) {
            case 0x70: bytes.holds("proxy-connection", at: lower) ? .proxyConnection : .other
            case 0x77: bytes.holds("www-authenticate", at: lower) ? .wwwAuthenticate : .other
            case 0x63: bytes.holds("content-encoding", at: lower) ? .contentEncoding : .other
            default: .other
            }
        case 17: bytes.holds("transfer-encoding", at: lower) ? .transferEncoding : .other
        case 18: bytes.holds("proxy-authenticate", at: lower) ? .proxyAuthenticate : .other
        case 19: bytes.holds("proxy-authorization", at: lower) ? .proxyAuthorization : .other
        case 23: bytes.holds("x-authenticate-response", at: lower) ? .xAuthenticateResponse : .other
        default: .other
        }
    }

    /// Fields that concern one connection only and never travel on (RFC 9110 §7.6.1), beside those that
    /// `Connection` names. `Transfer-Encoding` and `Content-Length` are left to the framing. `Usher-Session` is for this proxy alone.
    public var isHopByHop: Bool {
        switch self {
        case .connection, .keepAlive, .proxyConnection, .te, .transferEncoding, .upgrade, .proxyAuthorization,
            .proxyAuthenticate, .usherSession:
            true
        default: false
        }
    }

    /// Whether `Connection` may remove the field. Other fields decide where the message ends, where it goes, or whether it
    /// loops; removing them would change its meaning for the next recipient.
    var mayBeNamed: Bool {
        switch self {
        case .host, .expect, .via, .maxForwards: false
        default: !isProxysOwn
        }
    }

    /// Fields that frame a message or concern one connection: the proxy alone writes these, and no rule may.
    public var isProxysOwn: Bool { isHopByHop || self == .contentLength || self == .trailer }

    /// Whether the field may be a trailer. Fields for framing, routing, authorization or interpretation may not: a
    /// recipient would merge them into the head too late (RFC 9110 §6.5.1).
    var mayTrail: Bool {
        switch self {
        case .other, .date, .via, .server: true
        default: false
        }
    }
}
