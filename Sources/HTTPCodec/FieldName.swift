/// The fields that Usher itself looks at, known by a number so that finding one compares no text.
public enum FieldName: UInt8, Sendable {
    case other
    case host, connection, keepAlive, proxyConnection, contentLength, transferEncoding, te, trailer, upgrade, via
    case expect, cookie, setCookie, authorization, proxyAuthorization, proxyAuthenticate, contentType, location
    case wwwAuthenticate, persistentAuth, maxForwards, xAuthenticateResponse, contentEncoding, date, accept, server

    /// Which field a name names, without regard to case.
    public init(_ name: String) {
        let bytes = Array(name.utf8)
        self = .identify(bytes.span, 0, bytes.count)
    }

    /// The name of the field in `bytes[range]`, without regard to case.
    static func identify(_ bytes: Span<UInt8>, _ lower: Int, _ upper: Int) -> FieldName {
        switch upper - lower {
        case 2: matches(bytes, lower, "te") ? .te : .other
        case 3: matches(bytes, lower, "via") ? .via : .other
        case 4:
            switch ASCII.lower(bytes[lower]) {
            case 0x68: matches(bytes, lower, "host") ? .host : .other
            case 0x64: matches(bytes, lower, "date") ? .date : .other
            default: .other
            }
        case 6:
            switch ASCII.lower(bytes[lower]) {
            case 0x63: matches(bytes, lower, "cookie") ? .cookie : .other
            case 0x65: matches(bytes, lower, "expect") ? .expect : .other
            case 0x61: matches(bytes, lower, "accept") ? .accept : .other
            case 0x73: matches(bytes, lower, "server") ? .server : .other
            default: .other
            }
        case 7:
            switch ASCII.lower(bytes[lower]) {
            case 0x75: matches(bytes, lower, "upgrade") ? .upgrade : .other
            case 0x74: matches(bytes, lower, "trailer") ? .trailer : .other
            default: .other
            }
        case 8: matches(bytes, lower, "location") ? .location : .other
        case 10:
            switch ASCII.lower(bytes[lower]) {
            case 0x63: matches(bytes, lower, "connection") ? .connection : .other
            case 0x6B: matches(bytes, lower, "keep-alive") ? .keepAlive : .other
            case 0x73: matches(bytes, lower, "set-cookie") ? .setCookie : .other
            default: .other
            }
        case 12:
            switch ASCII.lower(bytes[lower]) {
            case 0x63: matches(bytes, lower, "content-type") ? .contentType : .other
            case 0x6D: matches(bytes, lower, "max-forwards") ? .maxForwards : .other
            default: .other
            }
        case 13: matches(bytes, lower, "authorization") ? .authorization : .other
        case 14: matches(bytes, lower, "content-length") ? .contentLength : .other
        case 15: matches(bytes, lower, "persistent-auth") ? .persistentAuth : .other
        case 16:
            switch ASCII.lower(bytes[lower]) {
            case 0x70: matches(bytes, lower, "proxy-connection") ? .proxyConnection : .other
            case 0x77: matches(bytes, lower, "www-authenticate") ? .wwwAuthenticate : .other
            case 0x63: matches(bytes, lower, "content-encoding") ? .contentEncoding : .other
            default: .other
            }
        case 17: matches(bytes, lower, "transfer-encoding") ? .transferEncoding : .other
        case 18: matches(bytes, lower, "proxy-authenticate") ? .proxyAuthenticate : .other
        case 19: matches(bytes, lower, "proxy-authorization") ? .proxyAuthorization : .other
        case 23: matches(bytes, lower, "x-authenticate-response") ? .xAuthenticateResponse : .other
        default: .other
        }
    }

    private static func matches(_ bytes: Span<UInt8>, _ lower: Int, _ name: StaticString) -> Bool {
        let expected = name.utf8Start
        for index in 0..<name.utf8CodeUnitCount where ASCII.lower(bytes[lower &+ index]) != expected[index] {
            return false
        }
        return true
    }

    /// Fields that concern one connection only and never travel on (RFC 9110 §7.6.1), beside those that
    /// `Connection` names. `Transfer-Encoding` and `Content-Length` are left to the framing.
    public var isHopByHop: Bool {
        switch self {
        case .connection, .keepAlive, .proxyConnection, .te, .transferEncoding, .upgrade, .proxyAuthorization,
            .proxyAuthenticate:
            true
        default: false
        }
    }

    /// Fields that frame a message or concern one connection: the proxy alone writes these, and no rule may.
    public var isProxysOwn: Bool { isHopByHop || self == .contentLength || self == .trailer }

    /// Whether it may come as a trailer. What frames, routes, authorizes or explains the message may not: a recipient
    /// that merges trailers into the head would obey it too late (RFC 9110 §6.5.1).
    var mayTrail: Bool {
        switch self {
        case .other, .date, .via, .server: true
        default: false
        }
    }
}
