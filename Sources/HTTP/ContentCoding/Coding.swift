internal import Formats
public import HTTPCodec

/// A content coding that Usher decodes and encodes (RFC 9110 §8.4.1).
public enum Coding: String, CaseIterable, Sendable {
    case gzip
    /// zlib's format (RFC 1950). Bare deflate data (RFC 1951), which some servers send, is read as well.
    case deflate
    case brotli = "br"
    case zstd

    /// The most codings of one body; more are refused.
    public static let most = 3

    /// - Returns: nil if the coding is unknown.
    public init?(named name: some StringProtocol) {
        let name = ASCII.lowercased(name)
        // RFC 9110 §8.4.1.3
        guard let coding = Coding(rawValue: name == "x-gzip" ? "gzip" : name) else { return nil }
        self = coding
    }

    /// Returns the codings in the Content-Encoding of a message, in the order in which they were applied.
    public static func list(in fields: FieldTable) throws(CodingFault) -> [Coding] {
        var codings: [Coding] = []
        for slot in fields.slots where slot.known == .contentEncoding {
            for item in fields.text(slot.value).utf8.split(separator: 0x2C) {
                let name = String(decoding: trimmed(item), as: UTF8.self)
                // identity is no coding (RFC 9110 §12.5.3), though some send it
                if name.isEmpty || ASCII.equal(name, "identity") { continue }
                guard let coding = Coding(named: name) else { throw .unknown(name) }
                codings.append(coding)
                guard codings.count <= most else { throw .tooMany }
            }
        }
        return codings
    }

    private static func trimmed(_ item: Substring.UTF8View) -> Substring.UTF8View {
        func isSpace(_ byte: UInt8) -> Bool { byte == ASCII.space || byte == ASCII.tab }
        var rest = item.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }
}

/// Bounds of decoding, in bytes. Both are needed, since a small repetitive body is harmless: the size, and the ratio to the
/// input.
public struct CodingLimits: Equatable, Sendable {
    /// The largest output of each coding.
    public var size: Int
    /// The largest ratio of the output to the bytes received.
    public var ratio: Int
    /// Output up to this size may have any ratio.
    public var unmeasured: Int

    public init(size: Int, ratio: Int = 200, unmeasured: Int = 256 << 10) {
        self.size = size
        self.ratio = ratio
        self.unmeasured = unmeasured
    }

    /// The largest output for so many bytes received.
    func bound(received: Int) -> Int {
        let (dense, overflows) = received.multipliedReportingOverflow(by: ratio)
        return min(size, overflows ? size : max(dense, unmeasured))
    }
}

/// The reason why decoding or encoding failed.
public enum CodingFault: Error, Equatable, Sendable {
    case unknown(String)
    case tooMany
    case truncated(Coding)
    case corrupt(Coding)
    /// Bytes follow the end of the coded data.
    case trailing(Coding)
    /// The body has more members or frames than `BodyDecoder.mostMembers`.
    case tooManyMembers(Coding)
    case tooLarge(limit: Int)
    case tooDense(ratio: Int)
    /// The coding needs more memory than is allowed.
    case memory(Coding)

    /// The reason, as the end of a sentence that begins "the body …".
    public var explanation: String {
        switch self {
        case .unknown(let name): "is in the coding \(String(name.prefix(40))), which is not known here"
        case .tooMany: "is in more than \(Coding.most) codings"
        case .truncated(let coding): "ends before its \(coding.rawValue) does"
        case .corrupt(let coding): "is no \(coding.rawValue)"
        case .trailing(let coding): "goes on behind the end of its \(coding.rawValue)"
        case .tooManyMembers(let coding):
            "is made of more than \(BodyDecoder.mostMembers) parts in \(coding.rawValue)"
        case .tooLarge(let limit): "has more than \(limit) bytes when it is unpacked"
        case .tooDense(let ratio): "has more than \(ratio) times as many bytes when it is unpacked"
        case .memory(let coding): "needs more memory for its \(coding.rawValue) than it is given"
        }
    }
}
