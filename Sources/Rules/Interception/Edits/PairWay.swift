/// What an edit of pairs does with values of the same name.
public protocol PairWay: Sendable {
    /// Whether the values stay.
    static var adds: Bool { get }
}

extension PairWay {
    static var verb: String { adds ? "add" : "set" }
    static var pastVerb: String { adds ? "added" : "set" }
}

/// The pair replaces the values.
public enum Setting: PairWay { public static let adds = false }
/// The pair stands beside the values.
public enum Adding: PairWay { public static let adds = true }
