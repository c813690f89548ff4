/// An alias in a flow, and the name of the value that it replaces; empty if there is none.
public struct NamedAlias: Sendable {
    public let alias: SecretAlias
    public let name: String
}

extension PackedFlow {
    /// The aliases of a part in their order.
    public func aliases(in part: FlowPart) -> [NamedAlias] {
        var found: [NamedAlias] = []
        AliasScan.visit(bytes, range(of: part)) { alias, range in
            found.append(NamedAlias(alias: alias, name: AliasScan.name(before: range.lowerBound, bytes)))
        }
        return found
    }

    /// The first alias of a kind in a part.
    /// - Parameter name: the name of its value; nil for any.
    public func alias(_ kind: SecretKind, named name: String? = nil, in part: FlowPart) -> SecretAlias? {
        var found: SecretAlias?
        AliasScan.visit(bytes, range(of: part)) { alias, place in
            guard found == nil, alias.kind == kind else { return }
            if name == nil || name == AliasScan.name(before: place.lowerBound, bytes) { found = alias }
        }
        return found
    }

    /// AM's session in the client's request, in the body first.
    public var shownSession: SecretAlias? {
        var found: SecretAlias?
        for part in [FlowPart.requestBody, .target, .request] {
            AliasScan.visit(bytes, range(of: part)) { alias, place in
                guard found == nil, alias.kind == .session else { return }
                if !JourneyTrace.isContainer(AliasScan.name(before: place.lowerBound, bytes)) { found = alias }
            }
        }
        return found
    }
}
