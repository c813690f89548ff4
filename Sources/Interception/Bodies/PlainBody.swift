internal import ContentCoding
public import HTTPCodec

/// A whole body out of its content codings.
public enum PlainBody {
    /// Nil where it is in none that is known, or larger than that.
    public static func read(_ body: [UInt8], _ fields: FieldTable, limit: Int) -> [UInt8]? {
        guard let codings = try? Coding.list(in: fields) else { return nil }
        if codings.isEmpty { return body }
        return try? BodyDecoder.decode(body, codings, CodingLimits(size: limit))
    }
}
