/// Decodes whole bodies.
///
/// It runs on an event loop, so its cost is bounded: by `CodingLimits.size` for each coding and by `mostMembers`. A body of
/// 1 MiB takes a few milliseconds. The worst case, a body that consists of tables, takes a tenth of a second for each MiB
/// of input.
public enum BodyDecoder {
    /// The most gzip members or Zstandard frames in one body (RFC 1952 §2.2, RFC 8878 §3).
    public static let mostMembers = 1000
    /// The size of one output slice in bytes; the bounds are checked after each slice.
    static let slice = 32 << 10

    /// - Parameter codings: in the order in which they were applied; the last is decoded first.
    /// - Returns: the decoded body. An empty body is returned as it is, whatever its coding.
    public static func decode(
        _ body: [UInt8], _ codings: [Coding], _ limits: CodingLimits
    ) throws(CodingFault) -> [UInt8] {
        guard codings.count <= Coding.most else { throw .tooMany }
        var bytes = body
        for coding in codings.reversed() where !bytes.isEmpty {
            bytes = try one(bytes, coding, limits, received: body.count)
        }
        return bytes
    }

    private static func one(
        _ bytes: [UInt8], _ coding: Coding, _ limits: CodingLimits, received: Int
    ) throws(CodingFault) -> [UInt8] {
        let bound = limits.bound(received: received)
        do throws(CodingFault) {
            switch coding {
            case .gzip: return try run(Inflater(.gzip), bytes, bound: bound)
            case .deflate: return try deflated(bytes, bound: bound)
            case .brotli: return try run(BrotliReader(), bytes, bound: bound)
            case .zstd: return try run(ZstdReader(), bytes, bound: bound)
            }
        } catch .tooLarge {
            throw bound < limits.size ? .tooDense(ratio: limits.ratio) : .tooLarge(limit: limits.size)
        }
    }

    /// Decodes with or without zlib's frame: a raw stream may begin like a frame.
    private static func deflated(_ bytes: [UInt8], bound: Int) throws(CodingFault) -> [UInt8] {
        guard Inflater.isFramed(bytes) else { return try run(Inflater(.bare), bytes, bound: bound) }
        do throws(CodingFault) {
            return try run(Inflater(.zlib), bytes, bound: bound)
        } catch .corrupt {
            return try run(Inflater(.bare), bytes, bound: bound)
        }
    }

    private static func run(
        _ decoder: some SliceDecoder, _ bytes: [UInt8], bound: Int
    ) throws(CodingFault) -> [UInt8] {
        let slice = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Self.slice)
        defer { slice.deallocate() }
        return try bytes.withUnsafeBufferPointer { input throws(CodingFault) in
            var out: [UInt8] = []
            var rest = input[...]
            var members = 1
            while true {
                let step = try decoder.decode(UnsafeBufferPointer(rebasing: rest), into: slice)
                rest = rest.dropFirst(step.consumed)
                guard step.produced <= bound - out.count else { throw .tooLarge(limit: bound) }
                out.append(contentsOf: slice[..<step.produced])
                if step.isEnd {
                    if rest.isEmpty { return out }
                    guard decoder.begins(UnsafeBufferPointer(rebasing: rest)) else {
                        throw .trailing(decoder.coding)
                    }
                    members += 1
                    guard members <= mostMembers else { throw .tooManyMembers(decoder.coding) }
                    try decoder.restart()
                } else if step.consumed == 0, step.produced == 0 {
                    throw .truncated(decoder.coding)
                }
            }
        }
    }
}

/// Decodes one coding slice by slice. A class, since it owns memory of the library.
protocol SliceDecoder: AnyObject {
    var coding: Coding { get }

    /// Consumes some input and writes some output; neither if no more output can come of the input.
    func decode(
        _ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(CodingFault) -> DecodedSlice

    /// Whether another member or frame begins here, behind the end of one.
    func begins(_ input: UnsafeBufferPointer<UInt8>) -> Bool
    /// Prepares for the next member or frame.
    func restart() throws(CodingFault)
}

struct DecodedSlice {
    var consumed: Int
    var produced: Int
    /// Whether the coded data is complete; bytes that follow are no part of it.
    var isEnd: Bool
}
