import Configuration
import Formats
import Testing

@testable import Sandbox

@Suite struct DocumentTests {
    private static let text = """
        users:
          - { name: alice, password: s3cret, totp: GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ }
          - { name: bob, password: "12345", realm: /alpha }
        clients:
          - { id: shop, secret: hush, redirect_uris: ["https://shop.example.com/back"] }
        policies:
          - { name: pay, path: /shop/pay/*, methods: [GET, POST], requires: [{ level: 7 }, { transaction: Approve }] }
          - { name: free, path: /shop/pay, requires: [] }
        trees:
          - name: Pay
            level: 7
            pages:
              - callbacks:
                  - { type: NameCallback, prompt: Who, check: user }
                  - { type: PasswordCallback, prompt: Secret, check: password }
              - callbacks: [{ type: NameCallback, prompt: Code, check: totp }]
                tries: 2
                on_failure: lock
          - name: Approve
            pages:
              - name: choice
                callbacks:
                  - type: ChoiceCallback
                    prompt: Pay 40?
                    choices: [Yes, No, Later]
                    goto: { Later: word, Yes: end }
                  - { type: TextOutputCallback, message: Think }
              - callbacks: [{ type: NameCallback, prompt: Never, answer: never }]
              - name: word
                callbacks: [{ type: TextInputCallback, prompt: The word, answer: ["~^[a-c]+$", please] }]
                on_failure: again
        lockout: { after: 2, hold: 5m }
        """

    private func document(_ text: String = text) throws -> SandboxDocument {
        switch SandboxDocument.read(text, realms: ["/", "/alpha"]) {
        case .success(let document): return document
        case .failure(let faults):
            Issue.record("\(faults.diagnostics)")
            throw faults
        }
    }

    private func world(_ text: String = text) throws -> World {
        var options = SandboxOptions()
        options.document = try document(text)
        return World(options)
    }

    private func code(_ world: World, step: Int = 0) -> String {
        OneTimePassword.code(Directory.secret, counter: world.now / 30 + step)
    }

    // MARK: trees

