internal import ContentCoding
public import HTTPCodec

/// A message's body as edits see it: out of its content codings, which are taken off when the first edit looks.
public struct EditedBody: Sendable {
    /// The body as it came.
    public enum Arrival: Sendable {
        /// All of it, in its content codings; without a byte where there is none.
        case whole([UInt8])
        /// More of it came than is kept.
        case overLimit
        /// There was no room to keep it beside what others are kept for.
        case noRoom
        /// What came is a part of a body (RFC 9110 §14.2), which cannot be changed as if it were all.
        case part([UInt8])
    }

    private let arrival: Arrival
    private let codings: Result<[Coding], CodingFault>
    private let limits: CodingLimits
    /// Out of its codings, once somebody has asked for it; then as edits left it.
    private var plain: [UInt8]?
    /// Why it cannot be taken out of them, once somebody has tried.
    private var fault: BodyFault?
    /// What was read of it as it is.
    var answers = Answers()

    public private(set) var isChanged = false
    /// Whether an edit was there that would have changed it, had it been possible.
    var isAsked = false
    /// The value of Content-Type.
    public var contentType: String?

    /// - Parameters:
    ///   - fields: of its head.
    ///   - limits: `size` is for what came, what it unfolds to, and what edits make of it.
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
        // RFC 9110 §14.5
        if case .whole(let bytes) = arrival, head.fields.first(named: "Content-Range") != nil { arrival = .part(bytes) }
        self.init(arrival, head.fields, limits)
    }

    /// How large it may become, in bytes.
    public var limit: Int { limits.size }
    public var type: MediaType? { contentType.flatMap { MediaType($0) } }

    /// Whether there is none.
    var isEmpty: Bool {
        if let plain { return plain.isEmpty }
        if case .whole(let bytes) = arrival { return bytes.isEmpty }
        return false
    }

    /// Its bytes, out of its content codings.
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

    /// All of it has to be here, whatever it is.
    func mustBeHere() throws(BodyFault) {
        switch arrival {
        case .whole, .part: return
        case .overLimit: throw .overLimit(limits.size)
        case .noRoom: throw .noRoom
        }
    }

    /// Its bytes as text.
    public mutating func text() throws(BodyFault) -> String {
        guard let text = String(validating: try bytes(), as: UTF8.self) else { throw .unusable("is no UTF-8 text") }
        return text
    }

    /// Gives it other bytes.
    public mutating func replace(with new: [UInt8]) throws(BodyFault) {
        // what nobody looked at may be in a coding that nobody knows; a part or the rest of a body cannot be replaced
        if plain == nil { _ = try received() }
        guard new.count <= limits.size else { throw .unusable("would be larger than \(limits.size) bytes") }
        isChanged = isChanged || new != plain
        plain = new
        answers = Answers()
    }

    /// The bytes to send where an edit changed them, in the codings that the head lists, or in none where they cannot be
    /// put into those: the head says so then.
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

    /// Takes out what describes the bytes that came and no others: framing, trailers, digests (RFC 9530).
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
