internal import Formats

@testable internal import HTTPCodec

private struct Outcome: Equatable {
    var body: [UInt8] = []
    var trailers: [UInt8] = []
    var end: Int?
    var fault: HTTPFault?
}

private func decode(_ bytes: [UInt8], _ cuts: [Int]) -> Outcome {
    var decoder = ChunkedDecoder(maxTrailerBytes: 200)
    var outcome = Outcome()
    var start = 0
    do throws(HTTPFault) {
        for end in cuts {
            let piece = Array(bytes[start..<end])
            var position = 0
            events: while true {
                let before = position
                switch try decoder.next(piece.span, &position) {
                case .data(let range):
                    require(!range.isEmpty && range.lowerBound >= before, "data moves on")
                    outcome.body += piece[range]
                case .end:
                    outcome.end = start + position
                    outcome.trailers = decoder.trailers
                    return outcome
                case .needsMore:
                    require(position == piece.count, "more is asked for only when all is used up")
                    break events
                }
            }
            start = end
        }
    } catch {
        outcome.fault = error
    }
    return outcome
}

/// A chunked body: the same bytes, trailers, end or fault in any pieces; and written again it reads the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChunked(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard var input = FuzzInput(start, count) else { return 0 }
    let whole = decode(input.bytes, [input.bytes.count])
    require(decode(input.bytes, input.cuts()) == whole, "pieces read like the whole")
    guard let end = whole.end else { return 0 }
    require(end <= input.bytes.count && whole.body.count < max(end, 1), "the body is inside the input")

    var written: [UInt8] = []
    if !whole.body.isEmpty {
        written += Array("\(String(whole.body.count, radix: 16))\r\n".utf8) + whole.body + [ASCII.cr, ASCII.lf]
    }
    written += Array("0\r\n".utf8) + whole.trailers + [ASCII.cr, ASCII.lf]
    let again = decode(written, [written.count])
    require(
        again.body == whole.body && again.trailers == whole.trailers && again.end == written.count,
        "a written body reads the same")
    return 0
}