    @Test func aTreeAsksChecksAndEnds() throws {
        var world = try world()
        var step = try world.start("authIndexType=service&authIndexValue=Pay")
        #expect(
            try world.json(step)["callbacks"]?.items?.compactMap { $0["output"]?[0]?["value"]?.text } == [
                "Who", "Secret",
            ])
        step = try world.answer(step, name: "alice", password: "s3cret")
        #expect(try world.json(step)["callbacks"]?[0]?["output"]?[0]?["value"] == "Code")
        step = try world.answer(step, name: "000000")
        #expect(step.status == 200 && step.note.contains("again"))
        step = try world.answer(step, name: code(world))
        let session = try #require(try world.json(step)["tokenId"]?.text)
        #expect(world.server.am.store.sessions.find(session, now: world.now)?.level == 7)
    }

    @Test func anInputHasTheTypeOfItsCallback() throws {
        let types = ["BooleanAttributeInput", "NumberAttributeInput", "TermsAndConditions"]
        let callbacks = types.map { "{ type: \($0)Callback }" }.joined(separator: ", ")
        var world = try world("trees: [{ name: Form, pages: [{ callbacks: [\(callbacks)] }] }]")
        let step = try world.start("authIndexType=service&authIndexValue=Form")
        let page = try #require(try world.json(step)["callbacks"]?.items)
        #expect(page.compactMap { $0["input"]?[0]?["value"] } == [.bool(false), .integer(0), .bool(false)])
        #expect(page[0]["input"]?[1]?["name"]?.text == "IDToken1validateOnly")
    }

    @Test func wrongAnswersLockTheUserOut() throws {
        var world = try world()
        var step = try world.answer(
            try world.start("authIndexType=service&authIndexValue=Pay"), name: "alice", password: "s3cret")
        for _ in 0..<2 { step = try world.answer(step, name: "000000") }
        #expect(step.status == 401)
        #expect(try world.errorCode(step) == "112")
        // wrong and right passwords alike
        step = try world.answer(try world.start(), name: "alice", password: "s3cret")
        #expect(try world.errorCode(step) == "112")
        world.now += 300
        step = try world.answer(try world.start(), name: "alice", password: "s3cret")
        #expect(step.status == 200)
    }

    @Test func failuresInARowLockOut() throws {
        var world = try world()
        for code in ["107", "107", "112"] {
            let step = try world.answer(try world.start(), name: "alice", password: "wrong")
            #expect(try world.errorCode(step) == code)
        }
    }

    @Test func aWrongPasswordFailsAtItsPage() throws {
        var world = try world()
        let step = try world.answer(
            try world.start("authIndexType=service&authIndexValue=Pay"), name: "alice", password: "changeit")
        #expect(step.status == 401 && step.note.contains("PasswordCallback"))
    }

    @Test(arguments: [(0, "", true), (1, "", false), (2, "please", true), (2, "abc", true)])
    func choicesLeadOn(choice: Int, word: String, isApproved: Bool) throws {
        var world = try world()
        let session = try world.signIn()
        var step = try world.start("authIndexType=service&authIndexValue=Approve&ForceAuth=true", session: session)
        step = try world.answer(step, choice: choice, session: session)
        if choice == 1 {
            // no goto: the next page, whose answer is never
            step = try world.answer(step, name: "what", session: session)
        }
        if choice == 2 {
            step = try say("xyz", to: step, in: &world)
            #expect(step.note.contains("again"))
            step = try say(word, to: step, in: &world)
        }
        #expect(step.status == (isApproved ? 200 : 401))
        #expect(try (world.json(step)["tokenId"] != nil) == isApproved)
    }

    /// Answers the first callback of a page.
    private func say(_ word: String, to step: SandboxResponse, in world: inout World) throws -> SandboxResponse {
        var filled = try world.json(step)
        var callback = try #require(filled["callbacks"]?[0])
        callback["input"] = [["name": "IDToken1", "value": .string(word)]]
        filled["callbacks"] = .array([callback])
        return try world.send("POST", World.authenticatePath(), fields: World.json, body: filled.serialized)
    }

    @Test func usersAreThoseOfTheDocumentToo() throws {
        var world = try world()
        #expect(try world.signIn("demo").isEmpty == false)
        #expect(try world.answer(try world.start(), name: "bob", password: "12345").status == 401)
        let step = try world.answer(try world.start(realm: "/alpha"), name: "bob", password: "12345", realm: "/alpha")
        #expect(step.status == 200)
    }

    // MARK: policies and clients

    @Test func policiesOfTheDocumentComeFirst() throws {
        var world = try world()
        let session = try world.signIn("alice", password: "s3cret")
        #expect(try world.access("/shop/pay", session: session).status == 200)
        #expect(try world.access("/shop/pay/40", "DELETE", session: session).status == 403)
        let first = try world.access("/shop/pay/40", session: session)
        #expect(try world.advice(first)["AuthLevelConditionAdvice"]?[0] == "7")
        #expect(try world.transaction(try world.access("/shop/other", session: session)).isEmpty == false)
    }

    @Test func clientsOfTheDocumentGetTokens() throws {
        var world = try world()
        let form = "grant_type=client_credentials&client_id=shop&client_secret=hush&scope=a"
        let path = "/am/oauth2/realms/root/access_token"
        let fields: [(name: String, value: String)] = [("Content-Type", "application/x-www-form-urlencoded")]
        #expect(try world.send("POST", path, fields: fields, body: form).status == 200)
        #expect(
            try world.send("POST", path, fields: fields, body: form.replacing("hush", with: "no")).status == 400)
        let session = try world.signIn()
        let query =
            "client_id=shop&response_type=code&redirect_uri=https%3A%2F%2Fshop.example.com%2Fback&scope=openid"
        #expect(try world.send("GET", "/am/oauth2/authorize?\(query)", session: session).status == 302)
        let other = query.replacing("shop.example.com", with: "evil.example.com")
        #expect(try world.send("GET", "/am/oauth2/authorize?\(other)", session: session).status == 400)
    }

    // MARK: faults

    @Test func everyFaultHasItsPlaceAndItsRemedy() {
        let text = """
            users:
              - { name: a, password: x, realm: /alhpa }
              - { name: a, password: y }
              - { name: b, pasword: y }
            policies:
              - { name: p, path: /api, requires: [{ level: 1, realm: / }, { tree: Lgoin }] }
            trees:
              - name: T
                pages:
                  - callbacks: [{ type: ChoiceCallback, prompt: x }]
                  - callbacks: [{ type: ChoiceCallback, choices: [Yes, No], answer: Yess, goto: { Nope: end, No: later } }]
                  - { page: totpp }
                  - callbacks: [{ type: TextOutputCallback, check: user }]
                  - callbacks: [{ type: NameCallback, answer: "~(" }]
                    polls: 3
                  - { name: x }
              - { name: U, pages: [] }
            lockout: { hold: 5 }
            """
        guard case .failure(let faults) = SandboxDocument.read(text, realms: ["/", "/alpha"]) else {
            Issue.record("it has faults")
            return
        }
        let lines = faults.diagnostics.map { "\($0)" }
        let expected = [
            "body:2:36: error: there is no realm /alhpa; add --realm /alhpa; did you mean \"/alpha\"?",
            "body:3:13: error: the name \"a\" is already in line 2; remove one",
            "body:4:16: error: unknown key \"pasword\" in users[2]; did you mean \"password\"?",
            "there is no tree \"Lgoin\"; add it to trees; did you mean \"Login\"?",
            "a condition takes one of tree, level, realm, fresh, transaction; write a list of several",
            "ChoiceCallback takes choices, such as choices: [Yes, No]",
            "there is no choice \"Yess\"; did you mean \"Yes\"?", "there is no choice \"Nope\"",
            "the tree has no page \"later\"; name a page, or write end",
            "TextOutputCallback has no input, so nothing can be checked; remove check and answer",
            "polls has no effect without a PollingWaitCallback; add one, or remove polls",
            "a page takes callbacks, or page with the name of one that is built in", "a tree takes at least one page",
        ]
        for line in expected {
            #expect(lines.contains { $0.contains(line) }, "\(line)\nin \(lines.joined(separator: "\n"))")
        }
    }
}
