import CNghttp2
import Formats
import HTTPCodec

/// Owns an nghttp2 session, which does no I/O: bytes that came go in a frame at a time, and make signals; bytes that are to go
/// out are appended to what the caller has for them.
///
/// nghttp2 knows frames, compression and windows. What makes fields a message is looked at here (`FieldBlock`): nghttp2 drops
/// a malformed field and lets the message pass, so its own look at messages is off.
final class Session {
    enum Side { case server, client }

    let side: Side
    // Calls go to nghttp2 and come back from it while nothing here is being changed, so that no two changes meet: what is
    // written is written between them. To have that looked at each time costs a quarter of what a message does.

    /// Nil where it could not be made.
    @exclusivity(unchecked) private(set) var pointer: OpaquePointer?
    @exclusivity(unchecked) var streams = OpenStreams()
    @exclusivity(unchecked) var signals = SignalQueue()
    @exclusivity(unchecked) var inbound: InboundState
    @exclusivity(unchecked) var outbound: OutboundState
    @exclusivity(unchecked) var floods = FloodGuard()
    @exclusivity(unchecked) var tally = StreamTally()
    @exclusivity(unchecked) var windows: FlowWindows
    /// What waits of streams that are known no more.
    @exclusivity(unchecked) var ended = StreamWindow()
    @exclusivity(unchecked) var bandwidth = BandwidthEstimator()
    let memory = MemoryPool()
    /// Why the connection cannot go on.
    @exclusivity(unchecked) private(set) var failure: HTTPFault?

    /// - Parameters:
    ///   - maxStreams: how many streams the side that begins them may have begun at a time.
    ///   - maxFieldBytes: what the peer is told of how large a head may be; what is looked at are the limits of `read`.
    init(_ side: Side, maxStreams: UInt32, maxFieldBytes: UInt32, _ budget: WindowBudget) {
        self.side = side
        inbound = InboundState(
            walk: FrameWalk(preface: side == .server ? Int(NGHTTP2_CLIENT_MAGIC_LEN) : 0), maxStreams: Int(maxStreams))
        // a client's peer begins none
        outbound = OutboundState(maxStreams: side == .server ? maxStreams : 0)
        windows = FlowWindows(maxStreams: Int(maxStreams), budget)
        pointer = Self.make(side, for: self)
        guard pointer != nil else {
            fail(.protocolFailure, ConnectionError.failed)
            return
        }
        begin(maxFieldBytes)
    }

    deinit {
        windows.end()
        nghttp2_session_del(pointer)
        MemoryPool.destroy(memory)
    }

    private static func make(_ side: Side, for session: Session) -> OpaquePointer? {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return nil }
        defer { nghttp2_session_callbacks_del(callbacks) }
        guard nghttp2_option_new(&options) == 0, let options else { return nil }
        defer { nghttp2_option_del(options) }
        SessionCallbacks.set(callbacks)
        nghttp2_option_set_no_auto_window_update(options, 1)
        nghttp2_option_set_no_http_messaging(options, 1)
        nghttp2_option_set_no_closed_streams(options, 1)
        // what is asked of many clients goes through one origin's connection: how small a field becomes must tell nobody what
        // another's field was (RFC 7541 §7.1)
        nghttp2_option_set_max_deflate_dynamic_table_size(options, 0)
        // both are counted here, by frames and the caller's time, so that pieces come to the same as the whole
        nghttp2_option_set_max_continuations(options, FloodGuard.maxContinuations + 1)
        nghttp2_option_set_stream_reset_rate_limit(options, 1 << 40, 1 << 20)
        // unowned: the session does not outlive its owner, which deletes it, and callbacks come within calls of the owner
        let owner = Unmanaged.passUnretained(session).toOpaque()
        var made: OpaquePointer?
        var memory = session.memory.functions
        let result =
            side == .server
            ? nghttp2_session_server_new3(&made, callbacks, owner, options, &memory)
            : nghttp2_session_client_new3(&made, callbacks, owner, options, &memory)
        return result == 0 ? made : nil
    }

    private func begin(_ maxFieldBytes: UInt32) {
        var settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: OutboundState.mark),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: maxFieldBytes),
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES.rawValue), value: 1),
        ]
        settings.append(
            side == .server
                ? nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL.rawValue), value: 1)
                : nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0))
        check(nghttp2_submit_settings(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count))
        setWindow(of: 0, windows.connection)
    }

    // MARK: failing

    /// Ends the connection, and tells the peer so.
    func fail(_ code: HTTPFault.Code, _ error: UInt32) { fail(HTTPFault(code, at: 0), error) }

    func fail(_ fault: HTTPFault, _ error: UInt32) {
        guard failure == nil else { return }
        failure = fault
        if error == ConnectionError.calm { tally.floods += 1 }
        if let pointer { _ = nghttp2_session_terminate_session(pointer, error) }
    }

    /// nghttp2 told the peer that it ends the connection.
    func noteEnd(_ error: UInt32) {
        if failure == nil, error != ConnectionError.none { failure = ConnectionError.fault(error) }
    }

    /// Looks at what nghttp2 says to a call: what concerns a stream that has ended in the meantime is of no account.
    func check(_ result: Int32) {
        guard result < 0, nghttp2_is_fatal(result) != 0 else { return }
        if failure == nil { failure = HTTPFault(.protocolFailure, at: 0) }
    }

    func count(_ flood: Flood) {
        if !floods.takes(flood, now: inbound.now) { fail(flood.fault, ConnectionError.calm) }
    }

    func takeTally() -> StreamTally {
        defer { tally = StreamTally() }
        return tally
    }

    /// Ends a stream.
    func reset(_ id: Int32, _ error: UInt32) {
        check(nghttp2_submit_rst_stream(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, error))
    }

    /// Ends a stream for what the peer did.
    func reset(_ index: Int, for fault: HTTPFault, _ error: UInt32) {
        streams[index].fault = fault
        streams[index].peer = .ignored
        reset(streams[index].id, error)
    }
}

