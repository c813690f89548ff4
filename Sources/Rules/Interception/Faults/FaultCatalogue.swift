/// All named faults. To add one: a line in one of the groups, and a test.
public enum FaultCatalogue {
    /// In the order of `usher faults`.
    public static let all = logins + steps + servers + tokens + gateways + networks

    public static func fault(named name: String) -> NamedFault? { all.first { $0.name == name } }
}
