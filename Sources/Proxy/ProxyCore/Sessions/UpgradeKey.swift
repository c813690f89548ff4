public import Authorization

/// Identifies the upgrade of a session for an advice.
public struct UpgradeKey: CredentialKey {
    /// A digest of the client, its session and the advice.
    private let digest: UInt128
    private let client: Int
    /// Identifies the session and its client (`SharedUpgrade.mark`).
    let mark: Int

    /// - Parameters:
    ///   - material: of the upgrade (`StepUp.sharedMaterial`).
    ///   - client: the client that asks; upgrades are shared only with itself.
    init(_ material: [UInt8], client: String, mark: Int) {
        digest = TokenDigest.of(material)
        self.client = client.hashValue
        self.mark = mark
    }

    public var owner: Int { client }
    /// The exchange that makes the upgrade has a limit of its own.
    public var hold: Int { 1 << 40 }
    public var coolDown: Int { 0 }
}

extension SharedUpgrade: Credential {
    public static var most: Int { 4096 }
    public static var mostUnderWay: Int { most }
    public static var notAgain: String { "the upgraded session was refused as well" }

    public func lasts(_ key: UpgradeKey, at now: LoginTime) -> Bool { now.milliseconds < until }
    public func isDue(_ key: UpgradeKey, at now: LoginTime) -> Bool { false }
    /// Without a new session, later requests have nothing to use.
    public var isKept: Bool { outcome.session != nil }
}
