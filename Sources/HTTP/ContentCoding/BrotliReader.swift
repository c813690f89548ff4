internal import CBrotli

/// Decodes Brotli (RFC 7932) with a window of at most 16 MiB. Owns the library's state.
final class BrotliReader: SliceDecoder {
    private let state: OpaquePointer

    let coding = Coding.brotli

    init() throws(CodingFault) {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { throw .memory(.brotli) }
        self.state = state
    }

    deinit { BrotliDecoderDestroyInstance(state) }

    func decode(
        _ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(CodingFault) -> DecodedSlice {
        var (next, left) = (input.baseAddress, input.count)
        var (place, room) = (output.baseAddress, output.count)
        let status = BrotliDecoderDecompressStream(state, &left, &next, &room, &place, nil)
        let isEnd: Bool
        switch status {
        case BROTLI_DECODER_RESULT_SUCCESS: isEnd = true
        case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: isEnd = false
        default: throw .corrupt(coding)
        }
        return DecodedSlice(consumed: input.count - left, produced: output.count - room, isEnd: isEnd)
    }

    /// A body has a single Brotli stream (RFC 7932 §2).
    func begins(_ input: UnsafeBufferPointer<UInt8>) -> Bool { false }
    func restart() {}
}
