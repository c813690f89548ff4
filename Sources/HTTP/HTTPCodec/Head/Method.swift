/// A request method (RFC 9110 §9), by number where it is one of the usual ones.
public enum Method: UInt8, Sendable {
    case other, get, head, post, put, delete, connect, options, trace, patch

    /// The method of that name; case matters.
    public init(_ name: String) {
        let bytes = Array(name.utf8)
        self = .identify(bytes.span, 0, bytes.count)
    }

    static func identify(_ bytes: Span<UInt8>, _ lower: Int, _ upper: Int) -> Method {
        func matches(_ name: StaticString) -> Bool {
            for index in 0..<name.utf8CodeUnitCount where bytes[lower &+ index] != name.utf8Start[index] {
                return false
            }
            return true
        }
        switch upper - lower {
        case 3: return matches("GET") ? .get : matches("PUT") ? .put : .other
        case 4: return matches("POST") ? .post : matches("HEAD") ? .head : .other
        case 5: return matches("PATCH") ? .patch : matches("TRACE") ? .trace : .other
        case 6: return matches("DELETE") ? .delete : .other
        case 7: return matches("OPTIONS") ? .options : matches("CONNECT") ? .connect : .other
        default: return .other
        }
    }

    /// Safe to send a second time without asking (RFC 9110 §9.2.2).
    public var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options, .trace: true
        default: false
        }
    }

    /// False where RFC 9110 §9.3 says that a body means nothing.
    public var givesBodyMeaning: Bool {
        switch self {
        case .get, .head, .delete, .trace, .connect: false
        default: true
        }
    }
}
