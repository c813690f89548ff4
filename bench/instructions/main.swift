import Authorization
import Formats
import Glibc
import HTTP1
import HTTPCodec
import Interception
import Metrics
import Observation
import ProxyCore

// usher-instructions PIECE COUNT: does one piece of the engine's work COUNT times, without sockets, so that a simulator can
// count its instructions. bench/count-instructions runs it.

enum Work {
    static let request = Array(
        """
        GET http://shop.example.com:8080/api/items/42?colour=blue&size=9 HTTP/1.1\r
        Host: shop.example.com:8080\r
        User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r
        Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r
        Accept-Language: en-GB,en;q=0.5\r
        Accept-Encoding: gzip, deflate\r
        Cookie: session=0123456789abcdef0123456789abcdef; theme=dark\r
        Connection: keep-alive\r
        \r\n
        """.utf8)
    static let response =
        Array(
            """
            HTTP/1.1 200 OK\r
            Server: nginx\r
            Date: Sat, 01 Aug 2026 10:00:00 GMT\r
            Content-Type: text/plain\r
            Content-Length: 912\r
            Last-Modified: Sat, 01 Aug 2026 09:00:00 GMT\r
            Connection: keep-alive\r
            ETag: "68ab-390"\r
            Accept-Ranges: bytes\r
            \r\n
            """.utf8) + [UInt8](repeating: 0x61, count: 912)
    static let chunks: [UInt8] = {
        var out: [UInt8] = []
        let piece = [UInt8](repeating: 0x62, count: 512)
        for _ in 0..<8 { out.append(chunk: piece.span) }
        out.append(literal: "0\r\n\r\n")
        return out
    }()
    /// Of the kinds that people write; none applies.
    static func rules(_ count: Int) -> [Rule] {
        (0..<count).map { number in
            let tests: [(Condition.Key, TextMatcher)] = [
                (.action, .exact("LOGOUT")), (.host, .exact("api.example.com")), (.path, .glob("/admin/*")),
                (.method, .exact("DELETE")), (.header("X-Debug"), .glob("*")),
            ]
            let (key, matcher) = tests[number % tests.count]
            return Rule(
                name: "rule \(number)", when: .test(key, [matcher]), request: [SetHeader([Pair("X-Mark", "1")])])
        }
    }

    static let headEdit = Rule(
        name: "query and header",
        request: [SetQuery([Pair("ForceAuth", "true")]), SetHeader([Pair("Accept-Language", "en-GB")])])

    static func heads(_ count: Int) throws -> Int {
        var parser = HeadParser()
        var head = RequestHead()
        var used = 0
        for _ in 0..<count {
            used += try parser.parse(request.span, into: &head, limits: HeadLimits()) ?? 0
            try head.settleHost()
            if try head.framing() != .none { used = 0 }
        }
        return used
    }

    static func answers(_ count: Int) throws -> Int {
        var parser = HeadParser()
        var head = ResponseHead()
        var used = 0
        for _ in 0..<count {
            used += try parser.parse(response.span, into: &head, limits: HeadLimits()) ?? 0
            if try head.framing(answering: .get) == .none { used = 0 }
        }
        return used
    }

    static func chunked(_ count: Int) throws -> Int {
        var bytes = 0
        for _ in 0..<count {
            var decoder = ChunkedDecoder()
            var position = 0
            loop: while true {
                switch try decoder.next(chunks.span, &position) {
                case .data(let range): bytes += range.count
                case .end, .needsMore: break loop
                }
            }
        }
        return bytes
    }

    static func pipeline(_ count: Int, _ rules: [Rule]) throws -> Int {
        let plan = Plan(rules: rules)
        var parser = HeadParser()
        var head = RequestHead()
        _ = try parser.parse(request.span, into: &head, limits: HeadLimits())
        try head.settleHost()
        var matches = 0
        for _ in 0..<count where plan.firstRequestMatch(head, nil) != nil { matches += 1 }
        return matches
    }

    /// What a program might send: 4 KiB of items, and an amount behind them.
    static let json: [UInt8] = {
        var text = "{\"items\": ["
        for number in 0..<50 {
            if number > 0 { text += ", " }
            text +=
                "{\"id\": \(number * 7919), \"name\": \"item \(number)\", \"price\": \(number).95, \"tags\": [\"a\", \"b\"]}"
        }
        return Array((text + "], \"note\": \"caf\u{E9}\", \"amount\": 12}").utf8)
    }()

    /// A member of a JSON body gets another value: the body comes whole, and goes on whole.
    static func edits(_ count: Int) throws -> Int {
        guard let amount = JSONPointer("/amount") else { return 0 }
        let plan = Plan(rules: [Rule(name: "amount", request: [SetJSON([(amount, .string("200"))])])])
        var head = try RequestHead(method: "POST", url: "http://shop.example.com/withdraw")
        head.fields.add("Content-Type", "application/json")
        var bytes = 0
        for _ in 0..<count {
            var edited = head
            var context = EditContext()
            let done = plan.applyRequest(from: 0, to: &edited, body: .whole(json), &context)
            if case .replaced(let new) = done.body { bytes += new.count }
        }
        return bytes
    }

