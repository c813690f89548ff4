/// A frame of HTTP/2, written and read by hand (RFC 9113 §4.1).
struct WireFrame {
    enum Kind: UInt8, CaseIterable {
        case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation

        var name: String {
            switch self {
            case .data: "DATA"
            case .headers: "HEADERS"
            case .priority: "PRIORITY"
            case .resetStream: "RST_STREAM"
            case .settings: "SETTINGS"
            case .pushPromise: "PUSH_PROMISE"
            case .ping: "PING"
            case .goAway: "GOAWAY"
            case .windowUpdate: "WINDOW_UPDATE"
            case .continuation: "CONTINUATION"
            }
        }
    }

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    var kind: Kind
    var flags: UInt8
    var stream: UInt32
    var payload: [UInt8]

    /// The words of a step: `HEADERS 1 END_STREAM`. What is a number behind the stream is the payload, in 32 bits each; what is
    /// `ID=VALUE` is a setting.
    /// - Parameter block: fields line by line for frames that have some, else the payload.
    init?(_ words: [String], _ block: [UInt8]) {
        guard words.count > 1, let kind = Kind.allCases.first(where: { $0.name == words[0] }),
            let stream = UInt32(words[1])
        else { return nil }
        self.kind = kind
        self.stream = stream
        flags = 0
        payload = []
        let hasFields = kind == .headers || kind == .continuation
        for word in words.dropFirst(2) {
            if let flag = Self.flags(kind).first(where: { $0.name == word }) {
                flags |= flag.bit
            } else if let number = UInt32(word) {
                payload += Self.bytes(number)
            } else {
                let parts = word.split(separator: "=").compactMap { UInt32($0) }
                guard parts.count == 2 else { return nil }
                payload += Self.bytes(parts[0]).suffix(2) + Self.bytes(parts[1])
            }
        }
        payload += hasFields ? Self.fields(block) : block
    }

    private init(_ kind: Kind, _ head: ArraySlice<UInt8>, _ payload: [UInt8]) {
        self.kind = kind
        flags = head[head.startIndex + 4]
        stream = Self.number(head.suffix(4))
        self.payload = payload
    }

    /// All in these bytes, and what is not whole.
    static func all(in bytes: [UInt8]) -> (frames: [WireFrame], rest: [UInt8]) {
        var rest = bytes[...]
        var frames: [WireFrame] = []
        while rest.count >= 9, let kind = Kind(rawValue: rest[rest.startIndex + 3]) {
            let length = Int(number(rest.prefix(3)))
            guard rest.count >= 9 + length else { break }
            frames.append(WireFrame(kind, rest.prefix(9), Array(rest.dropFirst(9).prefix(length))))
            rest = rest.dropFirst(9 + length)
        }
        return (frames, Array(rest))
    }

    var bytes: [UInt8] {
        Self.bytes(UInt32(payload.count)).dropFirst() + [kind.rawValue, flags] + Self.bytes(stream) + payload
    }

    private static func bytes(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    private static func flags(_ kind: Kind) -> [(name: String, bit: UInt8)] {
        switch kind {
        case .data: [("END_STREAM", 1)]
        case .headers: [("END_STREAM", 1), ("END_HEADERS", 4)]
        case .continuation: [("END_HEADERS", 4)]
        case .settings, .ping: [("ACK", 1)]
        default: []
        }
    }

    /// Literals that are never indexed, without Huffman (RFC 7541 §6.2.3).
    private static func fields(_ lines: [UInt8]) -> [UInt8] {
        WireMessage.text(lines).split(separator: "\r\n").flatMap { line -> [UInt8] in
            let colon = line.dropFirst().firstIndex(of: ":") ?? line.endIndex
            let name = line.unicodeScalars[..<colon].map { UInt8($0.value) }
            let value = line.unicodeScalars[colon...].dropFirst(2).map { UInt8($0.value) }
            return [0x10, UInt8(name.count)] + name + [UInt8(value.count)] + value
        }
    }

    /// `DATA 1 END_STREAM 5 bytes`, `RST_STREAM 1 8`, `GOAWAY 0 1 0`: what of it does not depend on how fields are packed.
    var words: String {
        var words = [kind.name, "\(stream)"]
        words += Self.flags(kind).filter { flags & $0.bit != 0 }.map(\.name)
        switch kind {
        case .data: words.append("\(payload.count) bytes")
        case .resetStream: words.append("\(Self.number(payload))")
        case .goAway: words += ["\(Self.number(payload.prefix(4)))", "\(Self.number(payload.dropFirst(4).prefix(4)))"]
        default: break
        }
        return words.joined(separator: " ")
    }

    /// What a side said, however its bodies were cut, and without what it grants.
    static func words(_ frames: [WireFrame]) -> [String] {
        var joined: [WireFrame] = []
        for frame in frames where frame.kind != .windowUpdate {
            if frame.kind == .data, let last = joined.last, last.kind == .data, last.stream == frame.stream {
                joined[joined.count - 1].payload += frame.payload
                joined[joined.count - 1].flags |= frame.flags
            } else {
                joined.append(frame)
            }
        }
        return joined.map(\.words)
    }
}
