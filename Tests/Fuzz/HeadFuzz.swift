internal import Formats

@testable internal import HTTPCodec

private let limits = HeadLimits(bytes: 600, fields: 12, target: 200)

private enum Outcome: Equatable {
    case head(consumed: Int, line: [UInt8], fields: [String])
    case incomplete
    case fault(HTTPFault)
}

private func read(_ bytes: [UInt8], _ cuts: [Int], _ limits: HeadLimits, into head: inout RequestHead) -> Outcome {
    var parser = HeadParser()
    do throws(HTTPFault) {
        for end in cuts {
            if let consumed = try parser.parse(bytes.span.extracting(first: end), into: &head, limits: limits) {
                require(consumed <= end, "no more is consumed than was there")
                return .head(consumed: consumed, line: startLine(head), fields: fieldText(head.fields))
            }
        }
        return .incomplete
    } catch {
        return .fault(error)
    }
}

private func startLine(_ head: RequestHead) -> [UInt8] {
    head.fields.bytes[head.methodRange.indices] + [ASCII.space] + head.fields.bytes[head.target.whole.indices]
        + [ASCII.space] + Array((head.version == .http11 ? "HTTP/1.1" : "HTTP/1.0").utf8)
}

/// A request head: the same in any pieces, and the same once more when it is written and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHead(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard var input = FuzzInput(start, count) else { return 0 }
    var head = RequestHead()
    let whole = read(input.bytes, [input.bytes.count], limits, into: &head)
    var pieces = RequestHead()
    require(read(input.bytes, input.cuts(), limits, into: &pieces) == whole, "pieces read like the whole")
    // whatever became of it, a head can be read
    require(fieldText(head.fields) == fieldText(pieces.fields), "the lines before a fault are the same in pieces")
    _ = (head.methodText, head.url, head.host, head.path, head.query)
    guard case .head(_, let line, let fields) = whole else { return 0 }

    var written = line + [ASCII.cr, ASCII.lf]
    writeFields(head.fields, to: &written)
    var again = RequestHead()
    let reread = read(written, [written.count], HeadLimits(), into: &again)
    require(reread == .head(consumed: written.count, line: line, fields: fields), "a written head reads the same")

    let framing = try? head.framing()
    require(framing == (try? again.framing()), "the framing survives writing")
    _ = head.keepsAlive
    if (try? head.settleHost()) != nil {
        require(!head.host.isEmpty || head.version == .http10, "a settled request has a host")
        _ = head.url
    }
    return 0
}
