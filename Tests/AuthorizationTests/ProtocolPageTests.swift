import Authorization
import Foundation
import HTTPCodec
import Interception
import Testing

/// docs/protocol.md says what the code does: its examples are read from the page and run in their order.
@Suite struct ProtocolPageTests {
    @Test func everyExampleIsTrue() throws {
        let page = try ProtocolPage()
        #expect(page.blocks.count >= 30)
        var reader = Reader()
        for block in page.blocks { try reader.run(block) }
        let roles = Set(page.blocks.map(\.role))
        #expect(roles.isSuperset(of: ["action", "advice", "document", "step-up", "call", "answer", "end", "replay"]))
    }
}

/// Goes through the page. What a block speaks of is what the last ones before it gave.
private struct Reader {
    private static let server = AuthorizationServer(
        url: "https://am.example.com/am", host: "am.example.com", realms: ["/", "/alpha"])

    private var policy: AuthorizationPolicy = {
        let entry = AuthorizationPolicy.Resource(url: "https://*", advice: [.header, .redirect, .body])
        return AuthorizationPolicy(resources: [entry], server: server)
    }()
    private var request: (head: RequestHead, body: [UInt8])?
    private var response: (head: ResponseHead, body: [UInt8])?
    private var advice: Advice?
    private var replay: Replay?
    private var machine: StepUp?
    private var order: StepUp.Command?

    mutating func run(_ block: ProtocolPage.Block) throws {
        let note = Comment(rawValue: "\(block)")
        switch block.role {
        case "request": request = try head(block)
        case "response": try read(block)
        case "action": #expect(try action() == block.lines, note)
        case "advice": #expect(try found() == block.lines, note)
        case "document": #expect(try #require(advice, note).xml == block.lines.joined(), note)
        case "answers": policy.answers = try block.lines.map(answer)
        case "step-up": try begin(block, note)
        case "call": #expect(try #require(order?.call, note).wire == block.wire, note)
        case "answer":
            let answer = try answered(block)
            order = machine?.answered(status: answer.head.status, fields: answer.head.fields, body: answer.body)
        case "end": #expect(order?.outcome != nil && block.lines == ["success"], note)
        case "replay": try checkReplay(block, note)
        default: Issue.record("nothing runs this example: \(block)")
        }
    }

    // MARK: reading

    private func head(_ block: ProtocolPage.Block) throws -> (head: RequestHead, body: [UInt8]) {
        let body = Array(block.body.utf8)
        let length = body.isEmpty ? [] : ["Content-Length: \(body.count)"]
        let bytes = Array(((block.head + length).joined(separator: "\r\n") + "\r\n\r\n").utf8)
        var parser = HeadParser()
        var head = RequestHead()
        #expect(try parser.parse(bytes.span, into: &head, limits: HeadLimits()) == bytes.count, "\(block)")
        try head.settleHost(scheme: .https)
        return (head, body)
    }

    private func answered(_ block: ProtocolPage.Block) throws -> (head: ResponseHead, body: [UInt8]) {
        let bytes = Array((block.head.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        var parser = HeadParser()
        var head = ResponseHead()
        #expect(try parser.parse(bytes.span, into: &head, limits: HeadLimits()) == bytes.count, "\(block)")
        return (head, Array(block.body.utf8))
    }

    private mutating func read(_ block: ProtocolPage.Block) throws {
        let found = try answered(block)
        response = found
        let asked = try #require(request).head
        let resource = try #require(policy.resource(for: asked))
        advice = AdviceReader(policy.forms(for: asked, sent: asked, resource)).read(
            status: found.head.status, fields: found.head.fields, body: found.body)
    }

    /// `- { callback: NAME, prompt: "GLOB", value: TEXT }`.
    private func answer(_ line: String) throws -> AuthorizationPolicy.CallbackAnswer {
        func value(_ key: String) -> String? {
            guard let start = line.range(of: "\(key): ")?.upperBound else { return nil }
            let rest = line[start...]
            return rest.hasPrefix("\"")
                ? String(rest.dropFirst().prefix { $0 != "\"" }) : String(rest.prefix { !",} ".contains($0) })
        }
        let response =
            value("value").map(AuthorizationPolicy.CallbackAnswer.Response.value) ?? value("choose").map { .choose($0) }
        return .init(
            callback: try #require(value("callback")), prompt: value("prompt"), response: try #require(response))
    }

    // MARK: what the code makes of it

    private func action() throws -> [String] {
        let (head, body) = try #require(request)
        let found = Classifier(servers: [Self.server]).classify(head, body: body.isEmpty ? nil : body)
        guard let action = found.action else { return ["none"] }
        var lines = [action.rawValue]
        if let realm = found.realm { lines.append("realm: \(realm)") }
        if let type = found.payload?.type { lines.append("type: \(type)") }
        if let tree = found.payload?.tree { lines.append("tree: \(tree)") }
        return lines
    }

    private func found() throws -> [String] {
        guard let advice else { return ["none"] }
        let realm = advice.realm.map { ["realm: \($0)"] } ?? []
        return [advice.source.rawValue] + realm
            + advice.conditions.map { "\($0.name): \($0.values.joined(separator: " "))" }
    }

    private mutating func begin(_ block: ProtocolPage.Block, _ note: Comment) throws {
        let (head, body) = try #require(request, note)
        // the page shows the same advice in another form in between; the realm is that of the request's own
        let advice = try #require(advice, note)
        let resource = try #require(policy.resource(for: head), note)
        let session = try #require(SessionSource.find(in: head, body: body, policy: policy), note)
        let exchange = AdvisedExchange(
            request: head, sent: head, body: body, bodyComplete: true, resource: resource,
            status: try #require(response, note).head.status)
        #expect(policy.doubt(of: advice, in: exchange) == nil, note)
        guard case .stepUp(let realm) = policy.judgement(of: advice, in: exchange) else {
            Issue.record("\(policy.judgement(of: advice, in: exchange))")
            return
        }
        #expect(["realm: \(realm)", "session: \(session.token)"] == block.lines, note)
        replay = Replay(policy: policy, resource: resource, session: session)
        var machine = StepUp(policy: policy, advice: advice, session: session, realm: realm, app: head)
        order = machine.begin()
        self.machine = machine
    }

    private mutating func checkReplay(_ block: ProtocolPage.Block, _ note: Comment) throws {
        let (head, body) = try #require(request, note)
        var replay = try #require(replay, note)
        replay.absorb(try #require(advice, note), try #require(order?.outcome, note))
        let again = try replay.request(head, body: body)
        #expect(Wire(again.head, again.body) == block.wire, note)
    }
}

/// A request as the page writes it: without the length of its body, which the page leaves out.
private struct Wire: Equatable {
    var lines: [String]
    var body: String

    init(_ head: RequestHead, _ body: [UInt8]) {
        let fields = head.fields.lines.filter { $0.name != "Content-Length" }.map { "\($0.name): \($0.value)" }
        lines = ["\(head.methodText) \(head.fields.text(head.target.pathAndQuery)) HTTP/1.1"] + fields
        self.body = String(decoding: body, as: UTF8.self)
    }

    init(lines: [String], body: String) {
        self.lines = lines
        self.body = body
    }
}

extension ProtocolPage.Block {
    fileprivate var wire: Wire { Wire(lines: head, body: body) }
}

extension ServerCall {
    fileprivate var wire: Wire { Wire(head, body) }
}
