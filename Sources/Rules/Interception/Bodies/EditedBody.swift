internal import ContentCoding
public import HTTPCodec

/// A message's body as edits see it, without content codings. They are removed when the first edit reads the body.
public struct EditedBody: Sendable {
    /// The body as received.
    public enum Arrival: Sendable {
        /// The whole body with its content codings; empty if there is none.
        case whole([UInt8])
        /// The body is larger than the limit.
        case overLimit
        /// Other buffered bodies leave no room for it.
        case noRoom
        /// A part of a body (RFC 9110 §14.2). It cannot be edited like a whole body.
        case part([UInt8])
    }

    private let arrival: Arrival
    private let codings: Result<[Coding], CodingFault>
    private let limits: CodingLimits
    /// The decoded body, once an edit has read it, with the changes of edits.
    private var plain: [UInt8]?
    /// The reason why decoding failed, once it was tried.
    private var fault: BodyFault?
    /// Cached reads of the present bytes.
    var answers = Answers()

    public private(set) var isChanged = false
    /// Whether an edit tried to change the body, even in vain.
    var isAsked = false
    /// The value of Content-Type.
    public var contentType: String?

    /// - Parameters:
    ///   - fields: the fields of its head.
    ///   - limits: `size` bounds the received body, the decoded body and the edited body.
    init(_ arrival: Arrival, _ fields: FieldTable, _ limits: CodingLimits) {
        self.arrival = arrival
        self.limits = limits
        do throws(CodingFault) {
            codings = .success(try Coding.list(in: fields))
        } catch {
            codings = .failure(error)
        }
    }

    /// The body of a request.
    init(_ arrival: Arrival, of head: RequestHead, _ limits: CodingLimits) {
        var arrival = arrival
        // a part of a body (RFC 9110 §14.5)
        if case .whole(let bytes) = arrival, head.fields.first(named: "Content-Range") != nil { arrival = .part(bytes) }
        self.init(arrival, head.fields, limits)
    }

    /// The largest size in bytes.
    public var limit: Int { limits.size }
    public var type: MediaType? { contentType.flatMap { MediaType($0) } }

    /// Whether there is no body.
    var isEmpty: Bool {
        if let plain { return plain.isEmpty }
        if case .whole(let bytes) = arrival { return bytes.isEmpty }
        return false
    }

    /// The bytes without content codings.
    public mutating func bytes() throws(BodyFault) -> [UInt8] {
        if let plain { return plain }
        if let fault { throw fault }
        let received = try received()
        do throws(CodingFault) {
            let made = try BodyDecoder.decode(received, codings.get(), limits)
            plain = made
            return made
        } catch {
            let found = BodyFault.unusable(error.explanation)
            fault = found
            throw found
        }
    }

    private func received() throws(BodyFault) -> [UInt8] {
        switch arrival {
        case .whole(let bytes):
            guard bytes.count <= limits.size else { throw .overLimit(limits.size) }
            return bytes
        case .overLimit: throw .overLimit(limits.size)
        case .noRoom: throw .noRoom
        case .part: throw .unusable("is a part of a larger one")
        }
    }

    /// Throws unless the body was received completely, even if it is only a part.
    func mustBeHere() throws(BodyFault) {
        switch arrival {
        case .whole, .part: return
        case .overLimit: throw .overLimit(limits.size)
        case .noRoom: throw .noRoom
        }
    }

    /// The body as text.
    public mutating func text() throws(BodyFault) -> String {
        guard let text = String(validating: try bytes(), as: UTF8.self) else { throw .unusable("is not UTF-8 text") }
        return text
    }

    /// Replaces the bytes.
    public mutating func replace(with new: [UInt8]) throws(BodyFault) {
        // an unread body may have an unknown coding; a part of a body cannot be replaced
        if plain == nil { _ = try received() }
        guard new.count <= limits.size else { throw .unusable("would be larger than \(limits.size) bytes") }
        isChanged = isChanged || new != plain
        plain = new
        answers = Answers()
    }

    /// Returns the bytes to send for a changed body, encoded with the codings that the head lists. If encoding fails, the bytes
    /// go out unencoded and the head is changed accordingly.
    mutating func settle(_ fields: inout FieldTable) -> [UInt8] {
        let bytes = plain ?? []
        Self.forget(&fields)
        do throws(CodingFault) {
            return try BodyEncoder.encode(bytes, Coding.list(in: fields))
        } catch {
            fields.remove(named: "Content-Encoding")
            return bytes
        }
    }

    /// Removes fields that describe the received bytes only: framing, trailers, digests (RFC 9530).
    static func forget(_ fields: inout FieldTable) {
        fields.removeAll { table, index in
            switch table.slots[index].known {
            case .contentLength, .transferEncoding, .trailer: true
            case .other: digests.contains { table.isNamed(index, $0) }
            default: false
            }
        }
    }

    private static let digests = ["Content-Digest", "Repr-Digest", "Digest", "Content-MD5"]
}
