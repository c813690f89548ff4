/// A rule's use of the exchange's state.
extension Rule {
    /// Names that the rule reads but never sets itself.
    public var unsetState: [String] {
        guard !sharesState else { return [] }
        let edits: [any Edit] = request + response + error
        let set = Set(edits.compactMap { $0 as? SetState }.flatMap { $0.changes.map(\.name) })
        let read = edits.flatMap(\.templates).flatMap(\.sources).compactMap { source in
            if case .state(let name) = source { name } else { nil }
        }
        return Set(read).subtracting(set).sorted()
    }

    /// Names that the rule sets.
    public var setState: [String] {
        (request as [any Edit] + response + error).compactMap { $0 as? SetState }.flatMap { $0.changes.map(\.name) }
    }
}
