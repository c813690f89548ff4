import HTTPCodec
import Interception
import Passwords

/// Finds the test session of a request and lets the exchange join it.
enum TestSessionGate {
    /// - Returns: whether the session's key takes the place of the user's password.
    /// - Throws: the refusal when the session is unknown: without it, the test would run on without its rules.
    static func enter(_ info: inout ExchangeInfo, _ context: inout ClientContext) throws(ProxyError) -> Bool {
        if context.tunnel == nil { context.testSession = context.source.testSession }
        if let id = context.testSession {
            guard let session = context.stores.testSessions?.session(id) else { throw ended(id) }
            info.enter(session)
            return false
        }
        if info.received.head.fields.contains(.usherSession) {
            info.enter(try session(of: fieldKey(info.received.head), context.stores, status: 403))
            // a flow names its session, and does not need its key
            info.received.head.fields.removeAll { $0.slots[$1].known == .usherSession }
            return false
        }
        guard context.tunnel == nil, info.received.head.fields.contains(.proxyAuthorization),
            let key = try credentialKey(info.received.head)
        else { return false }
        // a user of that name comes first
        if info.engine.settings.users?.hash(of: key.id)?.isDecoy == false { return false }
        info.enter(try session(of: key, context.stores, status: 407))
        info.received.head.fields.removeAll { $0.slots[$1].known == .proxyAuthorization }
        context.user = nil
        return true
    }

    private static func credentialKey(_ head: RequestHead) throws(ProxyError) -> TestSessionKey? {
        let fields = head.fields
        guard fields.only(.proxyAuthorization) == nil else {
            return BasicCredentials(head).flatMap(TestSessionKey.init)
        }
        // with several, none would count, and the request would go on without the rules of its session
        let isAny = (0..<fields.count).contains { index in
            fields.slots[index].known == .proxyAuthorization
                && BasicCredentials(field: fields.value(index)).flatMap(TestSessionKey.init) != nil
        }
        guard !isAny else {
            throw ProxyError("http_request_error", status: 400, "Proxy-Authorization must stand once in a request")
        }
        return nil
    }

    private static func fieldKey(_ head: RequestHead) throws(ProxyError) -> TestSessionKey {
        guard let place = head.fields.only(.usherSession) else {
            throw ProxyError("http_request_error", status: 400, "\(TestSessionKey.field) must stand once in a request")
        }
        return TestSessionKey(field: head.fields.value(place))
    }

    private static func session(
        of key: TestSessionKey, _ stores: SharedStores, status: Int
    ) throws(ProxyError) -> TestSession {
        guard let session = stores.testSessions?.session(of: key) else {
            var error = unknown(key.id, status: status)
            if status == 407 { error.fields = [PasswordGate.challengeField] }
            throw error
        }
        return session
    }

    private static func unknown(_ id: String, status: Int) -> ProxyError {
        ProxyError(
            "http_request_denied", status: status,
            "there is no test session \(shown(id)) with that key: it has ended, or never was; usher session list shows those that are open"
        )
    }

    private static func ended(_ id: String) -> ProxyError {
        ProxyError(
            "http_request_denied", status: 403,
            "the test session \(shown(id)) has ended; start another with usher session start")
    }

    /// The id as the client sent it is shown only as far as it could be one.
    private static func shown(_ id: String) -> String {
        String(
            id.unicodeScalars.prefix(40).filter { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F }.map(Character.init)
        )
    }
}

extension ExchangeInfo {
    /// The stores of the exchange: those of its test session, or of all clients.
    func stores(_ client: borrowing ClientContext) -> SharedStores { testSession?.stores ?? client.stores }
}
