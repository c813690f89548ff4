import Authorization
import Control
import Formats
import HTTPCodec
import ProxyCore
import Testing

/// What waits, with the daemon's own ledger.
private final class Directory: TransactionDirectory {
    var ledger = TransactionLedger<Int>(capacity: 1000)

    var most: Int { ledger.most }
    func list() -> [WaitingTransaction] { ledger.list(now: 10) }

    func find(_ id: TransactionID) throws(TransactionRefusal) -> WaitingTransaction {
        try ledger.find(id, now: 10)
    }

    func answer(_ id: TransactionID, _ answers: PersonAnswers) throws(TransactionRefusal) -> [OpenCallback] {
        try ledger.answer(id, answers, now: 10).missing
    }

    func deny(_ id: TransactionID) throws(TransactionRefusal) { _ = try ledger.deny(id, now: 10) }

    func park(_ step: OpenStep, at resource: String = "http://shop.test/") throws -> TransactionID {
        var chance = SystemRandomNumberGenerator()
        let transaction = OpenTransaction(
            client: .init(address: "192.0.2.1", network: "192.0.2.1", user: "jane"), method: "GET",
            resource: resource, server: "http://am.test/am", realm: "/alpha", tree: "StepUp", step: step,
            since: 0, until: 45_000)
        guard case .parked(let id, _) = ledger.park(transaction, 0, using: &chance).parking else { throw Full() }
        return id
    }

    private struct Full: Error {}
}

@Suite("Listing and answering what waits")
struct TransactionRouteTests {
    private let directory = Directory()
    private var router: ControlRouter { ControlRouter(TransactionRoutes(directory) { _, _ in {} }.all) }

    private static let page: OpenStep = {
        var choice = OpenCallback(index: 1, type: "ChoiceCallback", prompt: "Approve?", form: .choice)
        choice.choices = [.init(0, "No"), .init(1, "Yes")]
        var code = OpenCallback(index: 3, type: "PasswordCallback", prompt: "Code", form: .text)
        code.isSecret = true
        return OpenStep(.callbacks([choice, code]), stage: "Payment")
    }()

    private func post(_ path: String, _ body: String, type: String = "application/json") -> ControlAnswer {
        var fields = FieldTable()
        fields.add("Content-Type", type)
        return router.answer(ControlRequest("POST", path, fields: fields, body: Array(body.utf8), now: 10))
    }

    @Test func theListTellsWhatAPersonNeeds() throws {
        let id = try directory.park(Self.page)
        let answer = router.answer(ControlRequest("GET", "/v1/transactions", now: 5_000))
        let found = try #require(answer.body["transactions"]?[0])
        #expect(found["id"]?.text == id.description && found["user"]?.text == "jane")
        #expect(found["left_ms"]?.integer == 40_000 && found["waited_ms"]?.integer == 5_000)
        #expect(found["stage"]?.text == "Payment" && found["tree"]?.text == "StepUp")
        #expect(found["callbacks"]?[0]?["choices"]?[1]?["label"]?.text == "Yes")
        #expect(found["callbacks"]?[1]?["secret"] == .bool(true))
        #expect(answer.body["most"]?.integer == 1000)
    }

    @Test func whatThePageSaysIsListedAndShown() throws {
        var page = Self.page
        page.header = "Payment"
        page.messages = ["Transfer 500 to X?"]
        let id = try directory.park(page)
        for shown in [
            router.answer(ControlRequest("GET", "/v1/transactions")).body["transactions"]?[0],
            router.answer(ControlRequest("GET", "/v1/transactions/\(id)")).body,
        ] {
            #expect(shown?["header"]?.text == "Payment" && shown?["shortened"] == .bool(false))
            #expect(shown?["messages"]?.items == [.string("Transfer 500 to X?")])
        }
    }

    /// Commands read 4 MiB.
    @Test func aListStaysShortWhateverIsSent() throws {
        var page = Self.page
        var callbacks = page.callbacks
        callbacks[0].prompt = String(repeating: "\u{1}", count: 16 << 10)
        callbacks[0].choices = (0..<256).map { .init($0, String(repeating: "\"", count: 1000)) }
        page.kind = .callbacks(
            (0..<256).map { index in
                var callback = callbacks[index % 2]
                callback.index = index
                return callback
            })
        page.messages = Array(repeating: String(repeating: "ü", count: 20_000), count: 20)
        var last: TransactionID?
        for _ in 0..<1000 {
            last = try directory.park(page, at: "http://shop.test/" + String(repeating: "a", count: 16 << 10))
        }
        let list = router.answer(ControlRequest("GET", "/v1/transactions")).body
        #expect(list["transactions"]?.items?.count == 1000 && list.serialized.utf8.count < 4 << 20)
        #expect(list["transactions"]?[0]?["shortened"] == .bool(true))
        let id = try #require(last)
        let whole = router.answer(ControlRequest("GET", "/v1/transactions/\(id)")).body
        #expect(whole.serialized.utf8.count < 4 << 20 && whole["id"]?.text == id.description)
    }

