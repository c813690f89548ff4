internal import Formats
public import HTTPCodec
internal import Interception

/// The id of a transaction that a client hands back by itself.
public struct ShownTransaction: Equatable, Sendable {
    public let id: String
    public let presentation: AuthorizationPolicy.Presentation

    /// The id as a client shows it in one of these ways; nil where it shows none, and where it shows several.
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

    /// Takes it out of the request; every other byte stays.
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
    /// How clients hand a transaction back, whichever form of advice they have got it from.
    public var presentations: [Presentation] {
        presentToGateway == presentToREST ? [presentToGateway] : [presentToGateway, presentToREST]
    }

    /// How a resource expects a transaction that nobody has to say the source of.
    func expectation(of resource: Resource) -> Presentation {
        resource.present ?? (resource.advice == .body ? presentToREST : presentToGateway)
    }

    /// The request as the resource expects it where the client shows a transaction otherwise; nil where nothing is to change.
    /// - Parameter body: nil where not all of it is known.
    /// - Throws: where it cannot be shown so.
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
