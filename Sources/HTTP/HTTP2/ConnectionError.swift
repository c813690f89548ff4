import CNghttp2
import HTTPCodec

/// The error codes of RFC 9113 §7 in use.
enum ConnectionError {
    static let calm = NGHTTP2_ENHANCE_YOUR_CALM.rawValue
    static let none = NGHTTP2_NO_ERROR.rawValue
    static let refused = NGHTTP2_REFUSED_STREAM.rawValue
    static let violation = NGHTTP2_PROTOCOL_ERROR.rawValue
    static let failed = NGHTTP2_INTERNAL_ERROR.rawValue
    static let unwanted = NGHTTP2_CANCEL.rawValue
    static let size = NGHTTP2_FRAME_SIZE_ERROR.rawValue
    static let closed = NGHTTP2_STREAM_CLOSED.rawValue
    static let window = NGHTTP2_FLOW_CONTROL_ERROR.rawValue

    /// The fault for an error code that nghttp2 ended a connection with.
    static func fault(_ code: UInt32) -> HTTPFault {
        let reason: HTTPFault.Code =
            switch code {
            case violation: .badFrame
            case size: .badFrameSize
            case NGHTTP2_COMPRESSION_ERROR.rawValue: .badHeaderBlock
            case window: .windowExceeded
            case closed: .closedStream
            case calm: .tooManySettings
            default: .protocolFailure
            }
        return HTTPFault(reason, at: 0)
    }

    /// True for errors that the peer caused on a stream.
    static func isFault(_ code: UInt32) -> Bool {
        code == violation || code == window || code == closed || code == size
    }
}
