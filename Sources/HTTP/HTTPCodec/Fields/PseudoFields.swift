/// The ranges of the pseudo-field values (RFC 9113 §8.3, RFC 8441 §4).
struct PseudoFields: Sendable {
    enum Part {
        case method, scheme, authority, path, protocolName, status

        /// - Parameter name: with its colon.
        init?(_ name: Span<UInt8>) {
            func matches(_ text: StaticString) -> Bool {
                guard name.count == text.utf8CodeUnitCount else { return false }
                for index in name.indices where name[index] != text.utf8Start[index] { return false }
                return true
            }
            if matches(":path") {
                self = .path
            } else if matches(":method") {
                self = .method
            } else if matches(":scheme") {
                self = .scheme
            } else if matches(":authority") {
                self = .authority
            } else if matches(":status") {
                self = .status
            } else if matches(":protocol") {
                self = .protocolName
            } else {
                return nil
            }
        }
    }

    private(set) var method: ByteRange?
    private(set) var scheme: ByteRange?
    private(set) var authority: ByteRange?
    private(set) var path: ByteRange?
    private(set) var protocolName: ByteRange?
    private(set) var status: ByteRange?

    subscript(_ part: Part) -> ByteRange? {
        get {
            switch part {
            case .method: method
            case .scheme: scheme
            case .authority: authority
            case .path: path
            case .protocolName: protocolName
            case .status: status
            }
        }
        set {
            switch part {
            case .method: method = newValue
            case .scheme: scheme = newValue
            case .authority: authority = newValue
            case .path: path = newValue
            case .protocolName: protocolName = newValue
            case .status: status = newValue
            }
        }
    }

    /// None of those that a request has.
    var hasNoRequest: Bool {
        method == nil && scheme == nil && authority == nil && path == nil && protocolName == nil
    }
}
