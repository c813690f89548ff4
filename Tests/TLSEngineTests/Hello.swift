import Foundation
import TLSEngine
import TestInputs
import Testing

/// A ClientHello to be made as wanted: right, or wrong in one place.
struct Hello {
    var version: UInt16 = 0x0303
    var session = [UInt8](repeating: 7, count: 32)
    var ciphers: [UInt8] = [0x13, 0x01, 0x13, 0x02]
    var compression: [UInt8] = [0]
    /// Nil leaves out the list as well as its length.
    var extensions: [UInt8]? = []
    var after: [UInt8] = []

    /// The message with its header.
    var message: [UInt8] {
        var body = bytes(version) + [UInt8](repeating: 9, count: 32)
        body += vector(1, session) + vector(2, ciphers) + vector(1, compression)
        if let extensions { body += vector(2, extensions) }
        return [1] + vector(3, body + after)
    }

    /// The message in records of at most so many bytes.
    func records(of size: Int = 1 << 14) -> [UInt8] {
        let message = message
        return stride(from: 0, to: message.count, by: size).flatMap {
            record(Array(message[$0..<min($0 + size, message.count)]))
        }
    }

    init(_ extensions: [UInt8]? = []) { self.extensions = extensions }

    /// A hello whose message has so many bytes, its header counted.
    init(padded count: Int) {
        let padding = count - Hello(anExtension(21, [])).message.count
        self.init(anExtension(21, [UInt8](repeating: 0, count: padding)))
    }
}

/// One record of the handshake.
func record(_ fragment: [UInt8], type: UInt8 = 22) -> [UInt8] { [type, 3, 1] + vector(2, fragment) }

func vector(_ width: Int, _ content: [UInt8]) -> [UInt8] {
    (0..<width).reversed().map { UInt8(content.count >> (8 * $0) & 255) } + content
}

func bytes(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }

func anExtension(_ type: UInt16, _ content: [UInt8]) -> [UInt8] { bytes(type) + vector(2, content) }

/// server_name with one host_name.
func serverName(_ name: some Sequence<UInt8>) -> [UInt8] { anExtension(0, vector(2, [0] + vector(2, Array(name)))) }

func protocols(_ names: [[UInt8]]) -> [UInt8] { anExtension(16, vector(2, names.flatMap { vector(1, $0) })) }

func versions(_ versions: [UInt16]) -> [UInt8] { anExtension(43, vector(1, versions.flatMap(bytes))) }

/// What the bytes say whole, after it was seen that they say it in pieces and that what follows changes nothing.
func peek(_ input: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) -> ClientHello.Peek {
    let whole = ClientHello.peek(input.span)
    for cuts in Pieces.cuts(input.count) {
        let first = cuts.map { ClientHello.peek(input.span.extracting(first: $0)) }.first { $0 != .needsMore }
        #expect(first ?? .needsMore == whole, sourceLocation: sourceLocation)
    }
    if whole != .needsMore {
        for more in [[0], [22, 3, 1, 0, 1, 1], Array("GET / HTTP/1.1\r\n".utf8)] as [[UInt8]] {
            #expect(ClientHello.peek((input + more).span) == whole, sourceLocation: sourceLocation)
        }
    }
    return whole
}

/// What real programs said: the files of Tests/Corpora/ClientHello, without the byte that is the fuzzer's.
func recorded(_ name: String) throws -> [UInt8] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Corpora/ClientHello/\(name)")
    return Array(try Data(contentsOf: file).dropFirst())
}
