public import Authorization
internal import Formats
public import ProxyCore

/// The step-ups that wait for a person, as the interface knows them.
public protocol TransactionDirectory {
    /// How many may wait.
    var most: Int { get }
    /// The oldest first.
    func list() -> [WaitingTransaction]
    func find(_ id: TransactionID) throws(TransactionRefusal) -> WaitingTransaction
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
            ControlRouter.Route("GET", "/v1/transactions/*") { request, id throws(ControlProblem) in
                try whole(id, request.now)
            },
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
                .init("transactions", .array(directory.list().map { TransactionView.of($0, .listed, now: now) })),
                .init("most", .integer(directory.most)),
            ]))
    }

    private func whole(_ text: String, _ now: Int) throws(ControlProblem) -> ControlAnswer {
        let id = try Self.id(text)
        do throws(TransactionRefusal) {
            return ControlAnswer(TransactionView.of(try directory.find(id), .whole, now: now))
        } catch {
            throw Self.problem(error)
        }
    }

    // MARK: what is said to it

    private func answer(_ text: String, _ request: ControlRequest) throws(ControlProblem) -> ControlAnswer {
        let body = try request.object()
        let id = try Self.id(text)
        do throws(TransactionRefusal) {
            let waiting = try directory.find(id)
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
                    .init("callbacks", TransactionView.of(missing)),
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
