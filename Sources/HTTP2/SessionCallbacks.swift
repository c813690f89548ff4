import CNghttp2
import Formats
import HTTPCodec

/// Where nghttp2 calls back: each finds the session's owner and hands on to it. They capture nothing, and throw nothing.
enum SessionCallbacks {
    static func set(_ callbacks: OpaquePointer) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, owner in
            guard let frame else { return failure }
            return with(owner, else: failure) { $0.fieldsBegin(frame.pointee.hd.stream_id, frame.pointee.headers.cat) }
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, _, name, nameCount, value, valueCount, _, owner in
            with(owner, else: failure) {
                $0.fieldCame(
                    UnsafeBufferPointer(start: name, count: nameCount),
                    UnsafeBufferPointer(start: value, count: valueCount))
            }
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, owner in
            guard let bytes else { return failure }
            return with(owner, else: failure) {
                $0.dataCame(stream, bytes, count)
                return 0
            }
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, owner in
            guard let frame else { return failure }
            return with(owner, else: failure) {
                $0.frameCame(frame)
                return 0
            }
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, owner in
            with(owner, else: failure) {
                $0.streamClosed(stream, code)
                return 0
            }
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, owner in
            guard let frame else { return failure }
            return with(owner, else: failure) {
                $0.frameWent(frame)
                return 0
            }
        }
        nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, frame, header, count, _, owner in
            guard let frame, let header else { return failure }
            return with(owner, else: failure) {
                $0.dataGoes(frame.pointee.hd.stream_id, header, count)
                return 0
            }
        }
    }

    /// Where nghttp2 gets a body from.
    static var source: nghttp2_data_provider {
        nghttp2_data_provider(
            source: nghttp2_data_source(),
            read_callback: { _, stream, _, count, flags, _, owner in
                guard let flags else { return Int(failure) }
                return with(owner, else: Int(failure)) { $0.dataAsked(stream, count, &flags.pointee) }
            })
    }
}

private var failure: Int32 { NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }

/// Whoever called nghttp2 holds the session, so that nothing need be counted for the call.
@inline(__always)
private func with<Result>(
    _ owner: UnsafeMutableRawPointer?, else failure: Result, _ body: (Session) -> Result
) -> Result {
    guard let owner else { return failure }
    return Unmanaged<Session>.fromOpaque(owner)._withUnsafeGuaranteedRef(body)
}
