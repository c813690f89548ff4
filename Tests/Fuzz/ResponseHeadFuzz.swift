internal import Formats

@testable internal import HTTPCodec

private let limits = HeadLimits(bytes: 600, fields: 12, target: 200)

private enum Outcome: Equatable {
    case head(consumed: Int, status: Int, reason: [UInt8], fields: [String])
    case incomplete
    case fault(HTTPFault)
}

private func read(_ bytes: [UInt8], _ cuts: [Int], _ limits: HeadLimits, into head: inout ResponseHead) -> Outcome {
    var parser = HeadParser()
    do throws(HTTPFault) {
        for end in cuts {
            if let consumed = try parser.parse(bytes.span.extracting(first: end), into: &head, limits: limits) {
                require(consumed <= end, "no more is consumed than was there")
                return .head(
                    consumed: consumed, status: head.status, reason: Array(head.fields.bytes[head.reasonRange.indices]),
                    fields: fieldText(head.fields))
            }
        }
        return .incomplete
    } catch {
        return .fault(error)
    }
}

/// A response head: the same in any pieces, and the same once more when it is written and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzResponseHead(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard var input = FuzzInput(start, count) else { return 0 }
    var head = ResponseHead()
    let whole = read(input.bytes, [input.bytes.count], limits, into: &head)
    var pieces = ResponseHead()
    require(read(input.bytes, input.cuts(), limits, into: &pieces) == whole, "pieces read like the whole")
    // whatever became of it, a head can be read
    require(fieldText(head.fields) == fieldText(pieces.fields), "the lines before a fault are the same in pieces")
    _ = head.reason
    guard case .head(_, let status, let reason, let fields) = whole else { return 0 }

    var written = Array("HTTP/1.\(head.version == .http11 ? 1 : 0) \(status) ".utf8) + reason + [ASCII.cr, ASCII.lf]
    writeFields(head.fields, to: &written)
    var again = ResponseHead()
    let reread = read(written, [written.count], HeadLimits(), into: &again)
    require(
        reread == .head(consumed: written.count, status: status, reason: reason, fields: fields),
        "a written head reads the same")
    for method in [Method.get, .head] {
        require(
            (try? head.framing(answering: method)) == (try? again.framing(answering: method)),
            "the framing survives writing")
    }
    for index in head.fields.slots.indices where head.fields.slots[index].known == .setCookie {
        _ = SetCookie(head.fields.value(index))
    }
    return 0
}
