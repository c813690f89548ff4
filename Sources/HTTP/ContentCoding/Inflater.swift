internal import CZlib

/// Decodes deflate (RFC 1951) in gzip's frame (RFC 1952), zlib's (RFC 1950) or none. Owns zlib's state.
final class Inflater: SliceDecoder {
    /// Values of zlib's windowBits (zlib.h, inflateInit2): the largest window, and the frame.
    enum Frame: CInt {
        case bare = -15
        case zlib = 15
        case gzip = 31
    }

    // zlib keeps the address, so it must not move
    private let stream: UnsafeMutablePointer<z_stream>
    private let frame: Frame

    var coding: Coding { frame == .gzip ? .gzip : .deflate }

    init(_ frame: Frame) throws(CodingFault) {
        self.frame = frame
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard usher_inflate_init(stream, frame.rawValue) == Z_OK else {
            stream.deallocate()
            throw .memory(frame == .gzip ? .gzip : .deflate)
        }
        self.stream = stream
    }

    deinit {
        // fails only for an unknown state
        _ = inflateEnd(stream)
        stream.deallocate()
    }

    /// Whether bytes begin like zlib's frame: method, window and their checksum (RFC 1950 §2.2).
    static func isFramed(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 2 else { return false }
        return bytes[0] & 0x0F == 8 && bytes[0] >> 4 <= 7 && (Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0
    }

    func decode(
        _ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(CodingFault) -> DecodedSlice {
        let offered = UInt32(clamping: input.count)
        let room = UInt32(clamping: output.count)
        stream.pointee.next_in = input.baseAddress
        stream.pointee.avail_in = offered
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = room
        let status = inflate(stream, Z_NO_FLUSH)
        let slice = DecodedSlice(
            consumed: Int(offered - stream.pointee.avail_in), produced: Int(room - stream.pointee.avail_out),
            isEnd: status == Z_STREAM_END)
        switch status {
        // Z_BUF_ERROR means no progress, which the slice shows
        case Z_OK, Z_STREAM_END, Z_BUF_ERROR: return slice
        case Z_MEM_ERROR: throw .memory(coding)
        default: throw .corrupt(coding)
        }
    }

    func begins(_ input: UnsafeBufferPointer<UInt8>) -> Bool {
        frame == .gzip && input.starts(with: [0x1F, 0x8B])
    }

    func restart() throws(CodingFault) {
        guard inflateReset(stream) == Z_OK else { throw .corrupt(coding) }
    }
}
