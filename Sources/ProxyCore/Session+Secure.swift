import HTTPCodec
import Interception
public import TLSEngine

/// The client's TLS: whether a tunnel is opened, with whose name, and what came of it.
extension Session {
    /// Alerts that refuse a ClientHello (RFC 8446 §5.1, §6.2): fatal decode_error.
    private static let decodeError: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x32]
    /// The same for internal_error.
    private static let internalError: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x50]

    var interception: InterceptionPolicy { engine.settings.interception }

    /// A listener that speaks TLS itself: the first bytes go to its engine.
    /// - Returns: false while too little is here.
    mutating func greet(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Bool {
        switch TunnelProtocol.recognise(bytes) {
        case .undecided: return false
        case .http, .connect:
            // answered in the clear, for that is what the client understands
            startRecord()
            phase = .exchanging
            closesAfter = true
            bodyState = .complete
            answer(
                .badRequest(400, "this port of the proxy speaks TLS: write https:// before it in the proxy's URL"), &out
            )
        case .other:
            switch ClientHello.peek(bytes) {
            case .needsMore:
                beginHello()
                return false
            case .hello(let hello): secure(showing: .listener(hello.serverName), bytes, &out)
            case .notTLS: refuseHello("the client speaks neither TLS nor HTTP to a listener that speaks TLS", &out)
            case .malformed(let words): refuseHello("the client's ClientHello breaks TLS: \(words)", &out)
            case .tooLarge: refuseHello(Self.tooLarge, &out)
            }
        }
        return true
    }

    // MARK: inside a tunnel

    /// The first bytes inside the tunnel are no HTTP. False while they do not tell yet.
    mutating func peekSecure(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Bool {
        guard !interception.isEmpty, let target = connectTarget else {
            openTunnel(&out)
            return true
        }
        let isWanted = interception.opens(target.host, port: target.port)
        switch ClientHello.peek(bytes) {
        case .needsMore:
            if isWanted { beginHello() }
            return false
        case .notTLS: openTunnel(&out)
        case .malformed(let words) where isWanted: refuseHello("the client's ClientHello breaks TLS: \(words)", &out)
        case .tooLarge where isWanted: refuseHello(Self.tooLarge, &out)
        case .malformed, .tooLarge: openTunnel(&out)
        case .hello(let hello): decide(hello, target, bytes, &out)
        }
        return true
    }

    private static let tooLarge = "the client's ClientHello is larger than \(ClientHello.maxBytes) bytes"

    /// Whoever begins a handshake has to go on with it.
    private mutating func beginHello() {
        guard !headBegan else { return }
        headBegan = true
        deadline = now + engine.settings.timeouts.tls
    }

    /// The configuration is asked again, now that the client has said whom it wants.
    private mutating func decide(
        _ hello: ClientHello, _ target: Origin, _ bytes: Span<UInt8>, _ out: inout Outbox
    ) {
        let name = hello.serverName ?? target.host
        let isOther = name != target.host
        if isOther {
            note(.note, "the client asks for \(name) (SNI) in a tunnel to \(target)")
        }
        guard interception.opens(name, port: target.port) else { return openTunnel(&out) }
        if !hello.protocols.isEmpty, !hello.protocols.contains(Array("http/1.1".utf8)) {
            let offered = hello.protocols.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ")
            note(.note, "left unopened: the client offers \(offered) (ALPN) alone, and Usher speaks http/1.1")
            return openTunnel(&out)
        }
        if interception.onRefusal == .tunnel, refusals?.isLeftAlone(name, for: clientKey) == true {
            note(
                .note,
                "left unopened: this client refused Usher's certificate for \(name) again and again (tls.on_refusal)"
            )
            return openTunnel(&out)
        }
        connectTarget.change { $0.serverName = isOther ? name : nil }
        secure(showing: .host(name), bytes, &out)
    }

    private mutating func secure(showing name: ShownName, _ hello: Span<UInt8>, _ out: inout Outbox) {
        // a connection that stands, or is being made, is for a tunnel that nobody opens
        if origin.state != .idle { releaseOrigin(reusable: false, &out) }
        phase = .securing
        deadline = now + engine.settings.timeouts.tls
        var bytes: [UInt8] = []
        bytes.append(hello)
        out.orders.append(.secureClient(showing: name, hello: bytes))
    }

    private mutating func refuseHello(_ words: String, _ out: inout Outbox) {
        out.client.append(contentsOf: Self.decodeError)
        clientUnsecured("tls_protocol_error", words, &out)
    }

    // MARK: the handshake's outcome

    /// The client's handshake is done: what it says from here on comes decrypted.
    public mutating func clientSecured(_ agreement: TLSStream.Agreement, now: Int, _ out: inout Outbox) {
        self.now = now
        guard phase == .securing else { return }
        headBegan = false
        deadline = now + engine.settings.timeouts.idle
        phase = .awaitingRequest
        guard let target = connectTarget else { return }
        let name = target.serverName ?? target.host
        if interception.onRefusal == .tunnel { refusals?.accepted(name, by: clientKey) }
        note(.note, "opened as \(name): \(agreement)")
        // the tunnel is recorded by itself, the requests inside as exchanges of their own
        record.milliseconds = now - began
        out.orders.append(.record)
        tunnelTarget = target.secured
        connectTarget = nil
        responseStarted = false
    }

    /// The client's handshake failed.
    /// - Parameter hasSeen: the client had been shown the certificate.
    public mutating func clientUnsecured(_ fault: TLSFault, hasSeen: Bool, now: Int, _ out: inout Outbox) {
        self.now = now
        guard phase == .securing else { return }
        let name = connectTarget.map { $0.serverName ?? $0.host } ?? "the proxy itself"
        switch fault.kind {
        case .alert(let alert) where TLSFault.refusesCertificate(alert):
            refused(name)
            clientUnsecured(
                "tls_alert_received",
                "the client refused Usher's certificate for \(name) (TLS alert \(TLSFault.alertName(alert))): \(remedy)",
                &out)
        case .alert: clientUnsecured("tls_alert_received", "the client's handshake for \(name): \(fault.words)", &out)
        case .closed where hasSeen:
            refused(name)
            clientUnsecured(
                "connection_terminated",
                "the client left when it had seen Usher's certificate for \(name), and likely refused it: \(remedy)",
                &out)
        case .local:
            if !hasSeen { out.client.append(contentsOf: Self.internalError) }
            clientUnsecured("proxy_internal_error", "no handshake for \(name): \(fault.words)", &out)
        case .closed, .certificate, .protocolError, .version:
            clientUnsecured("tls_protocol_error", "the client's handshake for \(name): \(fault.words)", &out)
        }
    }

    private var remedy: String {
        guard connectTarget == nil else {
            return "have it trust the CA (http://usher.proxy/ through the proxy, or usher env), or name the host in "
                + "tls.except where the client accepts one certificate alone"
        }
        // nothing is opened here: the client speaks TLS to its proxy
        return "have it trust the CA of that certificate for its proxy too (Usher's own unless tls.listener names one: "
            + "usher ca export; curl: --proxy-cacert), or name one under tls.listener that it trusts already"
    }

    private mutating func refused(_ name: String) {
        if connectTarget != nil, interception.onRefusal == .tunnel { refusals?.refused(name, by: clientKey) }
    }

    private var clientKey: ClientKey { ClientKey(address: source.address, user: user) }

    mutating func clientHandshakeTimedOut(_ out: inout Outbox) {
        clientUnsecured(
            "connection_timeout", "the client did not finish its TLS handshake within timeouts.tls", &out)
    }

    private mutating func clientUnsecured(_ token: String, _ words: String, _ out: inout Outbox) {
        if connectTarget == nil { startRecord() }
        phase = .securing
        record.proxyError = token
        note(.note, words)
        abandon(reset: false, &out)
    }
}

/// Remembers which hosts' certificates which clients refuse again and again: one client's word counts for itself alone.
public protocol RefusalMemory: AnyObject, Sendable {
    func refused(_ host: String, by client: ClientKey)
    func accepted(_ host: String, by client: ClientKey)
    func isLeftAlone(_ host: String, for client: ClientKey) -> Bool
}

extension TLSStream.Agreement: CustomStringConvertible {
    /// `TLSv1.3, TLS_AES_256_GCM_SHA384, http/1.1, resumed`
    public var description: String {
        version + ", " + cipher + (protocolName.map { ", \($0)" } ?? "") + (isResumed ? ", resumed" : "")
    }
}
