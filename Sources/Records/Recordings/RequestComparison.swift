internal import Formats
internal import Journal

/// A request beside a recorded one.
struct RequestComparison {
    /// The values in the places of the recorded aliases.
    private(set) var values: [(alias: SecretAlias, value: String, place: String)] = []
    private(set) var differences: [ReplayDifference] = []

    /// Fields that tell users or requests of a recording apart, if they hold a secret.
    private static let compared = ["header.", "cookie."]

    /// - Parameters:
    /// - ignored: places that are not compared.
    /// - credentials: the fields and cookies that hold a secret in some request of the recording.
    init(
        _ live: RequestParts, with recorded: RequestParts, ignoring ignored: Set<String>, credentials: Set<String>,
        _ mode: ReplayMode
    ) {
        var rest: [String: String] = [:]
        for part in live.parts { rest[part.place] = part.value }
        func counts(_ place: String, hasAlias: Bool) -> Bool {
            guard !ignored.contains(place) else { return false }
            return !Self.isField(place) || mode == .strict && (hasAlias || credentials.contains(place))
        }
        for part in recorded.parts {
            let value = rest.removeValue(forKey: part.place)
            let hasAlias = !part.pattern.aliases.isEmpty
            // a looser comparison takes over the values that came, too
            guard counts(part.place, hasAlias: hasAlias) || hasAlias && value != nil else { continue }
            guard let value else {
                differences.append(ReplayDifference(part.place, recorded: part.value, sent: nil))
                continue
            }
            if let found = part.pattern.values(in: value) {
                values += found.map { ($0.alias, $0.value, part.place) }
            } else if !Self.isLike(part.value, value, mode), counts(part.place, hasAlias: hasAlias) {
                differences.append(
                    ReplayDifference(
                        part.place, recorded: part.value,
                        sent: hasAlias || credentials.contains(part.place) ? "another value" : value))
            }
        }
        for part in live.parts where rest[part.place] != nil && counts(part.place, hasAlias: false) {
            // what came may be a secret
            differences.append(ReplayDifference(part.place, recorded: nil, sent: "something"))
        }
    }

    /// A request that no comparison is worth.
    init(_ difference: ReplayDifference) { differences = [difference] }

    static func isField(_ place: String) -> Bool { compared.contains { place.hasPrefix($0) } }

    /// True for two times, and in a loose comparison for two ids, times or long numbers.
    private static func isLike(_ recorded: String, _ sent: String, _ mode: ReplayMode) -> Bool {
        if CalendarTime.seconds(ofInternet: recorded) != nil { return CalendarTime.seconds(ofInternet: sent) != nil }
        guard mode != .strict else { return false }
        var (one, other) = (SteadyText(), SteadyText())
        return one.steady(recorded) == other.steady(sent)
    }

    /// How far the requests are from each other; another path is farther than any other difference.
    var distance: Int {
        differences.reduce(0) { $0 + (["path", "origin"].contains($1.place) ? 1000 : $1.place == "method" ? 100 : 1) }
    }

    mutating func add(_ difference: ReplayDifference) { differences.append(difference) }
}

/// A place of a request that differs from the recorded one.
public struct ReplayDifference: Sendable {
    /// Such as `query.client_id` or `body/callbacks/0/type`.
    public var place: String
    /// Nil if the recorded request has nothing there.
    public var recorded: String?
    /// Nil if the request has nothing there. Words in place of a value that may be secret.
    public var sent: String?

    init(_ place: String, recorded: String?, sent: String?) {
        (self.place, self.recorded, self.sent) = (place, recorded, sent)
    }
}

/// How a replay compares requests.
public enum ReplayMode: String, CaseIterable, Sendable {
    /// All values count, and a secret has to be the one that the replay gave out.
    case strict
    /// Secrets, credentials, ids and times do not count.
    case loose
    /// As strict; a request that fits nothing goes to the real server.
    case spy
}