    @Test func callbacksAreNamedByPlaceOrType() throws {
        let id = try directory.park(Self.page)
        let path = "/v1/transactions/\(id)/answer"
        let first = post(path, #"{"callback":"passwordcallback","value":"1"}"#)
        #expect(first.status == 200 && first.body["state"]?.text == "open")
        #expect(first.body["callbacks"]?.items?.count == 1)
        // the only one left needs no name
        let last = post(path, #"{"value":"Yes"}"#)
        #expect(last.body["state"]?.text == "answered")
        guard case .answered(let given) = directory.look(id) else { throw Odd() }
        #expect(given.callbacks == [1: ["Yes"], 3: ["1"]])
    }

    private struct Odd: Error {}

    @Test(
        "What is no answer is refused in words, and nothing is taken of it",
        arguments: [
            (#"{"value":"1"}"#, 422, "name the callback"),
            (#"{"callback":"NameCallback","value":"1"}"#, 422, "not for NameCallback"),
            (#"{"callback":1,"value":"Perhaps"}"#, 422, "no such choice; it offers 0 No, 1 Yes"),
            (#"{"callback":7,"value":"1"}"#, 422, "nothing is asked at place 7"),
            (
                #"{"answers":[{"callback":3,"value":"1"},{"callback":3,"value":"2"}]}"#, 422,
                "callback 3 is answered twice"
            ),
            (#"{"answers":[{"callback":3,"value":"1"},{"callback":1,"value":9}]}"#, 422, "no such choice"),
            (#"{"answers":[]}"#, 422, "answers takes a list"),
            (#"{"link":"http://am.test/"}"#, 422, "no link is waited for"),
            (#"{"callback":3,"value":{}}"#, 422, "an answer needs a value"),
            (#"{"callback":3,"vale":"1"}"#, 422, "unknown member vale"),
            (#"[]"#, 400, "not a JSON object"),
        ])
    func unfit(_ body: String, _ status: Int, _ words: String) throws {
        let id = try directory.park(Self.page)
        let answer = post("/v1/transactions/\(id)/answer", body)
        #expect(answer.status == status && answer.isProblem)
        #expect(answer.body["detail"]?.text?.contains(words) == true, "\(answer.body.serialized)")
        #expect(directory.list().first?.missing.count == 2)
    }

    @Test func lateAndDoubleHaveWordsAndNumbersOfTheirOwn() throws {
        let id = try directory.park(Self.page)
        #expect(post("/v1/transactions/\(id)/deny", "").status == 200)
        #expect(post("/v1/transactions/\(id)/deny", "").status == 409)
        #expect(post("/v1/transactions/\(id)/answer", #"{"value":"1"}"#).status == 409)
        directory.ledger.leave(id, now: 20)
        #expect(
            post("/v1/transactions/\(id)/answer", #"{"value":"1"}"#).body["detail"]?.text == "it was denied already")
        let left = try directory.park(Self.page)
        directory.ledger.leave(left, now: 20)
        #expect(post("/v1/transactions/\(left)/deny", "").status == 410)
        #expect(post("/v1/transactions/zzzzzz/deny", "").status == 404)
        #expect(post("/v1/transactions/none/deny", "").status == 404)
        #expect(post("/v1/transactions//deny", "").status == 404)
        #expect(router.answer(ControlRequest("GET", "/v1/transactions/\(left)")).status == 410)
        #expect(router.answer(ControlRequest("GET", "/v1/transactions/zzzzzz")).status == 404)
        #expect(post("/v1/transactions/\(id)/answer", "{}", type: "text/plain").status == 415)
        #expect(router.answer(ControlRequest("GET", "/v1/transactions/\(id)/deny")).status == 405)
    }

    @Test func aLinkIsTakenWhereATreeIsSuspended() throws {
        let id = try directory.park(OpenStep(.suspended(message: "We sent a mail")))
        let list = router.answer(ControlRequest("GET", "/v1/transactions"))
        #expect(list.body["transactions"]?[0]?["kind"]?.text == "suspended")
        #expect(post("/v1/transactions/\(id)/answer", #"{"callback":0,"value":"x"}"#).status == 422)
        #expect(post("/v1/transactions/\(id)/answer", #"{"value":"https://am.test/?suspendedId=1"}"#).status == 200)
        guard case .answered(let given) = directory.look(id) else { throw Odd() }
        #expect(given.link == "https://am.test/?suspendedId=1")
    }
}

extension Directory {
    func look(_ id: TransactionID) -> PersonVerdict? { ledger.look(id) }
}
