import HTTPCodec

/// Reads the fields of a head or of trailers within separate limits.
struct FieldReader {
    private var block = FieldBlock()
    private var limits = HeadLimits()
    private var trailerLimits = HeadLimits()
    /// The limits of the current block.
    private var current = HeadLimits()

    mutating func limit(to limits: HeadLimits, maxTrailerBytes: Int) {
        self.limits = limits
        trailerLimits = HeadLimits(bytes: maxTrailerBytes, fields: limits.fields, target: limits.target)
    }

    mutating func begin(isHead: Bool) {
        block.begin()
        current = isHead ? limits : trailerLimits
    }

    /// - Returns: false if the decompressed fields far exceed the limit.
    mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
        block.add(name, value, limits: current)
        return block.size <= FloodGuard.maxUnfolding * limits.bytes
    }

    mutating func take(request head: inout RequestHead) throws(HTTPFault) {
        try block.take(request: &head, limits: limits)
    }

    mutating func take(response head: inout ResponseHead) throws(HTTPFault) { try block.take(response: &head) }

    mutating func take(trailers: inout [UInt8]) throws(HTTPFault) { try block.take(trailers: &trailers) }

    /// Releases memory that is used only for messages.
    mutating func rest() { block = FieldBlock() }
}
