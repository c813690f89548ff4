import Interception
public import TLSEngine

/// Interprets a failed TLS handshake of the client.
extension ClientContext {
    /// - Parameters:
    ///   - hasSeen: the client had received the certificate.
    ///   - target: the target of the handshake's tunnel; nil for the listener's own TLS.
    func handshakeFailed(
        _ fault: TLSFault, hasSeen: Bool, _ target: Origin?, _ onRefusal: InterceptionPolicy.OnRefusal
    ) -> LogEvent {
        let name = target.map { $0.serverName ?? $0.host } ?? "the proxy itself"
        let remedy = target == nil ? Self.listenerRemedy : Self.remedy
        switch fault.kind {
        case .alert(let alert) where TLSFault.refusesCertificate(alert):
            refused(name, at: target, onRefusal)
            return .certificateRefused(
                token: "tls_alert_received",
                details: "the client refused Usher's certificate for \(name) "
                    + "(TLS alert \(TLSFault.alertName(alert))): \(remedy)")
        case .alert:
            return .failed(token: "tls_alert_received", details: "the client's handshake for \(name): \(fault.words)")
        case .closed where hasSeen:
            switch departure(from: name, target) {
            case .besideAnother: return .leftHandshake(name)
            case .unclear:
                return .failed(
                    token: "connection_terminated",
                    details:
                        "the client left when it had seen Usher's certificate for \(name), without a word; if it refused it, "
                        + remedy)
            case .refusal:
                return .certificateRefused(
                    token: "connection_terminated",
                    details: "the client left again when it had seen Usher's certificate for \(name), "
                        + "and likely refused it: \(remedy)")
            }
        case .local:
            return .failed(token: "proxy_internal_error", details: "no handshake for \(name): \(fault.words)")
        case .closed, .certificate, .protocolError, .version:
            return .failed(token: "tls_protocol_error", details: "the client's handshake for \(name): \(fault.words)")
        }
    }

    private static let remedy =
        "have it trust the CA (http://usher.proxy/ through the proxy, or usher env), or name the host in "
        + "tls.except where the client accepts one certificate alone"
    /// The remedy at a listener, where nothing is decrypted: the client speaks TLS to its proxy.
    private static let listenerRemedy =
        "have it trust the CA of that certificate for its proxy too (Usher's own unless tls.listener names one: "
        + "usher ca export; curl: --proxy-cacert), or name one under tls.listener that it trusts already"

    func isLeftAlone(_ place: ServerPlace) -> Bool { stores.refusals?.isLeftAlone(place, for: key) == true }

    private func refused(_ name: String, at target: Origin?, _ onRefusal: InterceptionPolicy.OnRefusal) {
        guard let target, onRefusal == .tunnel else { return }
        stores.refusals?.refused(ServerPlace(name, port: target.port), by: key)
    }

    /// Interprets a close by the client after it has received the certificate.
    private func departure(from name: String, _ target: Origin?) -> RefusalCounts.Departure {
        guard let target, let refusals = stores.refusals else { return .unclear }
        return refusals.left(ServerPlace(name, port: target.port), by: key)
    }
}

/// Remembers which clients repeatedly refuse which servers' certificates. A refusal counts only for its own client.
public protocol RefusalStore: AnyObject, Sendable {
    func began(_ place: ServerPlace, by client: ClientKey)
    /// - Parameter isDone: the handshake succeeded, and there was a connection.
    func ended(_ place: ServerPlace, by client: ClientKey, isDone: Bool)
    func refused(_ place: ServerPlace, by client: ClientKey)
    func left(_ place: ServerPlace, by client: ClientKey) -> RefusalCounts.Departure
    func accepted(_ place: ServerPlace, by client: ClientKey)
    func isLeftAlone(_ place: ServerPlace, for client: ClientKey) -> Bool
}

/// A client's handshake and the connection after it. Its lifetime ends with the last reference.
final class HandshakeMark {
    private let store: any RefusalStore
    private let place: ServerPlace
    private let client: ClientKey
    /// The handshake succeeded.
    var isDone = false

    init(_ store: any RefusalStore, _ place: ServerPlace, _ client: ClientKey) {
        (self.store, self.place, self.client) = (store, place, client)
        store.began(place, by: client)
    }

    deinit { store.ended(place, by: client, isDone: isDone) }
}

extension TLSStream.Negotiated: CustomStringConvertible {
    /// `TLSv1.3, TLS_AES_256_GCM_SHA384, http/1.1, resumed`
    public var description: String {
        version + ", " + cipher + (spoken.map { ", \($0.rawValue)" } ?? "") + (isResumed ? ", resumed" : "")
    }
}
