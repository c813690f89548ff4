import Addresses
import Formats

/// Parses the body of a ClientHello. All lengths must fit exactly; unused extensions are skipped.
struct ClientHelloReader {
    struct Malformed: Error {
        /// The fault, in lower case and without a full stop.
        let words: String

        init(_ words: String) { self.words = words }
    }

    /// A range of the message that is read from its start, in the terms of RFC 8446 §3.
    private struct Part {
        private(set) var next: Int
        let end: Int

        var count: Int { end - next }
        var isEmpty: Bool { next == end }

        mutating func skip(_ count: Int, _ name: StaticString) throws(Malformed) {
            guard count <= self.count else { throw Malformed("\(name) is cut short") }
            next += count
        }

        mutating func number(_ width: Int, _ name: StaticString, in message: Span<UInt8>) throws(Malformed) -> Int {
            let start = next
            try skip(width, name)
            var value = 0
            for index in start..<next { value = value << 8 | Int(message[index]) }
            return value
        }

        /// A vector after its length, which has `width` bytes.
        mutating func vector(_ width: Int, _ name: StaticString, in message: Span<UInt8>) throws(Malformed) -> Part {
            let count = try number(width, name, in: message)
            let start = next
            try skip(count, name)
            return Part(next: start, end: next)
        }

        /// The only vector of an extension, which must not be empty.
        mutating func onlyVector(_ width: Int, _ name: StaticString, in message: Span<UInt8>) throws(Malformed) -> Part
        {
            let vector = try vector(width, name, in: message)
            guard isEmpty else { throw Malformed("\(name) is followed by bytes that are not its own") }
            guard !vector.isEmpty else { throw Malformed("\(name) is empty") }
            return vector
        }

        init(next: Int, end: Int) {
            self.next = next
            self.end = end
        }
    }

    private var hello: ClientHello

    /// - Parameter message: the message after its header.
    /// - Throws: `Malformed`.
    static func read(_ message: Span<UInt8>) throws(Malformed) -> ClientHello {
        var rest = Part(next: 0, end: message.count)
        let version = try rest.number(2, "the version", in: message)
        var reader = ClientHelloReader(hello: ClientHello(highestVersion: UInt16(version)))
        try rest.skip(32, "the random")
        guard try rest.vector(1, "the session id", in: message).count <= 32 else {
            throw Malformed("the session id is over 32 bytes")
        }
        let ciphers = try rest.vector(2, "the list of cipher suites", in: message)
        guard !ciphers.isEmpty, ciphers.count % 2 == 0 else {
            throw Malformed("the list of cipher suites is empty or of odd length")
        }
        guard try !rest.vector(1, "the list of compression methods", in: message).isEmpty else {
            throw Malformed("the list of compression methods is empty")
        }
        // before TLS 1.3 a hello may end here
        guard !rest.isEmpty else { return reader.hello }
        var extensions = try rest.vector(2, "the list of extensions", in: message)
        guard rest.isEmpty else { throw Malformed("bytes follow the list of extensions") }
        var types: [Int] = []
        while !extensions.isEmpty {
            let type = try extensions.number(2, "an extension", in: message)
            types.append(type)
            try reader.take(type, extensions.vector(2, "an extension", in: message), in: message)
        }
        types.sort()
        for (type, next) in zip(types, types.dropFirst()) where type == next {
            throw Malformed("extension \(type) stands there twice")
        }
        return reader.hello
    }

    private mutating func take(_ type: Int, _ part: Part, in message: Span<UInt8>) throws(Malformed) {
        var part = part
        switch type {
        case 0: try takeNames(part.onlyVector(2, "the list of server names", in: message), in: message)
        case 16: try takeProtocols(part.onlyVector(2, "the list of protocols", in: message), in: message)
        case 43: try takeVersions(part.onlyVector(1, "the list of versions", in: message), in: message)
        default: break
        }
    }

    /// RFC 6066 §3: future kinds of names have their length at the same place.
    private mutating func takeNames(_ list: Part, in message: Span<UInt8>) throws(Malformed) {
        var list = list
        var isNamed = false
        while !list.isEmpty {
            let kind = try list.number(1, "a server name", in: message)
            let name = try list.vector(2, "a server name", in: message)
            guard kind == 0 else { continue }
            guard !isNamed else { throw Malformed("there is more than one host name") }
            isNamed = true
            hello.serverName = try Self.host(name, in: message)
        }
    }

    /// - Returns: nil for an IP address.
    private static func host(_ part: Part, in message: Span<UInt8>) throws(Malformed) -> String? {
        guard part.count <= 255 else { throw Malformed("the host name is over 255 bytes") }
        var name: [UInt8] = []
        name.reserveCapacity(part.count)
        for index in part.next..<part.end { name.append(ASCII.lower(message[index])) }
        guard !name.contains(ASCII.colon) || IPAddress(String(decoding: name, as: UTF8.self)) == nil else { return nil }
        // some clients append the port, and servers accept that (RFC 6066 §3 does not)
        if let colon = name.lastIndex(of: ASCII.colon), colon + 1 < name.count,
            name[(colon + 1)...].allSatisfy(ASCII.isDigit)
        {
            name.removeSubrange(colon...)
        }
        if name.last == dot { name.removeLast() }
        var previous = dot
        for byte in name {
            guard ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == dot || byte == 0x2D || byte == 0x5F else {
                throw Malformed("the host name has an invalid byte")
            }
            guard byte != dot || previous != dot else { throw Malformed("a label of the host name is empty") }
            previous = byte
        }
        guard previous != dot else { throw Malformed("the host name ends in an empty label") }
        let text = String(decoding: name, as: UTF8.self)
        return IPAddress(text) == nil ? text : nil
    }

    private static let dot: UInt8 = 0x2E

    private mutating func takeProtocols(_ list: Part, in message: Span<UInt8>) throws(Malformed) {
        var list = list
        while !list.isEmpty {
            let name = try list.vector(1, "the name of a protocol", in: message)
            guard !name.isEmpty else { throw Malformed("the name of a protocol is empty") }
            if name.count == 2, Self.isGrease(Int(message[name.next]) << 8 | Int(message[name.next + 1])) { continue }
            var bytes: [UInt8] = []
            bytes.append(message.extracting(name.next..<name.end))
            hello.protocols.append(bytes)
        }
    }

    private mutating func takeVersions(_ list: Part, in message: Span<UInt8>) throws(Malformed) {
        var list = list
        var highest = 0
        while !list.isEmpty {
            let version = try list.number(2, "the list of versions", in: message)
            // drafts and the values of RFC 8701 have another first byte
            guard version >> 8 == 3 else { continue }
            highest = max(highest, version)
            if version == 0x0304 { hello.offersTLS13 = true }
        }
        if highest > 0 { hello.highestVersion = UInt16(highest) }
    }

    /// True for a reserved value without meaning (GREASE, RFC 8701 §2).
    private static func isGrease(_ value: Int) -> Bool { value & 0x0F0F == 0x0A0A && value >> 8 == value & 0xFF }
}
