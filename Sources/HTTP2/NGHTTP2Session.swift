import CNghttp2
import HTTPCodec

/// Owns nghttp2's session, which does no I/O, and looks at what it says to each call.
///
/// nghttp2 knows frames, compression and windows. What makes fields a message is looked at elsewhere (`FieldBlock`): nghttp2
/// drops a malformed field and lets the message pass, so its own look at messages is off.
final class NGHTTP2Session {
    let memory = MemoryPool()
    /// Nil where it could not be made.
    private let pointer: OpaquePointer?
    /// Why the connection cannot go on.
    private(set) var failure: HTTPFault?
    /// Where nghttp2 makes frames. What stands there is of use until it is asked for the next one.
    private var scratch: UnsafeRawPointer?
    /// How many PINGs were sent and not answered.
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
        // what is asked of many clients goes through one origin's connection: how small a field becomes must tell nobody what
        // another's field was (RFC 7541 §7.1)
        nghttp2_option_set_max_deflate_dynamic_table_size(options, 0)
        // both are counted here, by frames and the caller's time, so that pieces come to the same as the whole
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

    /// Has nghttp2 say what this side takes.
    /// - Parameters:
    ///   - owner: is called back, and owns this.
    ///   - window: the connection's.
    func begin(for owner: HTTP2Connection, maxFieldBytes: UInt32, window: Int) {
        guard let pointer else { return }
        // unowned: the session does not outlive its owner, and callbacks come within calls of the owner
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

    /// Has nghttp2 read what came, and call back for what it finds.
    func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
        let result = nghttp2_session_mem_recv(pointer, bytes.baseAddress, bytes.count)
        if result == Int(NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue) {
            fail(HTTPFault(.badPreface, at: 0), ConnectionError.violation)
        } else if result < 0 {
            fail(HTTPFault(.protocolFailure, at: 0), ConnectionError.failed)
        }
    }

    /// The next bytes that can go out, behind what callbacks wrote; nil where there are none by now.
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

    /// Gives back memory that only messages need.
    func rest() { memory.rest(scratch: scratch) }

    // MARK: streams

    /// Writes the head of a message, or what comes before or behind it.
    /// - Parameters:
    ///   - bytes: what the fields point into.
    ///   - id: -1 for a request, which begins a stream.
    /// - Returns: the number of such a stream; none above 0 where it cannot be begun.
    @discardableResult
    func submit(_ fields: inout FieldList, _ bytes: [UInt8], on id: Int32 = -1, endsStream: Bool) -> Int32 {
        let result = fields.withVectors(of: bytes) { vectors, count in
            nghttp2_submit_headers(pointer, endsStream ? Self.endsStream : Self.noFlags, id, nil, vectors, count, nil)
        }
        check(result)
        return result
    }

    /// Has nghttp2 ask for a body.
    /// - Returns: false where it will not.
    func submitBody(on id: Int32) -> Bool {
        var source = NGHTTP2Callbacks.source
        let result = nghttp2_submit_data(pointer, Self.endsStream, id, &source)
        check(result)
        return result == 0
    }

    /// There is body again where it asked and there was none.
    func resumeBody(on id: Int32) { check(nghttp2_session_resume_data(pointer, id)) }

    /// Has a stream go out in turns, a frame each, where many wait for the connection's window.
    func takeTurns(on id: Int32) {
        var turns = nghttp2_extpri(urgency: UInt32(NGHTTP2_EXTPRI_DEFAULT_URGENCY), inc: 1)
        check(nghttp2_session_change_extpri_stream_priority(pointer, id, &turns, 1))
    }

    func reset(_ id: Int32, _ error: UInt32) { check(nghttp2_submit_rst_stream(pointer, Self.noFlags, id, error)) }

    // MARK: windows

    /// What came and was not granted anew.
    /// - Parameter id: a stream; 0: the connection.
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

    /// How many streams the peer takes at a time.
    var peerMaxStreams: Int { Int(peerSetting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)) }

    var peerTakesUpgrades: Bool { peerSetting(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1 }

    private func peerSetting(_ id: nghttp2_settings_id) -> UInt32 {
        pointer.map { nghttp2_session_get_remote_settings($0, id) } ?? 0
    }

    /// False once the peer leaves, the numbers of streams are used up, or the connection has failed.
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

    /// A PING was answered.
    /// - Returns: false where none was sent.
    func takePing() -> Bool {
        guard pings > 0 else { return false }
        pings -= 1
        return true
    }

    /// Begins no further stream of the peer's, and tells it so.
    func leave() {
        guard let pointer else { return }
        check(
            nghttp2_submit_goaway(
                pointer, Self.noFlags, nghttp2_session_get_last_proc_stream_id(pointer), ConnectionError.none, nil, 0))
    }

    /// Ends the connection, and tells the peer so.
    func fail(_ fault: HTTPFault, _ error: UInt32) {
        guard failure == nil else { return }
        failure = fault
        if let pointer { _ = nghttp2_session_terminate_session(pointer, error) }
    }

    /// nghttp2 told the peer that it ends the connection.
    func noteEnd(_ error: UInt32) {
        if failure == nil, error != ConnectionError.none { failure = ConnectionError.fault(error) }
    }

    /// What concerns a stream that has ended in the meantime is of no account.
    private func check(_ result: Int32) {
        guard result < 0, nghttp2_is_fatal(result) != 0 else { return }
        if failure == nil { failure = HTTPFault(.protocolFailure, at: 0) }
    }
}
