import Authorization
import HTTPCodec
import Interception

/// Pushes for the devices of the configuration: what a push service posts to `http://usher.proxy/devices/push`. Their
/// signature is all that they have to show.
extension Exchange {
    private static let largestPush = 16 << 10

    var takesPush: Bool {
        request.method == .post && request.path == "/devices/push"
            && engine.settings.devices.contains { $0.push != nil }
    }

    mutating func collectPush(_ out: inout Outbox) {
        switch body.framing {
        case .length(let length) where length <= UInt64(Self.largestPush): break
        case .chunked: break
        case .length: return refusePush(413, "a push has \(Self.largestPush >> 10) KiB at most", &out)
        case .none, .untilClose: return refusePush(400, "the push has no body", &out)
        }
        body.keepLimit = Self.largestPush
        collect(&out)
    }

    /// The body is here, or as much of it as may be kept.
    mutating func takePush(_ context: ClientContext, _ out: inout Outbox) {
        guard body.isKept else {
            return refusePush(413, "a push has \(Self.largestPush >> 10) KiB at most", &out)
        }
        guard let state = context.stores.state, let pushes = context.stores.pushes else {
            return refusePush(503, "nobody keeps devices here", &out)
        }
        do throws(PushMessage.Refusal) {
            let message = try PushMessage(delivered: body.bytes, at: out.seconds) { mechanism in
                pushes.change { $0.roster(of: state).device(mechanism: mechanism) }
            }
            let now = out.now
            switch pushes.change({ $0.inbox.take(message, now: now) }) {
            case .taken, .known: break
            case .full: return refusePush(503, "too many pushes wait for an answer", &out)
            }
            log.tell(.conversation("a push for the device with the id \(message.device) was delivered"), out.now)
            let page = OwnPages.Page(type: "application/json", body: Array("{\"device\":\"\(message.device)\"}\n".utf8))
            answer(OwnResponse.page(page, flow: log.record.flow, date: out.date), &out)
        } catch {
            switch error {
            case .unreadable(let words): refusePush(400, "this is no push: \(words)", &out)
            case .unknownDevice: refusePush(404, "no device of that name was registered through this proxy", &out)
            case .wrongSignature: refusePush(403, "the push is not signed with the device's secret", &out)
            case .untimely: refusePush(410, "the push was made too long ago, or AM's clock and this one differ", &out)
            }
        }
    }

    private mutating func refusePush(_ status: Int, _ words: String, _ out: inout Outbox) {
        answer(ProxyError("http_request_error", status: status, words), &out)
    }
}
