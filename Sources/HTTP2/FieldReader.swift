import HTTPCodec

/// Reads the fields of a head, or of trailers, each within limits of their own.
struct FieldReader {
    private var block = FieldBlock()
    private var limits = HeadLimits()
    private var trailerLimits = HeadLimits()
    /// Of the fields that are being read.
    private var current = HeadLimits()

    mutating func limit(to limits: HeadLimits, maxTrailerBytes: Int) {
        self.limits = limits
        trailerLimits = HeadLimits(bytes: maxTrailerBytes, fields: limits.fields, target: limits.target)
    }

    mutating func begin(isHead: Bool) {
        block.begin()
        current = isHead ? limits : trailerLimits
    }

    /// - Returns: false once they unfold to more than anybody means.
    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
        block.add(name, value, limits: current)
        return block.size <= FloodGuard.maxUnfolding * limits.bytes
    }

    mutating func take(request head: inout RequestHead) throws(HTTPFault) {
        try block.take(request: &head, limits: limits)
    }

    mutating func take(response head: inout ResponseHead) throws(HTTPFault) { try block.take(response: &head) }

    mutating func take(trailers: inout [UInt8]) throws(HTTPFault) { try block.take(trailers: &trailers) }

    /// Gives back memory that only messages need.
    mutating func rest() { block = FieldBlock() }
}
