public import HTTPCodec

/// A transaction id that a client presents by itself.
public struct ShownTransaction: Equatable, Sendable {
    public let id: String
    public let presentation: AuthorizationPolicy.Presentation

    /// The id that the request presents in one of these ways; nil if there is none or more than one.
    public init?(in head: RequestHead, as ways: [AuthorizationPolicy.Presentation]) {
        var found: [ShownTransaction] = []
        for way in ways {
            let values: [String] =
                switch way {
                case .query(let name): QueryText(head.query ?? "").values(named: name)
                case .header(let name): head.fields.values(named: name)
                }
            found += values.map { ShownTransaction(id: $0, presentation: way) }
        }
        guard let only = found.first, found.count == 1, !only.id.isEmpty, FieldSyntax.isValue(only.id) else {
            return nil
        }
        self = only
    }

    private init(id: String, presentation: AuthorizationPolicy.Presentation) {
        self.id = id
        self.presentation = presentation
    }

    /// Removes the id from the request; all other bytes stay.
    public func remove(from head: inout RequestHead) throws(HTTPFault) {
        switch presentation {
        case .header(let name): head.fields.remove(named: name)
        case .query(let name):
            var query = QueryText(head.query ?? "")
            query.removeAll { $0 == name }
            try head.setPathAndQuery(query.isEmpty ? head.path : "\(head.path)?\(query.text)")
        }
    }
}

extension AuthorizationPolicy {
    /// The ways in which clients may present a transaction, whatever form of advice they received.
    public var presentations: [Presentation] {
        presentToGateway == presentToREST ? [presentToGateway] : [presentToGateway, presentToREST]
    }

    /// The way in which a resource expects a transaction, without an advice that tells its source.
    func expectation(of resource: Resource) -> Presentation {
        resource.present ?? (resource.advice == .body ? presentToREST : presentToGateway)
    }

    /// The request with the transaction presented as the resource expects it; nil if nothing changes.
    /// - Parameter body: nil if it is not known whole.
    /// - Throws: a refusal if the transaction cannot be presented.
    public func handedOn(
        _ head: RequestHead, body: [UInt8]?, to resource: Resource
    ) throws(Replay.Refusal) -> Replay.Request? {
        guard let shown = ShownTransaction(in: head, as: presentations) else { return nil }
        let expected = expectation(of: resource)
        let isQuestion = isPolicyEvaluation(head)
        guard isQuestion || shown.presentation != expected else { return nil }
        var out = Replay.Request(head: head, body: body ?? [])
        do throws(HTTPFault) {
            try shown.remove(from: &out.head)
        } catch {
            throw Replay.Refusal(reason: "the URL without the transaction's id is malformed: \(error.explanation)")
        }
        if isQuestion {
            guard body != nil else {
                throw Replay.Refusal(reason: "the body of the policy evaluation is not known whole")
            }
            try Replay.askForTransaction(shown.id, &out)
        } else {
            try Replay.present(shown.id, as: expected, on: &out.head)
        }
        return out
    }
}
