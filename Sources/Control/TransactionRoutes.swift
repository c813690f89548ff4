public import Authorization
internal import Formats
public import ProxyCore

/// The step-ups that wait for a person, as the interface knows them.
public protocol TransactionDirectory {
    /// How many may wait.
    var most: Int { get }
    /// The oldest first.
    func list() -> [WaitingTransaction]
    /// - Returns: what is still to be said.
    func answer(_ id: TransactionID, _ answers: PersonAnswers) throws(TransactionRefusal) -> [OpenCallback]
    func deny(_ id: TransactionID) throws(TransactionRefusal)
}

/// Listing, answering and denying what waits for a person.
public struct TransactionRoutes {
    private let directory: any TransactionDirectory

    public init(_ directory: any TransactionDirectory) { self.directory = directory }

    public var all: [ControlRouter.Route] {
        [
            ControlRouter.Route("GET", "/v1/transactions") { request, _ throws(ControlProblem) in list(request.now) },
            ControlRouter.Route("POST", "/v1/transactions/*/answer") { request, id throws(ControlProblem) in
                try answer(id, request)
            },
            ControlRouter.Route("POST", "/v1/transactions/*/deny") { _, id throws(ControlProblem) in try deny(id) },
        ]
    }

    // MARK: what waits

    private func list(_ now: Int) -> ControlAnswer {
        ControlAnswer(
            .object([
                .init("transactions", .array(directory.list().map { Self.shown($0, now) })),
                .init("most", .integer(directory.most)),
            ]))
    }

    private static func shown(_ waiting: WaitingTransaction, _ now: Int) -> JSONValue {
        let transaction = waiting.transaction
        let step = transaction.step
        var members: [JSONValue.Member] = [
            .init("id", .string(waiting.id.description)), .init("client", .string(transaction.client.address)),
            .init("user", transaction.client.user.map { .string($0) } ?? .null),
            .init("method", .string(transaction.method)), .init("resource", .string(transaction.resource)),
            .init("am", .string(transaction.server)), .init("realm", .string(transaction.realm)),
            .init("tree", transaction.tree.map { .string($0) } ?? .null), .init("stage", .string(step.stage)),
            .init("header", .string(step.header)),
            .init("waited_ms", .integer(max(0, now - transaction.since))),
            .init("left_ms", .integer(max(0, transaction.until - now))),
            .init("kind", .string(step.isSuspended ? "suspended" : "callbacks")),
        ]
        if case .suspended(let message) = step.kind { members.append(.init("message", .string(message))) }
        members.append(.init("callbacks", .array(waiting.missing.map(shown))))
        return .object(members)
    }

    private static func shown(_ callback: OpenCallback) -> JSONValue {
        .object([
            .init("index", .integer(callback.index)), .init("type", .string(callback.type)),
            .init("prompt", .string(callback.prompt)), .init("form", .string(callback.form.rawValue)),
            .init("secret", .bool(callback.isSecret)),
            .init(
                "choices",
                .array(
                    callback.choices.map {
                        .object([.init("number", .integer($0.number)), .init("label", .string($0.label))])
                    })),
            .init("parts", .array(callback.parts.map { .string($0) })),
            .init("policies", .array(callback.policies.map { .string($0) })),
        ])
    }

    // MARK: what is said to it

    private func answer(_ text: String, _ request: ControlRequest) throws(ControlProblem) -> ControlAnswer {
        let body = try request.object()
        let id = try Self.id(text)
        do throws(TransactionRefusal) {
            guard let waiting = directory.list().first(where: { $0.id == id }) else {
                // whoever keeps them knows why there is none
                _ = try directory.answer(id, PersonAnswers())
                throw .unknown
            }
            let answers: PersonAnswers
            do throws(OpenStep.Refusal) {
                answers = try AnswerReader(waiting).answers(body)
            } catch {
                throw .unfit(error.reason)
            }
            let missing = try directory.answer(id, answers)
            return ControlAnswer(
                .object([
                    .init("id", .string(id.description)),
                    .init("state", .string(missing.isEmpty ? "answered" : "open")),
                    .init("callbacks", .array(missing.map(Self.shown))),
                ]))
        } catch {
            throw Self.problem(error)
        }
    }

    private func deny(_ text: String) throws(ControlProblem) -> ControlAnswer {
        let id = try Self.id(text)
        do throws(TransactionRefusal) {
            try directory.deny(id)
            return ControlAnswer(
                .object([.init("id", .string(id.description)), .init("state", .string("denied"))]))
        } catch {
            throw Self.problem(error)
        }
    }

    private static func id(_ text: String) throws(ControlProblem) -> TransactionID {
        guard let id = TransactionID(text) else { throw problem(.unknown) }
        return id
    }

    private static func problem(_ refusal: TransactionRefusal) -> ControlProblem {
        let status =
            switch refusal {
            case .unknown: 404
            case .over(.answered), .over(.denied), .twice: 409
            case .over(.late), .over(.left), .over(.displaced): 410
            case .unfit: 422
            }
        return ControlProblem(status, refusal.words)
    }
}
