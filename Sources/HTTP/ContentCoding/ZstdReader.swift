internal import CZstd

/// Decodes Zstandard (RFC 8878). Owns the library's state.
final class ZstdReader: SliceDecoder {
    /// The largest window of a message body: 8 MiB (RFC 9659 §3).
    private static let windowBits: CInt = 23

    private let context: OpaquePointer

    let coding = Coding.zstd

    init() throws(CodingFault) {
        guard let context = ZSTD_createDCtx() else { throw .memory(.zstd) }
        guard ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.windowBits)) == 0 else {
            ZSTD_freeDCtx(context)
            throw .memory(.zstd)
        }
        self.context = context
    }

    deinit { ZSTD_freeDCtx(context) }

    func decode(
        _ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(CodingFault) -> DecodedSlice {
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let status = ZSTD_decompressStream(context, &target, &source)
        if ZSTD_isError(status) != 0 {
            switch ZSTD_getErrorCode(status) {
            case ZSTD_error_frameParameter_windowTooLarge, ZSTD_error_memory_allocation: throw .memory(coding)
            default: throw .corrupt(coding)
            }
        }
        return DecodedSlice(consumed: source.pos, produced: target.pos, isEnd: status == 0)
    }

    /// Whether another frame or a skippable frame begins here (RFC 8878 §3.1).
    func begins(_ input: UnsafeBufferPointer<UInt8>) -> Bool {
        guard input.count >= 4 else { return false }
        if input.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return true }
        return input[0] & 0xF0 == 0x50 && input[1] == 0x2A && input[2] == 0x4D && input[3] == 0x18
    }

    /// The library restarts by itself at the end of a frame.
    func restart() {}
}