/// What a session has of the bytes that come.
struct InboundState {
    var walk: FrameWalk
    /// How many streams the peer may have begun at a time.
    let maxStreams: Int
    var block = FieldBlock()
    var limits = HeadLimits()
    var trailerLimits = HeadLimits()
    /// Of the fields that are being read.
    var fieldLimits = HeadLimits()
    var now = 0
    /// Where the input of the call begins that is under way.
    var base: UnsafePointer<UInt8>?
    /// The peer's first frame has come.
    var hasBegun = false
    /// Why the peer leaves.
    var farewell: StreamErrorCode?
    /// The peer has said what it takes.
    var isSettled = false
    /// What comes of the frame that has begun is not passed on.
    var isSkipping = false
    /// Whose fields those are that are being read, where it is to wait for itself; else 0.
    var selfDependent: Int32 = 0
    /// Fields have begun that go on in CONTINUATION frames.
    var isInFields = false
    var continuations = 0
    /// The DATA frame that is being read had data.
    var hasData = false

    init(walk: FrameWalk, maxStreams: Int) {
        self.walk = walk
        self.maxStreams = maxStreams
    }
}

/// What a session has of the bytes that go out.
struct OutboundState {
    /// Stands in the first SETTINGS for the number of streams until it is written.
    static let mark: UInt32 = 0x7FFF_FFFE

    /// What the call under way appends to.
    var bytes: [UInt8] = []
    /// Frames of messages have been made ready since anything was last appended.
    var isDue = false
    /// What is written of a body and waits for what follows, and whose it is.
    var held: [UInt8] = []
    var heldStream = StreamID(0)
    /// What the call under way writes of a body, before any of it is copied, and whose it is.
    var direct = UnsafeRawBufferPointer(start: nil, count: 0)
    var directStream: Int32 = 0
    /// Where fields of a message are put together before nghttp2 makes a copy.
    var fields = FieldList()
    /// Where nghttp2 makes frames. What stands there is of use until it is asked for the next one (nghttp2_session_mem_send).
    var frame: UnsafeRawPointer?
    /// How many were asked for and not answered.
    var pings = 0
    private let maxStreams: UInt32
    private var isTold = false

    init(maxStreams: UInt32) { self.maxStreams = maxStreams }

    /// The peer is told how many streams there may be; nghttp2 is not, for it would end the connection for one too many,
    /// where that stream alone is refused here (RFC 9113 §5.1.2).
    mutating func tellStreams(_ preface: Int) {
        guard !isTold, bytes.count >= preface + 15 else { return }
        isTold = true
        let place = preface + FrameHeader.size + 2
        for index in 0..<4 {
            bytes[place + index] = UInt8(truncatingIfNeeded: maxStreams >> UInt32(24 - 8 * index))
        }
    }
}
