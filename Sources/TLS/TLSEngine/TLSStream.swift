internal import COpenSSL

/// One side of a TLS connection as a state machine (RFC 8446, RFC 5246): records in, plain bytes out, and vice versa. It
/// has no socket and never blocks. It must not be used after a failure.
public final class TLSStream {
    public enum State: Equatable, Sendable {
        case handshaking
        case open
        /// The peer sends no more (close_notify, RFC 8446 §6.1). It can still receive.
        case ended
        case failed(TLSFault)
    }

    /// The negotiated parameters, for the exchange's record.
    public struct Negotiated: Sendable {
        /// `TLSv1.3`
        public var version: String
        public var cipher: String
        public var isResumed: Bool
        /// Nil if none was negotiated.
        public var spoken: ApplicationProtocol?

        public init(version: String, cipher: String, isResumed: Bool, spoken: ApplicationProtocol?) {
            self.version = version
            self.cipher = cipher
            self.isResumed = isResumed
            self.spoken = spoken
        }
    }

    public private(set) var state = State.handshaking
    private let ssl: OpaquePointer
    private let port: OpaquePointer
    /// Keeps the objects alive that OpenSSL's callbacks use.
    private let context: AnyObject
    private let isServer: Bool
    /// The requirements for the origin's certificate, and the fault that was found.
    var verification: OriginVerification?
    var keyLog: KeyLog?
    /// The protocols that a server accepts, the preferred first.
    var protocols: [ApplicationProtocol] = []
    /// The newest session for resumption since the last call.
    private var newSession: TLSSession?

    /// True once the own certificate was sent, so a peer that leaves afterwards has seen it.
    public private(set) var hasShownItself = false

