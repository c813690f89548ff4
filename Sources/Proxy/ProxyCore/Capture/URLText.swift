internal import Formats
internal import HTTPCodec

/// A URL that is being written. Unchanged bytes are copied in runs.
struct URLText {
    var out: [UInt8] = []
    /// Adjacent bytes that are not yet in `out`.
    private var run = 0..<0

    /// Adds these bytes.
    @inline(__always)
    mutating func keep(_ range: Range<Int>, of bytes: Span<UInt8>) {
        if range.lowerBound == run.upperBound {
            run = run.lowerBound..<range.upperBound
        } else {
            finish(bytes)
            run = range
        }
    }

    mutating func put(_ text: StaticString, _ bytes: Span<UInt8>) {
        finish(bytes)
        out.append(literal: text)
    }

    /// Writes the pending run. It percent-encodes all bytes but printable ASCII, so that every log line is UTF-8.
    mutating func finish(_ bytes: Span<UInt8>) {
        var start = run.lowerBound
        while start < run.upperBound {
            let place = bytes.first(start, run.upperBound) { $0.outsideVisible }
            out.append(bytes.extracting(start..<place))
            guard place < run.upperBound else { break }
            out.append(0x25)
            out.append(PercentCoding.hexDigit(bytes[place] >> 4))
            out.append(PercentCoding.hexDigit(bytes[place] & 15))
            start = place + 1
        }
        run = run.upperBound..<run.upperBound
    }
}