    /// One kept-alive exchange: the request comes, a pooled connection is there, the answer comes whole.
    static func session(_ count: Int, _ rules: [Rule], tokens: Tokens? = nil) throws -> Int {
        var settings = Settings()
        settings.rules = rules
        settings.tokens = tokens?.policy
        var connection = ClientConnection(
            engine: Engine(settings), stores: SharedStores(tokens: tokens), client: "192.0.2.1:50000", now: 0
        )
        var origin = HTTP1Client()
        var out = CommandBuffer()
        var wire: [UInt8] = []
        var bytes = 0
        var asked: ExchangeID?
        func perform(_ now: Int) {
            var done = 0
            var body = 0
            while done < out.commands.count {
                let command = out.commands[done]
                done += 1
                switch command {
                case .lease(let id, _, _, _):
                    asked = id
                    connection.happened(.leased(reused: true, sendsRaw: true), to: id, now: now, &out)
                case .send(_, let index): origin.send(out.heads[index].head, out.heads[index].forwarding, to: &wire)
                case .sendBody(_, let count):
                    origin.write(out.origin.span.extracting(body..<body + count), to: &wire)
                    body += count
                case .sendEnd(_, let trailers): origin.end(trailers: trailers, to: &wire)
                case .record(let id): connection.http.exchanges.takeRecord(of: id, &out) { bytes += $0.status }
                default: break
                }
            }
            bytes += wire.count + out.client.count
            wire.removeAll(keepingCapacity: true)
            out.clearCommands()
            out.clearOrigin()
            out.clearClient()
        }
        for turn in 0..<count {
            connection.received(request.span, now: turn, &out)
            perform(turn)
            guard let id = asked else { return 0 }
            connection.received(response.span, through: &origin, for: id, now: turn, &out)
            perform(turn)
        }
        return connection.awaitsRequest ? bytes : 0
    }

    /// What is told of a plain exchange, to whoever listens.
    static func records(_ count: Int, _ take: (borrowing ExchangeRecord) -> Void) {
        var record = ExchangeRecord()
        record.reset(flow: 0x1_0000_0001)
        record.client = "192.0.2.1:50000"
        record.method = Array("GET".utf8)
        record.url = Array("http://shop.example.com:8080/api/items/42?colour=REDACTED&size=REDACTED".utf8)
        record.status = 200
        record.responseBytes = 912
        record.milliseconds = 3
        record.attempts = 1
        for _ in 0..<count { take(record) }
    }

    static func figures(_ count: Int) -> Int {
        let metrics = LoopMetrics()
        records(count) { metrics.take($0) }
        return Int(metrics.value(.responseBytes))
    }

    static func lines(_ count: Int) -> Int {
        var bytes = 0
        let log = AccessLog(detail: .events) { bytes += $0.count }
        records(count) { log.record($0) }
        log.flush()
        return bytes
    }
}

/// One that all clients share, and that lasts.
final class Tokens: TokenStore {
    private var ledger = TokenLedger()
    let policy: TokenPolicy

    init(for resource: String) {
        var settings = TokenSettings(
            resources: [resource], manner: .clientCredentials,
            server: AuthorizationServer(url: "https://am.example.com/am", host: "am.example.com"))
        settings.client = OAuthClient(id: "bench", secret: "secret", authentication: .basic)
        let source = TokenSource(settings)
        policy = TokenPolicy([source])
        ledger.logins.put(
            TokenGrant(access: "0123456789abcdef0123456789abcdef"), TokenKey(source),
            LoginTime(milliseconds: 0, seconds: 0))
    }

    func changeTokens<Result>(_ body: (inout TokenLedger) -> Result) -> Result { body(&ledger) }
    func change<Result>(_ body: (inout CredentialLedger<TokenGrant>) -> Result) -> Result { body(&ledger.logins) }
    func enter(_ obstacle: CredentialLedger<TokenGrant>.Obstacle) -> WaitingTicket? { nil }
    func leave(_ ticket: WaitingTicket) {}
    func isAwaited(_ key: TokenKey) -> Bool { false }
}

let pieces: [String: (Int) throws -> Int] = [
    "request-head": Work.heads, "response-head": Work.answers, "chunked-4k": Work.chunked,
    "pipeline-20-rules": { try Work.pipeline($0, Work.rules(20)) },
    "pipeline-1000-rules": { try Work.pipeline($0, Work.rules(1000)) },
    "session-exchange": { try Work.session($0, Work.rules(20)) },
    "session-bearer": { try Work.session($0, [], tokens: Tokens(for: "http://shop.example.com:8080/api/*")) },
    "session-bearer-elsewhere": { try Work.session($0, [], tokens: Tokens(for: "http://shop.example.org:8080/api/*")) },
    "session-head-edit": { try Work.session($0, [Work.headEdit]) },
    "journal-plain": JournalWork.plain, "journal-stepup": JournalWork.stepUps,
    "expectations-20": JournalWork.expectations,
    "json-edit-4k": Work.edits, "figures": Work.figures, "access-line": Work.lines,
]
guard CommandLine.arguments.count == 3, let piece = pieces[CommandLine.arguments[1]],
    let count = Int(CommandLine.arguments[2])
else {
    print(pieces.keys.sorted().joined(separator: "\n"))
    exit(2)
}
// what comes of it is printed, so that nothing is optimised away
print(try piece(count))
