internal import Declaration

/// The objects of the configuration, except those in the values of edits.
extension ObjectShape {
    static let root: ObjectShape = .init("root", KeyTable.root)
    static let clients: ObjectShape = .init("clients", KeyTable.clients)
    static let basic: ObjectShape = .init("basic", KeyTable.basic)
    static let names: ObjectShape = .init("names", KeyTable.names)
    static let http2: ObjectShape = .init("http2", KeyTable.http2)
    static let destinations: ObjectShape = .init("destinations", KeyTable.destinations)
    static let via: ObjectShape = .init("via", KeyTable.via)
    static let tls: ObjectShape = .init("tls", KeyTable.tls)
    static let authority: ObjectShape = .init("ca", KeyTable.authority)
    static let upstreamTLS: ObjectShape = .init("upstream_tls", KeyTable.upstreamTLS)
    static let upstreamHost: ObjectShape = .init("upstream_host", KeyTable.upstreamHost)
    static let clientCertificate: ObjectShape = .init("client_certificate", KeyTable.clientCertificate)
    static let listenerIdentity: ObjectShape = .init("listener", KeyTable.listenerIdentity)
    static let server: ObjectShape = .init("server", KeyTable.server)
    static let paths: ObjectShape = .init("paths", KeyTable.paths)
    static let action: ObjectShape = .init("action", KeyTable.action)
    static let interceptor: ObjectShape = .init("interceptor", KeyTable.interceptor)
    static let condition: ObjectShape = .init("condition", KeyTable.condition)
    static let requestEdit: ObjectShape = .init("request_edit", KeyTable.requestEdit)
    static let responseEdit: ObjectShape = .init("response_edit", KeyTable.responseEdit)
    static let errorEdit: ObjectShape = .init("error_edit", KeyTable.errorEdit)
    static let authorization: ObjectShape = .init("authorization", KeyTable.authorization + KeyTable.sessionKeys)
    static let resource: ObjectShape = .init("resource", KeyTable.resource)
    static let present: ObjectShape = .init("present", KeyTable.present)
    static let stepUpLimits: ObjectShape = .init("step_up_limits", KeyTable.stepUpLimits)
    static let rounds: ObjectShape = .init("rounds", KeyTable.rounds)
    static let lockout: ObjectShape = .init("lockout", KeyTable.lockout)
    static let callbackAnswer: ObjectShape = .init("callback_answer", KeyTable.callbackAnswer)
    static let totp: ObjectShape = .init("totp", KeyTable.totp)
    static let hotp: ObjectShape = .init("hotp", KeyTable.hotp)
    static let deviceProfile: ObjectShape = .init("device_profile", KeyTable.deviceProfile)
    static let tokens: ObjectShape = .init("tokens", KeyTable.tokens)
    static let tokenClient: ObjectShape = .init("token_client", KeyTable.tokenClient)
    static let device: ObjectShape = .init("device", KeyTable.device)
    static let state: ObjectShape = .init("state", KeyTable.state)
    static let limits: ObjectShape = .init("limits", KeyTable.limits)
    static let timeouts: ObjectShape = .init("timeouts", KeyTable.timeouts)
    static let admin: ObjectShape = .init("admin", KeyTable.admin)
    static let journal: ObjectShape = .init("journal", KeyTable.journal)
    static let journalDisk: ObjectShape = .init("journal.disk", KeyTable.journalDisk)
    static let log: ObjectShape = .init("log", KeyTable.log)
    static let tracing: ObjectShape = .init("tracing", KeyTable.tracing)

    /// Every object of the configuration, in the order of the keys that contain them.
    static let all = places.map(\.object)

    /// The same, each with the path of the first key that contains it: `am[]` for an entry of the list `am`.
    static let places: [(object: ObjectShape, path: String)] = {
        var found: [(object: ObjectShape, path: String)] = []
        func visit(_ object: ObjectShape, _ path: String) {
            guard !found.contains(where: { $0.object == object }) else { return }
            found.append((object, path))
            for key in object.keys {
                guard let inner = key.shape.inner else { continue }
                visit(inner.object, (path.isEmpty ? key.name : "\(path).\(key.name)") + inner.path)
            }
        }
        visit(.root, "")
        return found
    }()
}

extension Shape {
    /// The object that a value of this shape may contain, and the path from the value to it.
    fileprivate var inner: (object: ObjectShape, path: String)? {
        switch self {
        case .object(let object), .textOr(_, let object), .durationOr(_, let object), .booleanOr(let object),
            .choiceOr(_, let object):
            (object, "")
        case .list(let element): element.inner.map { ($0.object, "[]" + $0.path) }
        case .oneOrMany(let element): element.inner
        case .map(_, let element): element.inner.map { ($0.object, ".NAME" + $0.path) }
        default: nil
        }
    }
}
