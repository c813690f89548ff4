import CNghttp2
import HTTPCodec

/// Owns the nghttp2 session, which does no I/O, and checks each result.
///
/// nghttp2 handles frames, compression and windows. `FieldBlock` validates messages. nghttp2's own validation is off, because it
/// drops malformed fields and accepts the message.
final class NGHTTP2Session {
    let memory = MemoryPool()
    /// Nil if it could not be created.
    private let pointer: OpaquePointer?
    /// The fault that ends the connection.
    private(set) var failure: HTTPFault?
    /// The buffer in which nghttp2 builds frames. Its content is valid until the next call.
    private var scratch: UnsafeRawPointer?
    /// The count of unacknowledged PINGs.
    private var pings = 0

    init(_ side: ConnectionSide) {
        pointer = Self.make(side, memory)
        if pointer == nil { failure = HTTPFault(.protocolFailure, at: 0) }
    }

    deinit {
        nghttp2_session_del(pointer)
        MemoryPool.destroy(memory)
    }

    private static func make(_ side: ConnectionSide, _ memory: MemoryPool) -> OpaquePointer? {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return nil }
        defer { nghttp2_session_callbacks_del(callbacks) }
        guard nghttp2_option_new(&options) == 0, let options else { return nil }
        defer { nghttp2_option_del(options) }
        NGHTTP2Callbacks.set(callbacks)
        nghttp2_option_set_no_auto_window_update(options, 1)
        nghttp2_option_set_no_http_messaging(options, 1)
        nghttp2_option_set_no_closed_streams(options, 1)
        // requests of many clients share an origin's connection, so the compressed size of a field must not reveal another
        // client's field (RFC 7541 §7.1)
        nghttp2_option_set_max_deflate_dynamic_table_size(options, 0)
        // both are counted here, by frames and the caller's clock, so that the result does not depend on how the input is split
        nghttp2_option_set_max_continuations(options, FloodGuard.maxContinuations + 1)
        nghttp2_option_set_stream_reset_rate_limit(options, 1 << 40, 1 << 20)
        var made: OpaquePointer?
        var functions = memory.functions
        let result =
            side == .server
            ? nghttp2_session_server_new3(&made, callbacks, nil, options, &functions)
            : nghttp2_session_client_new3(&made, callbacks, nil, options, &functions)
        return result == 0 ? made : nil
    }

    /// Sends the SETTINGS of this side.
    /// - Parameters:
    /// - owner: receives the callbacks and owns this session.
    /// - window: the connection's window.
    func begin(for owner: HTTP2Connection, maxFieldBytes: UInt32, window: Int) {
        guard let pointer else { return }
        // unretained: the session does not outlive its owner, and callbacks occur only within its calls
        nghttp2_session_set_user_data(pointer, Unmanaged.passUnretained(owner).toOpaque())
        let last: (nghttp2_settings_id, UInt32) =
            owner.side == .server ? (NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1) : (NGHTTP2_SETTINGS_ENABLE_PUSH, 0)
        let settings = [
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, StreamLimit.mark),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, maxFieldBytes), (NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1), last,
        ].map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        check(nghttp2_submit_settings(pointer, Self.noFlags, settings, settings.count))
        setWindow(of: 0, window)
    }

    private static var noFlags: UInt8 { UInt8(NGHTTP2_FLAG_NONE.rawValue) }
    private static var endsStream: UInt8 { UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) }

    // MARK: bytes

    /// Passes received bytes to nghttp2, which calls back.
    func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
        let result = nghttp2_session_mem_recv(pointer, bytes.baseAddress, bytes.count)
        if result == Int(NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue) {
            fail(HTTPFault(.badPreface, at: 0), ConnectionError.violation)
        } else if result < 0 {
            fail(HTTPFault(.protocolFailure, at: 0), ConnectionError.failed)
        }
    }

    /// The next bytes to send after those from callbacks; nil if there are none now.
    func nextBytes() -> UnsafeBufferPointer<UInt8>? {
        guard let pointer else { return nil }
        var bytes: UnsafePointer<UInt8>?
        let count = nghttp2_session_mem_send(pointer, &bytes)
        guard count > 0 else {
            check(Int32(clamping: count))
            return nil
        }
        if scratch == nil { scratch = UnsafeRawPointer(bytes) }
        return UnsafeBufferPointer(start: bytes, count: count)
    }

    /// Releases memory that is used only for messages.
    func rest() { memory.rest(scratch: scratch) }

    // MARK: streams

    /// Submits a head, an interim head or trailers.
    /// - Parameters:
    /// - bytes: the bytes that the fields refer to.
    /// - id: -1 for a request, which opens a stream.
    /// - Returns: the id of the new stream; negative if none can be opened.
    @discardableResult
    func submit(_ fields: inout FieldList, _ bytes: [UInt8], on id: Int32 = -1, endsStream: Bool) -> Int32 {
        let result = fields.withVectors(of: bytes) { vectors, count in
            nghttp2_submit_headers(pointer, endsStream ? Self.endsStream : Self.noFlags, id, nil, vectors, count, nil)
        }
        check(result)
        return result
    }

    /// Makes nghttp2 ask for a body.
    /// - Returns: false if it refuses.
    func submitBody(on id: Int32) -> Bool {
        var source = NGHTTP2Callbacks.source
        let result = nghttp2_submit_data(pointer, Self.endsStream, id, &source)
        check(result)
        return result == 0
    }

    /// Makes nghttp2 ask again after there was no body.
    func resumeBody(on id: Int32) { check(nghttp2_session_resume_data(pointer, id)) }

    /// Sends a stream's frames in turns with those of others that wait for the connection's window.
    func takeTurns(on id: Int32) {
        var turns = nghttp2_extpri(urgency: UInt32(NGHTTP2_EXTPRI_DEFAULT_URGENCY), inc: 1)
        check(nghttp2_session_change_extpri_stream_priority(pointer, id, &turns, 1))
    }

    func reset(_ id: Int32, _ error: UInt32) { check(nghttp2_submit_rst_stream(pointer, Self.noFlags, id, error)) }

    // MARK: windows

    /// The received bytes that were not granted again.
    /// - Parameter id: a stream; 0 for the connection.
    func ungranted(on id: Int32) -> Int {
        guard let pointer else { return 0 }
        guard id != 0 else { return Int(nghttp2_session_get_effective_recv_data_length(pointer)) }
        return Int(nghttp2_session_get_stream_effective_recv_data_length(pointer, id))
    }

    func grant(_ count: Int, on id: Int32) {
        check(nghttp2_submit_window_update(pointer, Self.noFlags, id, Int32(clamping: count)))
    }

    func setWindow(of id: Int32, _ size: Int) {
        check(nghttp2_session_set_local_window_size(pointer, Self.noFlags, id, Int32(clamping: size)))
    }

    // MARK: the connection

    /// The peer's limit of concurrent streams.
    var peerMaxStreams: Int { Int(peerSetting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)) }

    var peerTakesUpgrades: Bool { peerSetting(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1 }

    private func peerSetting(_ id: nghttp2_settings_id) -> UInt32 {
        pointer.map { nghttp2_session_get_remote_settings($0, id) } ?? 0
    }

    /// False after GOAWAY, after the last stream id, or after a failure.
    var maySendRequests: Bool {
        guard let pointer, failure == nil else { return false }
        return nghttp2_session_check_request_allowed(pointer) != 0
    }

    /// - Parameter data: eight bytes; nil for zeros.
    func ping(_ data: [UInt8]? = nil) {
        guard let pointer else { return }
        pings += 1
        check(nghttp2_submit_ping(pointer, Self.noFlags, data))
    }

    /// Handles an acknowledged PING.
    /// - Returns: false if none was sent.
    func takePing() -> Bool {
        guard pings > 0 else { return false }
        pings -= 1
        return true
    }

    /// Sends GOAWAY and accepts no more streams.
    func leave() {
        guard let pointer else { return }
        check(
            nghttp2_submit_goaway(
                pointer, Self.noFlags, nghttp2_session_get_last_proc_stream_id(pointer), ConnectionError.none, nil, 0))
    }

    /// Ends the connection with GOAWAY.
    func fail(_ fault: HTTPFault, _ error: UInt32) {
        guard failure == nil else { return }
        failure = fault
        if let pointer { _ = nghttp2_session_terminate_session(pointer, error) }
    }

    /// Records that nghttp2 has sent a GOAWAY with an error.
    func noteEnd(_ error: UInt32) {
        if failure == nil, error != ConnectionError.none { failure = ConnectionError.fault(error) }
    }

    /// Checks a result. Errors of streams that have ended meanwhile are ignored.
    private func check(_ result: Int32) {
        guard result < 0, nghttp2_is_fatal(result) != 0 else { return }
        if failure == nil { failure = HTTPFault(.protocolFailure, at: 0) }
    }
}
