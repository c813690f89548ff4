/// Takes whole bodies out of their content codings.
///
/// It runs on an event loop, so what one call may cost is bounded by what it may make: `CodingLimits.size` for each coding, at
/// some hundreds of megabytes a second, and a few microseconds for each of `mostMembers`: a few milliseconds for a body of
/// 1 MiB. One that is made to be slow, of nothing but tables, takes a tenth of a second for each MiB that came.
public enum BodyDecoder {
    /// A body may be made of so many parts, one behind another (RFC 1952 §2.2, RFC 8878 §3).
    public static let mostMembers = 1000
    /// Made at once; between two slices the bounds are looked at.
    static let slice = 32 << 10

    /// - Parameter codings: in the order in which they were applied; the last is taken off first.
    /// - Returns: what was there before the first of them. A body without a byte is taken as it is, whatever it claims.
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

    /// With zlib's frame or without: what begins like one may still be none.
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

/// Takes bytes out of one coding, a slice at a time. A class, for it owns what the library made.
protocol SliceDecoder: AnyObject {
    var coding: Coding { get }

    /// Takes some of the input and writes some of the output; neither where nothing more can come of the input.
    func decode(
        _ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(CodingFault) -> DecodedSlice

    /// Whether another part begins here, behind the end of one.
    func begins(_ input: UnsafeBufferPointer<UInt8>) -> Bool
    /// Makes ready for another part.
    func restart() throws(CodingFault)
}

struct DecodedSlice {
    var consumed: Int
    var produced: Int
    /// The coded text is complete; what follows is no part of it.
    var isEnd: Bool
}
