import Authorization
import HTTPCodec

/// A push for a configured device, as a push service posts it to `http://usher.proxy/devices/push`. Only its signature
/// authenticates it.
struct PushDelivery {
    /// The device's id.
    let device: String

    /// The most bytes of a push.
    static let largest = 16 << 10
    private static let tooLarge = error(413, "a push has \(largest >> 10) KiB at most")

    static func isMeant(by request: RequestHead, _ devices: [Device]) -> Bool {
        request.method == .post && request.path == "/devices/push" && devices.contains { $0.push != nil }
    }

    /// The error for a body with this framing; nil if it is accepted.
    static func refusal(of framing: BodyFraming) -> ProxyError? {
        switch framing {
        case .length(let length) where length <= UInt64(largest): nil
        case .chunked: nil
        case .length: tooLarge
        case .none, .untilClose: error(400, "the push has no body")
        }
    }

    /// Puts the push into its device's inbox.
    /// - Throws: the reason for refusing it.
    init(_ body: borrowing RequestBody, _ stores: SharedStores, at time: CookieSessions.Now) throws(ProxyError) {
        guard body.isKept else { throw Self.tooLarge }
        guard let state = stores.state, let pushes = stores.pushes else {
            throw Self.error(503, "nobody keeps devices here")
        }
        do throws(PushMessage.Refusal) {
            let message = try PushMessage(delivered: body.bytes, at: time.seconds) { mechanism in
                pushes.change { $0.roster(of: state).device(mechanism: mechanism) }
            }
            device = message.device
            switch pushes.change({ $0.inbox.take(message, now: time.milliseconds) }) {
            case .taken, .known: return
            case .full: break
            }
        } catch {
            switch error {
            case .unreadable(let words): throw Self.error(400, "this is not a push: \(words)")
            case .unknownDevice: throw Self.error(404, "no device of that name was registered through this proxy")
            case .wrongSignature: throw Self.error(403, "the push is not signed with the device's secret")
            case .untimely:
                throw Self.error(410, "the push was made too long ago, or AM's clock and this one differ")
            }
        }
        throw Self.error(503, "too many pushes wait")
    }

    var page: OwnPages.Page {
        OwnPages.Page(type: "application/json", body: Array("{\"device\":\"\(device)\"}\n".utf8))
    }

    private static func error(_ status: Int, _ words: String) -> ProxyError {
        ProxyError("http_request_error", status: status, words)
    }
}
