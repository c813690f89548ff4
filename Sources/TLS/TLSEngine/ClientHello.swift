import Formats

/// The first message of a TLS client (RFC 8446 §4.1.2, RFC 5246 §7.4.1.2). It is parsed from the first bytes of a connection,
/// which stay in place for the handshake or the relay.
public struct ClientHello: Equatable, Sendable {
    /// The host_name of server_name (RFC 6066 §3), in lower case and without a final dot. Nil if the client sends none, or
    /// sends an IP address, which the RFC does not allow.
    public var serverName: String?
    /// The names of application_layer_protocol_negotiation (RFC 7301) in the client's order, without those of RFC 8701. Empty
    /// if the client offers none.
    public var protocols: [[UInt8]] = []
    /// True if supported_versions contains TLS 1.3.
    public var offersTLS13 = false
    /// The highest version of SSL or TLS in supported_versions (0x0303 is TLS 1.2), or else legacy_version.
    public var highestVersion: UInt16

    public enum Peek: Equatable, Sendable {
        case needsMore
        /// These bytes begin no TLS connection; SSL 2.0's hello counts as none.
        case notTLS
        /// The hello breaks the rules of TLS. The text begins in lower case and has no full stop.
        case malformed(String)
        /// The message is over `maxBytes`, or in more than `maxRecords` records.
        case tooLarge
        case hello(ClientHello)
    }

    /// The most bytes of the message, without its own header of four bytes.
    public static let maxBytes = 16 << 10
    /// The limit of records for one message. It permits a client that sends single bytes, and bounds the work for smaller
    /// pieces.
    public static let maxRecords = 2048
    /// The limit of held bytes. With this many, the reader never asks for more.
    public static let maxHeld = messageHeader + maxBytes + maxRecords * recordHeader

    private static let recordHeader = 5
    private static let messageHeader = 4
    /// RFC 8446 §5.1.
    private static let maxFragment = 1 << 14

    /// Parses the start of a connection, whole or in pieces. Pass all bytes from the first one on. After a result other
    /// than `needsMore`, further bytes change nothing. The message is copied only when it is complete and spans several
    /// records.
    public static func peek(_ bytes: Span<UInt8>) -> Peek {
        do throws(Stop) {
            return try .hello(complete(bytes))
        } catch {
            return error.answer
        }
    }

    /// The reason why there is no hello.
    private struct Stop: Error {
        let answer: Peek
    }

    /// Walks through the records, and reads their headers and the message's own.
    private static func complete(_ bytes: Span<UInt8>) throws(Stop) -> ClientHello {
        // bytes of the message in the records that end at `start`, and its first four bytes as a number
        var held = 0
        var header: UInt32 = 0
        var start = 0
        for record in 0..<maxRecords {
            let size = try fragmentSize(bytes, start, isFirst: record == 0)
            let fragment = start + recordHeader
            var index = fragment
            while held + index - fragment < messageHeader, index < min(fragment + size, bytes.count) {
                header = header << 8 | UInt32(bytes[index])
                guard index > recordHeader || header == 1 else { throw Stop(answer: .notTLS) }
                index += 1
            }
            if held + index - fragment >= messageHeader {
                let announced = Int(header & 0xFF_FFFF)
                guard announced <= maxBytes else { throw Stop(answer: .tooLarge) }
                let left = messageHeader + announced - held
                guard size <= left else { throw Stop(answer: .malformed("more than the hello is in its last record")) }
                if size == left, fragment + size <= bytes.count {
                    return try read(bytes.extracting(first: fragment + size), inOneRecord: record == 0)
                }
            }
            start = fragment + size
            guard start <= bytes.count else { throw Stop(answer: .needsMore) }
            held += size
        }
        throw Stop(answer: .tooLarge)
    }

    /// The length of the fragment in the record at `start`. Only the first record may be something other than TLS.
    private static func fragmentSize(_ bytes: Span<UInt8>, _ start: Int, isFirst: Bool) throws(Stop) -> Int {
        func wants(_ offset: Int, _ value: UInt8, _ words: String) throws(Stop) {
            guard start + offset < bytes.count else { throw Stop(answer: .needsMore) }
            guard bytes[start + offset] == value else { throw Stop(answer: isFirst ? .notTLS : .malformed(words)) }
        }
        try wants(0, 22, "a record of another kind stands inside the hello")
        try wants(1, 3, "a record inside the hello is of no version of TLS")
        guard start + recordHeader <= bytes.count else { throw Stop(answer: .needsMore) }
        let size = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
        guard size > 0 else { throw Stop(answer: .malformed("a record of the hello is empty")) }
        guard size <= maxFragment else { throw Stop(answer: .malformed("a record of the hello is over 16384 bytes")) }
        return size
    }

    /// - Parameter bytes: complete records that contain only the message.
    private static func read(_ bytes: Span<UInt8>, inOneRecord: Bool) throws(Stop) -> ClientHello {
        do throws(ClientHelloReader.Malformed) {
            if inOneRecord {
                return try ClientHelloReader.read(bytes.extracting(droppingFirst: recordHeader + messageHeader))
            }
            var message: [UInt8] = []
            message.reserveCapacity(bytes.count)
            var start = 0
            while start < bytes.count {
                let fragment = start + recordHeader
                start = fragment + (Int(bytes[start + 3]) << 8 | Int(bytes[start + 4]))
                message.append(bytes.extracting(fragment..<start))
            }
            return try ClientHelloReader.read(message.span.extracting(droppingFirst: messageHeader))
        } catch {
            throw Stop(answer: .malformed(error.words))
        }
    }
}
