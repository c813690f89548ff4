import Formats

/// The fields of a message that come one by one, those of its first line among them as pseudo-fields (RFC 9113 §8.3): looked at
/// as they come, and made into the head that HTTP/1 gives for the same message. What breaks a rule is kept, and thrown when
/// the block is whole; nothing of it gets into a head.
///
/// Its buffers are those of the head that it gave last: nothing is copied, and nothing allocated once they are large enough.
public struct FieldBlock: Sendable {
    var fields = FieldTable()
    var pseudo = PseudoFields()
    /// The first rule that was broken.
    public private(set) var fault: HTTPFault?
    /// Bytes of all fields that came, as lines of HTTP/1 would have them.
    public private(set) var size = 0
    /// A field came that is none of the first line.
    private var hasFields = false
    /// The place of the cookies, which may come in crumbs (RFC 9113 §8.2.3).
    private var cookies: Int?
    /// Crumbs that came apart from the others, each with the separator before it.
    private var crumbs: [UInt8] = []

    public init() {}

    /// Makes ready for another message.
    public mutating func begin() {
        fields.removeAll()
        pseudo = PseudoFields()
        fault = nil
        size = 0
        hasFields = false
        cookies = nil
        crumbs.removeAll(keepingCapacity: true)
    }

    mutating func fail(_ code: HTTPFault.Code) {
        if fault == nil { fault = HTTPFault(code, at: size) }
    }

    /// Adds the next field.
    /// - Parameter limits: those of an HTTP/1 head; after a fault, fields are only counted.
    public mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>, limits: HeadLimits) {
        size &+= name.count &+ value.count &+ 4
        guard fault == nil else { return }
        guard size <= limits.bytes else { return fail(.headTooLarge) }
        guard Self.isValue(value) else { return fail(.badFieldValue) }
        if !name.isEmpty, name[0] == ASCII.colon { return addPseudo(name, value) }
        hasFields = true
        let usual = name.first { $0.outsideSmallNames }
        for index in usual..<name.count {
            let byte = name[index]
            guard ASCII.isToken(byte) else { return fail(.badFieldName) }
            guard byte &- 0x41 >= 26 else { return fail(.upperCaseName) }
        }
        guard !name.isEmpty else { return fail(.badFieldName) }
        if cookies != nil, name.count == 6, name.holds("cookie", at: 0) { return addCrumb(value) }
        guard fields.count < limits.fields else { return fail(.tooManyFields) }
        switch fields.append(line: name, value) {
        case .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade: fail(.connectionField)
        case .te: if value.count != 8 || !value.holds("trailers", at: 0) { fail(.connectionField) }
        case .cookie: cookies = fields.count - 1
        default: break
        }
    }

    /// Whether HTTP/1 can carry the value unchanged: no control characters, no white space around it (RFC 9113 §8.2.1).
    private static func isValue(_ value: Span<UInt8>) -> Bool {
        guard let last = value.indices.last else { return true }
        let stop = value.first { $0.controls }
        if stop < value.count {
            // of control characters, a tab alone may stand there
            for index in stop..<value.count where !ASCII.isFieldValue(value[index]) { return false }
        }
        return value[0] > ASCII.space && value[last] > ASCII.space
    }

    /// All cookies of a request stand in one field where HTTP/1 carries them.
    private mutating func addCrumb(_ value: Span<UInt8>) {
        // an empty one would leave a space at the end, which no value may have (RFC 9113 §8.2.1)
        guard let cookies, !value.isEmpty else { return }
        let slot = fields.slots[cookies]
        guard slot.value.upper + 2 == fields.bytes.count else {
            crumbs.append(literal: "; ")
            return crumbs.append(value)
        }
        fields.bytes.removeLast(2)
        fields.bytes.append(literal: "; ")
        fields.bytes.append(value)
        let end = fields.bytes.count
        fields.bytes.append(literal: "\r\n")
        fields.setValue(cookies, ByteRange(start: slot.value.lower, end: end))
    }

    /// Puts those cookies with the others that came apart from them.
    mutating func joinCookies() {
        guard let cookies, !crumbs.isEmpty else { return }
        let start = fields.bytes.count
        let value = fields.slots[cookies].value
        fields.bytes.reserveCapacity(start + Int(value.count) + crumbs.count)
        for index in value.indices { fields.bytes.append(fields.bytes[index]) }
        fields.bytes += crumbs
        fields.setValue(cookies, ByteRange(start: start, end: fields.bytes.count))
    }

    private mutating func addPseudo(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        guard !hasFields else { return fail(.misplacedPseudoField) }
        guard let part = PseudoFields.Part(name) else { return fail(.unknownPseudoField) }
        guard pseudo[part] == nil else { return fail(.repeatedPseudoField) }
        let start = fields.bytes.count
        fields.bytes.append(value)
        pseudo[part] = ByteRange(start: start, end: fields.bytes.count)
    }
}
