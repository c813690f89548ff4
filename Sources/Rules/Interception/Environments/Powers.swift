/// What an environment allows Usher to do to its hosts. To observe is always allowed, so it has no bit.
public struct Powers: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let observe: Powers = []
    /// To change messages, or to send them elsewhere.
    public static let edit = Powers(rawValue: 1)
    /// To respond in place of the origin.
    public static let mock = Powers(rawValue: 2)
    /// To delay, abort or break exchanges.
    public static let fault = Powers(rawValue: 4)
    /// To send a request again.
    public static let replay = Powers(rawValue: 8)
    /// To sign in unattended: step-ups, sessions, tokens, devices and the logins of interceptors.
    public static let stepUp = Powers(rawValue: 16)

    /// The words of the configuration.
    public static let words: KeyValuePairs<String, Powers> = [
        "observe": .observe, "edit": .edit, "mock": .mock, "fault": .fault, "replay": .replay, "step_up": .stepUp,
    ]
    public static let all = Powers(words.map(\.value))

    /// The words of the configuration for them.
    public var names: [String] { Self.words.filter { contains($0.value) }.map(\.key) }
}
