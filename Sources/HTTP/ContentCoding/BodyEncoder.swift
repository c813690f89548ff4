internal import CBrotli
internal import CZlib
internal import CZstd

/// Encodes whole bodies. Compression levels suit an event loop: a body of 1 MiB takes about ten milliseconds in each
/// coding.
public enum BodyEncoder {
    private static let deflateLevel: CInt = 4
    private static let brotliQuality: CInt = 3
    private static let zstdLevel: CInt = 3

    /// - Parameter codings: in the order in which they are applied.
    /// - Throws: `memory` alone.
    public static func encode(_ body: [UInt8], _ codings: [Coding]) throws(CodingFault) -> [UInt8] {
        var bytes = body
        for coding in codings { bytes = try one(bytes, coding) }
        return bytes
    }

    private static func one(_ bytes: [UInt8], _ coding: Coding) throws(CodingFault) -> [UInt8] {
        switch coding {
        case .gzip: return try deflated(bytes, .gzip, coding)
        case .deflate: return try deflated(bytes, .zlib, coding)
        case .brotli:
            // 0 if the body is too long
            let bound = BrotliEncoderMaxCompressedSize(bytes.count)
            return try filled(bound, coding, bytes) { input, output in
                var count = output.count
                let status = BrotliEncoderCompress(
                    brotliQuality, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC, input.count, input.baseAddress,
                    &count, output.baseAddress)
                return status == BROTLI_TRUE ? count : nil
            }
        case .zstd:
            return try filled(ZSTD_compressBound(bytes.count), coding, bytes) { input, output in
                let count = ZSTD_compress(
                    output.baseAddress, output.count, input.baseAddress, input.count, zstdLevel)
                return ZSTD_isError(count) == 0 ? count : nil
            }
        }
    }

    private static func deflated(
        _ bytes: [UInt8], _ frame: Inflater.Frame, _ coding: Coding
    ) throws(CodingFault) -> [UInt8] {
        guard bytes.count <= Int(Int32.max) else { throw .memory(coding) }
        var stream = z_stream()
        // zlib keeps the address, so all calls use the same one
        return try withUnsafeMutablePointer(to: &stream) { stream throws(CodingFault) in
            guard usher_deflate_init(stream, deflateLevel, frame.rawValue) == Z_OK else { throw .memory(coding) }
            // an error about an unfinished stream was reported before
            defer { _ = deflateEnd(stream) }
            let bound = Int(deflateBound(stream, UInt(bytes.count)))
            return try filled(bound, coding, bytes) { input, output in
                stream.pointee.next_in = input.baseAddress
                stream.pointee.avail_in = UInt32(clamping: input.count)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(clamping: output.count)
                guard deflate(stream, Z_FINISH) == Z_STREAM_END else { return nil }
                return output.count - Int(stream.pointee.avail_out)
            }
        }
    }

    /// - Parameter fill: returns the number of bytes written; nil if it failed.
    private static func filled(
        _ bound: Int, _ coding: Coding, _ bytes: [UInt8],
        _ fill: (UnsafeBufferPointer<UInt8>, UnsafeMutableBufferPointer<UInt8>) -> Int?
    ) throws(CodingFault) -> [UInt8] {
        guard bound > 0 else { throw .memory(coding) }
        var isWhole = false
        let made = bytes.withUnsafeBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: bound) { output, count in
                guard let written = fill(input, output) else { return }
                count = written
                isWhole = true
            }
        }
        guard isWhole else { throw .memory(coding) }
        return made
    }
}
