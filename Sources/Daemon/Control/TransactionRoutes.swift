public import Authorization
internal import Formats
public import ProxyCore

/// The step-ups that wait for a person.
public protocol TransactionDirectory {
    /// The limit of waiting step-ups.
    var most: Int { get }
    /// Oldest first.
    func list() -> [WaitingTransaction]
    func find(_ id: TransactionID) throws(TransactionRefusal) -> WaitingTransaction
    /// - Returns: the callbacks that are still open.
    func answer(_ id: TransactionID, _ answers: PersonAnswers) throws(TransactionRefusal) -> [OpenCallback]
    func deny(_ id: TransactionID) throws(TransactionRefusal)
}

/// The routes to list, answer and deny waiting step-ups.
public struct TransactionRoutes {
    /// Sends a follower an event at once and after each change, until the returned closure is called.
    public typealias Following = (any ControlFollower, _ event: @escaping (_ now: Int) -> ServerEvent) -> () -> Void

    private let directory: any TransactionDirectory
    private let follow: Following

    public init(_ directory: any TransactionDirectory, follow: @escaping Following) {
        (self.directory, self.follow) = (directory, follow)
    }

    // fixed names precede parameters
    public var all: [ControlRoute] { [listing, following, showing, answering, denying] }

    private static let id = RouteParameter.path("id", "The id of the step-up, as in the list.")

    private var listing: ControlRoute {
        return ControlRoute(
            "GET", "/v1/transactions", "listTransactions",
            "Lists the step-ups that wait for a person, the oldest first.",
            answers: [
                RouteAnswer(
                    "What waits.", .object(["transactions": .list(TransactionView.shape), "most": .count]))
            ]
        ) { request throws(ControlProblem) in
            .json(list(request.now))
        }
    }

    private var following: ControlRoute {
        ControlRoute(
            "GET", "/v1/transactions/stream", "followTransactions",
            "Streams the list of waiting step-ups: at once, and whenever it changes.",
            answers: [
                RouteAnswer(
                    "Events named transactions. Their data is the list.", type: "text/event-stream")
            ]
        ) { _ throws(ControlProblem) in
            .following { follower in
                follow(follower) { ServerEvent("transactions", data: list($0)) }
            }
        }
    }

    private var showing: ControlRoute {
        return ControlRoute(
            "GET", "/v1/transactions/{id}", "showTransaction", "Shows one step-up completely.", parameters: [Self.id],
            answers: [RouteAnswer("What waits.", TransactionView.shape)], problems: Self.over
        ) { request throws(ControlProblem) in
            .now(try whole(request.arguments.text("id") ?? "", request.now))
        }
    }

    private var answering: ControlRoute {
        return ControlRoute(
            "POST", "/v1/transactions/{id}/answer", "answerTransaction",
            "Answers one callback, several callbacks, or gives the link that the step-up waits for.",
            parameters: [Self.id], body: AnswerReader.shape,
            answers: [
                RouteAnswer(
                    "The callbacks that are still open.",
                    .object([
                        "id": .text, "state": .choice(["answered", "open"]),
                        "callbacks": .list(TransactionView.callbackShape),
                    ]))
            ], problems: Self.over.merging([422: "The step-up does not accept the answer."]) { $1 }
        ) { request throws(ControlProblem) in
            .now(try answer(request.arguments.text("id") ?? "", request))
        }
    }

    private var denying: ControlRoute {
        return ControlRoute(
            "POST", "/v1/transactions/{id}/deny", "denyTransaction",
            "Denies the step-up. The app gets the original response.", parameters: [Self.id],
            answers: [RouteAnswer("The step-up is denied.", .object(["id": .text, "state": .choice(["denied"])]))],
            problems: Self.over
        ) { request throws(ControlProblem) in
            .now(try deny(request.arguments.text("id") ?? ""))
        }
    }

    private static let over = [
        404: "No step-up with that id waits.",
        409:
            "The step-up was already answered or denied.", 410: "The step-up no longer waits.",
    ]

    // MARK: listing

    private func list(_ now: Int) -> JSONValue {
        [
            "transactions": .array(directory.list().map { TransactionView.of($0, .listed, now: now) }),
            "most": .integer(directory.most),
        ]
    }

    private func whole(_ text: String, _ now: Int) throws(ControlProblem) -> ControlAnswer {
        let id = try Self.id(text)
        do throws(TransactionRefusal) {
            return ControlAnswer(TransactionView.of(try directory.find(id), .whole, now: now))
        } catch {
            throw Self.problem(error)
        }
    }

    // MARK: answering

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
                [
                    "id": .string(id.description), "state": .string(missing.isEmpty ? "answered" : "open"),
                    "callbacks": TransactionView.of(missing),
                ])
        } catch {
            throw Self.problem(error)
        }
    }

    private func deny(_ text: String) throws(ControlProblem) -> ControlAnswer {
        let id = try Self.id(text)
        do throws(TransactionRefusal) {
            try directory.deny(id)
            return ControlAnswer(
                ["id": .string(id.description), "state": "denied"])
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
