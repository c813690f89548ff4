/// Frames by hand (RFC 9113 §4.1, §6): what the tests send, and what they look at of what came.
struct Frame: Equatable {
    var kind: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []

    static let endStream: UInt8 = 1
    static let endHeaders: UInt8 = 4
    static let padded: UInt8 = 8
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    static func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    var bytes: [UInt8] {
        Self.number(UInt32(payload.count)).dropFirst() + [kind, flags] + Self.number(stream) + payload
    }

    static func data(_ stream: UInt32, _ payload: [UInt8], end: Bool = false, padding: Int? = nil) -> [UInt8] {
        var frame = Frame(kind: 0, flags: end ? endStream : 0, stream: stream, payload: payload)
        if let padding {
            frame.flags |= padded
            frame.payload = [UInt8(padding)] + payload + [UInt8](repeating: 0, count: padding)
        }
        return frame.bytes
    }

    static func headers(_ stream: UInt32, _ block: [UInt8], end: Bool = false, whole: Bool = true) -> [UInt8] {
        Frame(kind: 1, flags: (end ? endStream : 0) | (whole ? endHeaders : 0), stream: stream, payload: block).bytes
    }

    static func headers(_ stream: UInt32, _ fields: KeyValuePairs<String, String>, end: Bool = false) -> [UInt8] {
        headers(stream, block(fields), end: end)
    }

    static func continuation(_ stream: UInt32, _ block: [UInt8], whole: Bool = false) -> [UInt8] {
        Frame(kind: 9, flags: whole ? endHeaders : 0, stream: stream, payload: block).bytes
    }

    static func reset(_ stream: UInt32, _ code: UInt32) -> [UInt8] {
        Frame(kind: 3, stream: stream, payload: number(code)).bytes
    }

    static func settings(_ values: [(UInt16, UInt32)] = []) -> [UInt8] {
        Frame(
            kind: 4,
            payload: values.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 255)] + number($0.1) }
        ).bytes
    }

    static let settingsAnswer = Frame(kind: 4, flags: 1).bytes
    static func ping(answers: Bool = false) -> [UInt8] {
        Frame(kind: 6, flags: answers ? 1 : 0, payload: Array(1...8)).bytes
    }

    static func goAway(last: UInt32, _ code: UInt32 = 0) -> [UInt8] {
        Frame(kind: 7, payload: number(last) + number(code)).bytes
    }

    static func grant(_ stream: UInt32, _ count: UInt32) -> [UInt8] {
        Frame(kind: 8, stream: stream, payload: number(count)).bytes
    }

    // MARK: fields

    /// Literals that are never indexed, without Huffman (RFC 7541 §6.2.3).
    static func block(_ fields: KeyValuePairs<String, String>) -> [UInt8] {
        fields.flatMap { literal(Array($0.key.utf8), Array($0.value.utf8)) }
    }

    static func literal(_ name: [UInt8], _ value: [UInt8]) -> [UInt8] {
        [0x10] + integer(name.count) + name + integer(value.count) + value
    }

    private static func integer(_ value: Int) -> [UInt8] {
        guard value >= 127 else { return [UInt8(value)] }
        var left = value - 127
        var bytes: [UInt8] = [127]
        while left >= 128 {
            bytes.append(UInt8(left % 128) | 0x80)
            left /= 128
        }
        return bytes + [UInt8(left)]
    }

    // MARK: what came

    /// All frames in some bytes; what is not whole is left out.
    static func all(in bytes: [UInt8]) -> [Frame] {
        var bytes = bytes[...]
        if bytes.starts(with: preface) { bytes = bytes.dropFirst(preface.count) }
        var frames: [Frame] = []
        while bytes.count >= 9 {
            let head = Array(bytes.prefix(9))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard bytes.count >= 9 + length else { break }
            let stream = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            frames.append(
                Frame(kind: head[3], flags: head[4], stream: stream, payload: Array(bytes.dropFirst(9).prefix(length))))
            bytes = bytes.dropFirst(9 + length)
        }
        return frames
    }

    /// The number in the payload at a place, in bytes.
    func number(at place: Int) -> UInt32? {
        guard payload.count >= place + 4 else { return nil }
        return payload[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
