internal import Formats

/// The running journeys and their `authId` tokens.
///
/// Like AM's, an `authId` is a token signed per realm with the claims `otk`, `authIndexType`, `authIndexValue`, `realm`,
/// `sessionId` and `exp`.
struct JourneyTable: Sendable {
    /// Seconds from the start to the last answer.
    static let lifetime = 300

    enum Lookup: Sendable {
        case found(Journey)
        /// Not a token of this realm.
        case unreadable
        /// Correctly signed, but the journey has ended or a newer step was issued.
        case gone
    }

    private var journeys = ExpiringTable<Journey>(lifetime: Self.lifetime)
    /// The suspended journeys by the id in their mailed links.
    private var suspended = ExpiringTable<String>(lifetime: Self.lifetime)
    private let secret: [UInt8]

    init(secret: [UInt8]) { self.secret = secret }

    private func key(_ realm: String) -> [UInt8] { Signature.code(Array(realm.utf8), key: secret) }

    mutating func begin(_ journey: Journey, now: Int) { journeys.insert(journey, id: journey.id, now: now) }

    mutating func end(_ journey: Journey) { journeys.remove(journey.id) }

    /// Stores the journey and makes the `authId` of its next step.
    mutating func authId(_ journey: Journey, from ids: inout TokenSource, now: Int) -> String {
        var next = journey
        next.key = ids.token()
        journeys.replace(journey.id, next)
        let start = journey.start
        let claims: JSONValue = [
            "otk": .string(next.key), "authIndexType": .string(start.indexType),
            "authIndexValue": .string(start.indexValue), "realm": .string(RealmRoute.distinguishedName(start.realm)),
            "sessionId": .string(start.id), "iat": .integer(now), "exp": .integer(now + Self.lifetime),
        ]
        let token = SignedToken.encode(claims, key: key(start.realm))
        guard let size = start.faults[.amHuge] else { return token }
        // text after a tilde is not part of the token
        return token + "~" + String(repeating: "a", count: max(0, size - token.utf8.count - 1))
    }

    func find(authId: String, realm: String, now: Int) -> Lookup {
        let token = String(authId.prefix { $0 != "~" })
        guard let claims = SignedToken.decode(token, key: key(realm)), let id = claims["sessionId"]?.text else {
            return .unreadable
        }
        guard let journey = journeys.value(id, now: now), journey.key == claims["otk"]?.text else { return .gone }
        return .found(journey)
    }

    /// The journey of a step, newest or not; nil for a start.
    static func journeyId(of request: SandboxRequest) -> String? {
        guard let step = try? JSONValue(parsing: request.body), let authId = step["authId"]?.text else { return nil }
        let parts = authId.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(parts[1]) else { return nil }
        return (try? JSONValue(parsing: bytes))?["sessionId"]?.text
    }

    /// The faults of a journey.
    func faults(of id: String, now: Int) -> Faults { journeys.value(id, now: now)?.start.faults ?? Faults() }

    /// Suspends a journey.
    /// - Returns: the id for its link.
    mutating func suspend(_ journey: Journey, from ids: inout TokenSource, now: Int) -> String {
        let id = ids.token()
        suspended.insert(journey.id, id: id, now: now)
        return id
    }

    /// The journey of a link. Each link works once.
    mutating func resume(_ link: String, realm: String, now: Int) -> Journey? {
        guard let journey = suspended.remove(link).flatMap({ journeys.value($0, now: now) }) else { return nil }
        return journey.realm == realm ? journey : nil
    }
}
