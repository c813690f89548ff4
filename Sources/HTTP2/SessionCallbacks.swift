import CNghttp2
import Formats
import HTTPCodec

/// Where nghttp2 calls back: each finds the session's owner and hands on to it. They capture nothing, and throw nothing.
enum SessionCallbacks {
    static func set(_ callbacks: OpaquePointer) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, owner in
            guard let session = session(owner), let frame else { return failure }
            return session.fieldsBegin(frame.pointee.hd.stream_id, frame.pointee.headers.cat)
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, _, name, nameCount, value, valueCount, _, owner in
            guard let session = session(owner) else { return failure }
            return session.fieldCame(
                UnsafeBufferPointer(start: name, count: nameCount), UnsafeBufferPointer(start: value, count: valueCount)
            )
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, owner in
            guard let session = session(owner), let bytes else { return failure }
            session.dataCame(stream, bytes, count)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, owner in
            guard let session = session(owner), let frame else { return failure }
            session.frameCame(frame)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, owner in
            guard let session = session(owner) else { return failure }
            session.streamClosed(stream, code)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, owner in
            guard let session = session(owner), let frame else { return failure }
            session.frameWent(frame)
            return 0
        }
        nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, frame, header, count, _, owner in
            guard let session = session(owner), let frame, let header else { return failure }
            session.dataGoes(frame.pointee.hd.stream_id, header, count)
            return 0
        }
    }

    /// Where nghttp2 gets a body from.
    static var source: nghttp2_data_provider {
        nghttp2_data_provider(
            source: nghttp2_data_source(),
            read_callback: { _, stream, _, count, flags, _, owner in
                guard let session = session(owner), let flags else { return Int(failure) }
                return session.dataAsked(stream, count, &flags.pointee)
            })
    }
}

private var failure: Int32 { NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }

private func session(_ owner: UnsafeMutableRawPointer?) -> Session? {
    owner.map { Unmanaged<Session>.fromOpaque($0).takeUnretainedValue() }
}
