/// What a rule has to do with the exchange's state.
extension Rule {
    /// Names in the exchange's state that it reads, and never sets itself.
    public var unsetState: [String] {
        guard !sharesState else { return [] }
        let edits: [any Edit] = request + response + error
        let set = Set(edits.compactMap { $0 as? SetState }.flatMap { $0.changes.map(\.name) })
        let read = edits.flatMap(\.templates).flatMap(\.sources).compactMap { source in
            if case .state(let name) = source { name } else { nil }
        }
        return Set(read).subtracting(set).sorted()
    }

    /// Names in the exchange's state that it sets.
    public var setState: [String] {
        (request as [any Edit] + response + error).compactMap { $0 as? SetState }.flatMap { $0.changes.map(\.name) }
    }
}