    /// - Throws: `TLSFault` if OpenSSL has no memory.
    init(_ handle: OpaquePointer, context: AnyObject, isServer: Bool) throws(TLSFault) {
        ErrorQueue.clear()
        guard let ssl = SSL_new(handle) else { throw Self.noMemory() }
        guard let port = MemoryBIO.make() else {
            SSL_free(ssl)
            throw Self.noMemory()
        }
        guard BIO_up_ref(port) == 1 else {
            BIO_free(port)
            SSL_free(ssl)
            throw Self.noMemory()
        }
        self.ssl = ssl
        self.port = port
        self.context = context
        self.isServer = isServer
        // one port serves both directions: OpenSSL takes both references
        SSL_set0_rbio(ssl, port)
        SSL_set0_wbio(ssl, port)
        if isServer { SSL_set_accept_state(ssl) } else { SSL_set_connect_state(ssl) }
        // the callbacks find this stream through it
        try LibraryCall.connection(
            SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque()) == 1, "SSL_set_ex_data")
    }

    private static func noMemory() -> TLSFault {
        ErrorQueue.clear()
        return TLSFault(.local, "there is no memory for a TLS connection")
    }

    deinit {
        SSL_set_ex_data(ssl, 0, nil)
        // an end without close_notify must not invalidate the session, as SSL_free(3) would have it
        if state == .open || state == .ended { SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        SSL_free(ssl)
    }

    /// The stream of an SSL in one of OpenSSL's callbacks. It lives as long as the SSL.
    static func of(_ ssl: OpaquePointer?) -> TLSStream? {
        guard let ssl, let data = SSL_get_ex_data(ssl, 0) else { return nil }
        return Unmanaged<TLSStream>.fromOpaque(data).takeUnretainedValue()
    }

    /// Sets the connection up before it begins.
    func configure(_ body: (OpaquePointer) throws(TLSFault) -> Void) throws(TLSFault) {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        try body(ssl)
    }

    // MARK: the conversation

    /// Sends the client's first flight. A server has none.
    public func begin(_ buffers: TLSBuffers) {
        if !isServer { received(UnsafeRawBufferPointer(start: nil, count: 0), buffers) }
    }

    /// Receives records from the peer. Afterwards `buffers.decrypted` has their data, `buffers.records` the records to send,
    /// and `state` the result. Send the records also after a failure: they tell the peer the reason.
    /// - Parameter bytes: at most `TLSBuffers.maxInput`.
    public func received(_ bytes: UnsafeRawBufferPointer, _ buffers: TLSBuffers) {
        buffers.plainCount = 0
        buffers.input = bytes
        if case .failed = state { return }
        attach(buffers)
        if state == .handshaking { advanceHandshake(buffers) }
        if state == .open { read(buffers) }
        detach(buffers)
    }

    /// Encrypts. Afterwards `buffers.records` holds the records to send.
    /// - Returns: false if the handshake is incomplete or the stream has ended.
    public func send(_ bytes: UnsafeRawBufferPointer, _ buffers: TLSBuffers) -> Bool {
        guard state == .open || state == .ended else { return false }
        attach(buffers)
        defer { detach(buffers) }
        var rest = bytes
        while !rest.isEmpty {
            let count = SSL_write(ssl, rest.baseAddress, Int32(min(rest.count, Int(Int32.max))))
            guard count > 0 else {
                fail(count)
                // the buffers are shared, so earlier output must be removed
                buffers.clearRecords()
                return false
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[Int(count)...])
        }
        return true
    }

    /// Sends close_notify: no more data follows. Afterwards `buffers.records` has the message.
    public func finish(_ buffers: TLSBuffers) {
        guard state == .open || state == .ended else { return }
        attach(buffers)
        // no message is better than half of one: the closed connection then shows the end
        if SSL_shutdown(ssl) < 0 { buffers.clearRecords() }
        detach(buffers)
    }

    private func attach(_ buffers: TLSBuffers) {
        ErrorQueue.clear()
        MemoryBIO.attach(port, buffers)
    }

    private func detach(_ buffers: TLSBuffers) {
        MemoryBIO.detach(port)
        buffers.input = UnsafeRawBufferPointer(start: nil, count: 0)
        ErrorQueue.clear()
    }

    private func advanceHandshake(_ buffers: TLSBuffers) {
        let code = SSL_do_handshake(ssl)
        if isServer, !hasShownItself, !buffers.records.isEmpty { hasShownItself = true }
        if code == 1 { state = .open } else { fail(code) }
    }

    private func read(_ buffers: TLSBuffers) {
        while true {
            let room = UnsafeMutableRawBufferPointer(rebasing: buffers.plain[buffers.plainCount...])
            guard room.count > 0 else {
                state = .failed(TLSFault(.local, "more was decrypted than was received"))
                return
            }
            let count = SSL_read(ssl, room.baseAddress, Int32(room.count))
            guard count > 0 else { return fail(count) }
            buffers.plainCount += Int(count)
            // asking OpenSSL for a missing record would cost half as much as reading one
            if buffers.input.isEmpty, SSL_has_pending(ssl) == 0 { return }
        }
    }

    /// Handles the result of a failed call. Needing more input is no failure.
    private func fail(_ code: Int32) {
        switch SSL_get_error(ssl, code) {
        case SSL_ERROR_WANT_READ: return
        case SSL_ERROR_ZERO_RETURN: state = state == .handshaking ? .failed(.closedInHandshake) : .ended
        default:
            let error = ErrorQueue.take()
            state = .failed(
                verification?.fault ?? TLSFault(library: error?.library, reason: error?.reason, words: error?.words))
        }
    }

    // MARK: what was agreed on

    /// Nil before the handshake is complete, and after a failure.
    public var negotiated: Negotiated? {
        guard state == .open || state == .ended else { return nil }
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &bytes, &count)
        return Negotiated(
            version: String(cString: SSL_get_version(ssl)),
            cipher: SSL_get_current_cipher(ssl).flatMap { SSL_CIPHER_get_name($0) }.map { String(cString: $0) } ?? "",
            isResumed: SSL_session_reused(ssl) == 1,
            spoken: bytes.flatMap {
                ApplicationProtocol(
                    rawValue: String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self))
            })
    }

    // MARK: resumption

    func keep(_ session: TLSSession) { newSession = session }

    /// The latest session from the origin; nil if there is none since the last call.
    public func takeSession() -> TLSSession? {
        guard let session = newSession else { return nil }
        newSession = nil
        return session
    }
}
