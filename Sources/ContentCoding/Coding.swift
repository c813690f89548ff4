internal import Formats
public import HTTPCodec

/// A content coding that bodies are taken out of and put into (RFC 9110 §8.4.1).
public enum Coding: String, CaseIterable, Sendable {
    case gzip
    /// zlib's format (RFC 1950). Some send what it holds without its frame (RFC 1951), which is read as well.
    case deflate
    case brotli = "br"
    case zstd

    /// More of them on one body are refused: nobody sends that, and each costs its time.
    public static let most = 3

    /// - Returns: nil for one that is not known here.
    public init?(named name: some StringProtocol) {
        let name = ASCII.lowercased(name)
        // RFC 9110 §8.4.1.3
        guard let coding = Coding(rawValue: name == "x-gzip" ? "gzip" : name) else { return nil }
        self = coding
    }

    /// What the Content-Encoding of a message lists, in the order in which it was applied.
    public static func list(in fields: FieldTable) throws(CodingFault) -> [Coding] {
        var codings: [Coding] = []
        for slot in fields.slots where slot.known == .contentEncoding {
            for item in fields.text(slot.value).utf8.split(separator: 0x2C) {
                let name = String(decoding: trimmed(item), as: UTF8.self)
                // no coding at all (RFC 9110 §12.5.3); it stands there all the same
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

/// How far a body may unfold, in bytes. A small body of many like bytes is no bomb, so both bounds are needed: its size, and
/// how much larger than what came it is.
public struct CodingLimits: Equatable, Sendable {
    /// Of what is made, at every step where several codings are stacked.
    public var size: Int
    /// How many times as large as what came on the wire it may be.
    public var ratio: Int
    /// No ratio is asked of what is no larger than this.
    public var unmeasured: Int

    public init(size: Int, ratio: Int = 200, unmeasured: Int = 256 << 10) {
        self.size = size
        self.ratio = ratio
        self.unmeasured = unmeasured
    }

    /// What is made of so many bytes of the wire may have so many.
    func bound(received: Int) -> Int {
        let (dense, overflows) = received.multipliedReportingOverflow(by: ratio)
        return min(size, overflows ? size : max(dense, unmeasured))
    }
}

/// Why a body cannot be taken out of its coding, or put into one.
public enum CodingFault: Error, Equatable, Sendable {
    case unknown(String)
    case tooMany
    case truncated(Coding)
    case corrupt(Coding)
    /// Bytes behind its end.
    case trailing(Coding)
    /// More parts, one behind another, than `BodyDecoder.mostMembers`.
    case tooManyMembers(Coding)
    case tooLarge(limit: Int)
    case tooDense(ratio: Int)
    /// It asks for more memory than it is given.
    case memory(Coding)

    /// Completes "the body …".
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
