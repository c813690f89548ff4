import CNghttp2

/// nghttp2's callbacks. Each finds the connection of the session and forwards to it. They capture and throw nothing.
enum NGHTTP2Callbacks {
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
            tell(owner, bytes) { $0.dataCame(stream, $1, count) }
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, owner in
            tell(owner, frame) { $0.frameCame($1) }
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, owner in
            tell(owner, code) { $0.streamClosed(stream, $1) }
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, owner in
            tell(owner, frame) { $0.frameWent($1) }
        }
        nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, frame, header, count, _, owner in
            guard let frame else { return failure }
            return tell(owner, header) { $0.bodyGoes(frame.pointee.hd.stream_id, $1, count) }
        }
    }

    /// The provider that nghttp2 reads bodies from.
    static var source: nghttp2_data_provider {
        nghttp2_data_provider(
            source: nghttp2_data_source(),
            read_callback: { _, stream, _, count, flags, _, owner in
                guard let flags else { return Int(failure) }
                return with(owner, else: Int(failure)) { $0.bodyAsked(stream, count, &flags.pointee) }
            })
    }
}

private var failure: Int32 { NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }

/// Uses the connection without retaining it, because the caller of nghttp2 holds it.
@inline(__always)
private func with<Result>(
    _ owner: UnsafeMutableRawPointer?, else failure: Result, _ body: (HTTP2Connection) -> Result
) -> Result {
    guard let owner else { return failure }
    return Unmanaged<HTTP2Connection>.fromOpaque(owner)._withUnsafeGuaranteedRef(body)
}

@inline(__always)
private func tell<Given>(
    _ owner: UnsafeMutableRawPointer?, _ given: Given?, _ body: (HTTP2Connection, Given) -> Void
) -> Int32 {
    guard let given else { return failure }
    return with(owner, else: failure) {
        body($0, given)
        return 0
    }
}
