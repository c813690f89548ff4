import Formats

/// Decodes the chunked coding of a body (RFC 9112 §7.1), in pieces of any size. Strict: sizes have at most 15 hexadecimal
/// digits, lines end in CRLF, extensions are checked and dropped, trailers are checked and kept.
public struct ChunkedDecoder: Sendable {
    public enum Event: Equatable, Sendable {
        /// These bytes of the input are body.
        case data(Range<Int>)
        /// The body and its trailers are complete; the next message starts at the given offset.
        case end
        /// All of the input is used up and the body goes on.
        case needsMore
    }

    private enum State: UInt8 {
        case sizeStart, size, sizeLF
        case extensionStart, extensionName, extensionValueStart, extensionValue
        case extensionQuoted, extensionEscape, extensionEnd
        case data, dataCR, dataLF, trailerLine, trailerLF, done
    }

    private var state = State.sizeStart
    private var remaining: UInt64 = 0
    private var digits = 0
    private var lineLength = 0
    private var offset = 0
    private var trailerBytes: [UInt8] = []
    private var trailerLineStart = 0
    private var maxTrailerBytes: Int
    private static let maxLine = 4096

    /// Trailer fields as they came, each line with its CRLF. Complete once `.end` was returned.
    public var trailers: [UInt8] { trailerBytes }

    public init(maxTrailerBytes: Int = 32 << 10) {
        self.maxTrailerBytes = maxTrailerBytes
    }

    /// Makes ready for another body. What read none is as good as new.
    public mutating func reset(maxTrailerBytes: Int) {
        if offset > 0 { self = ChunkedDecoder(maxTrailerBytes: maxTrailerBytes) }
        self.maxTrailerBytes = maxTrailerBytes
    }

    /// Returns the next event in `input` from `position` on, and advances `position`.
    /// - Throws: `badChunkSize`, `badChunkExtension`, `badChunkEnd`, `chunkLineTooLong`, `trailersTooLarge`,
    ///   `badTrailerField`, and the faults of a field line for trailers.
    public mutating func next(_ input: Span<UInt8>, _ position: inout Int) throws(HTTPFault) -> Event {
        let start = position
        defer { offset += position - start }
        while position < input.count {
            let byte = input[position]
            func fault(_ code: HTTPFault.Code) -> HTTPFault { HTTPFault(code, at: offset + position - start) }
            switch state {
            case .sizeStart, .size:
                if let digit = ASCII.hexValue(byte) {
                    guard digits < 15 else { throw fault(.badChunkSize) }
                    remaining = remaining << 4 | UInt64(digit)
                    digits += 1
                    state = .size
                } else if state == .sizeStart {
                    throw fault(.badChunkSize)
                } else if byte == ASCII.cr {
                    state = .sizeLF
                } else if byte == 0x3B {
                    lineLength = 0
                    state = .extensionStart
                } else {
                    throw fault(.badChunkSize)
                }
            case .extensionStart, .extensionName, .extensionValueStart, .extensionValue, .extensionQuoted,
                .extensionEscape, .extensionEnd:
                lineLength += 1
                guard lineLength < Self.maxLine else { throw fault(.chunkLineTooLong) }
                guard let following = Self.extensionState(state, byte) else { throw fault(.badChunkExtension) }
                state = following
            case .sizeLF:
                guard byte == ASCII.lf else { throw fault(.badChunkSize) }
                state = remaining == 0 ? .trailerLine : .data
                digits = 0
            case .data:
                let available = UInt64(input.count - position)
                let taken = Int(min(available, remaining))
                remaining -= UInt64(taken)
                if remaining == 0 { state = .dataCR }
                let range = position..<position + taken
                position += taken
                return .data(range)
            case .dataCR:
                guard byte == ASCII.cr else { throw fault(.badChunkEnd) }
                state = .dataLF
            case .dataLF:
                guard byte == ASCII.lf else { throw fault(.badChunkEnd) }
                state = .sizeStart
            case .trailerLine:
                if byte == ASCII.cr {
                    state = .trailerLF
                } else {
                    guard ASCII.isFieldValue(byte) else {
                        throw fault(byte == ASCII.lf ? .bareLineFeed : .badFieldValue)
                    }
                    guard trailerBytes.count < maxTrailerBytes else { throw fault(.trailersTooLarge) }
                    trailerBytes.append(byte)
                }
            case .trailerLF:
                guard byte == ASCII.lf else { throw fault(.bareCarriageReturn) }
                if trailerBytes.count == trailerLineStart {
                    state = .done
                    position += 1
                    return .end
                }
                do throws(HTTPFault) {
                    let slot = try HeadParser.trailerLine(trailerBytes.span, trailerLineStart, trailerBytes.count)
                    guard slot.known.mayTrail else { throw HTTPFault(.badTrailerField, at: slot.name.lower) }
                } catch {
                    // from an offset into the trailers to one into the body; the line's CR and LF are not among them
                    let behind = trailerBytes.count + 1 - error.offset
                    throw HTTPFault(error.code, at: offset + position - start - behind)
                }
                trailerBytes.append(ASCII.cr)
                trailerBytes.append(ASCII.lf)
                trailerLineStart = trailerBytes.count
                state = .trailerLine
            case .done:
                return .end
            }
            position += 1
        }
        return state == .done ? .end : .needsMore
    }

    /// One byte of `*( ";" name [ "=" ( token / quoted-string ) ] )` (RFC 9112 §7.1.1), without the white space that it
    /// calls bad. Nil where the byte may not stand.
    private static func extensionState(_ state: State, _ byte: UInt8) -> State? {
        switch state {
        case .extensionStart: return ASCII.isToken(byte) ? .extensionName : nil
        case .extensionValueStart:
            if byte == 0x22 { return .extensionQuoted }
            return ASCII.isToken(byte) ? .extensionValue : nil
        case .extensionQuoted:
            if byte == 0x22 { return .extensionEnd }
            if byte == 0x5C { return .extensionEscape }
            return ASCII.isFieldValue(byte) ? .extensionQuoted : nil
        case .extensionEscape: return ASCII.isFieldValue(byte) ? .extensionQuoted : nil
        default: break
        }
        switch byte {
        case ASCII.cr: return .sizeLF
        case 0x3B: return .extensionStart
        case 0x3D where state == .extensionName: return .extensionValueStart
        default: return state != .extensionEnd && ASCII.isToken(byte) ? state : nil
        }
    }
}
