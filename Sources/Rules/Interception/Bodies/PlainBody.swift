internal import ContentCoding
public import HTTPCodec

/// A whole body without its content codings.
public enum PlainBody {
    /// Nil if the coding is unknown or the result is larger than `limit` bytes.
    public static func read(_ body: [UInt8], _ fields: FieldTable, limit: Int) -> [UInt8]? {
        guard let codings = try? Coding.list(in: fields) else { return nil }
        if codings.isEmpty { return body }
        return try? BodyDecoder.decode(body, codings, CodingLimits(size: limit))
    }
}
