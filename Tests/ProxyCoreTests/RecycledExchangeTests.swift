import HTTP1
import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

/// Exchanges that are over lend their place to those of other clients.
@Suite("Reused places of exchanges")
struct RecycledExchangeTests {
    private func take(_ connection: inout ClientConnection, _ out: inout CommandBuffer) -> [ExchangeRecord] {
        var records: [ExchangeRecord] = []
        for case .record(let id) in out.commands {
            connection.http.exchanges.takeRecord(of: id, &out) { records.append(copy $0) }
        }
        out.clearCommands()
        return records
    }

    @Test func nothingOfAnotherClientColoursAnAnswer() {
        var out = CommandBuffer()
        let engine = Engine(Settings())
        var first = ClientConnection(engine: engine, client: "192.0.2.1:1", now: 0)
        let request = "HEAD / HTTP/1.1\r\nHost: a.test\r\nAccept: application/json\r\n\r\n"
        first.received(Array(request.utf8).span, now: 0, &out)
        #expect(take(&first, &out).count == 1)
        out.clearClient()
        var second = ClientConnection(
            engine: engine, client: "192.0.2.2:1", source: ClientSource(address: nil, isSecure: true), now: 0
        )
        second.received(Array(get.utf8).span, now: 0, &out)
        let text = String(decoding: out.client, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 400 ") && text.contains("Content-Type: text/plain"))
        #expect(take(&second, &out).map(\.responseBytes).allSatisfy { $0 > 0 })
    }

    @Test func largeBuffersAreNotKept() {
        var out = CommandBuffer()
        let cell = out.cell(ExchangeID(1), Engine(Settings()))
        cell.exchange.info.received.body.bytes = Array(repeating: 0, count: 1 << 20)
        cell.exchange.request.fields.add("X-Large", String(repeating: "x", count: 60_000))
        cell.exchange.response.fields.add("X-Large", String(repeating: "x", count: 60_000))
        cell.exchange.log.record.url = Array(repeating: 0x78, count: 60_000)
        out.giveBack(cell)
        #expect(cell.exchange.body.bytes.capacity <= 64 << 10)
        #expect(cell.exchange.request.fields.bytes.capacity <= 16 << 10)
        #expect(cell.exchange.response.fields.bytes.capacity <= 16 << 10)
        #expect(cell.exchange.log.record.url.capacity <= 16 << 10)
    }

    /// Exchanges that are over keep no generation of the configuration alive that is in force no more.
    @Test func noOldConfigurationIsKept() {
        var out = CommandBuffer()
        var engine = Engine(Settings())
        let old = { [weak engine] in engine }
        let before = (1...3).map { out.cell(ExchangeID($0), engine) }
        let underWay = out.cell(ExchangeID(4), engine)
        for cell in before { out.giveBack(cell) }
        engine = Engine(Settings())
        out.giveBack(out.cell(ExchangeID(5), engine))
        out.giveBack(underWay)
        var left: [ExchangeCell] = [out.cell(ExchangeID(6), engine)]
        left.append(out.cell(ExchangeID(7), engine))
        #expect(old() != nil, "the test itself holds cells of it")
        _ = consume before
        underWay.exchange.info.adopt(engine)
        #expect(old() == nil)
        #expect(left.count == 2)
    }

    @Test func nothingIsKeptOfACall() {
        var out = CommandBuffer()
        var codec = HTTP1Client()
        var connection = ClientConnection(engine: Engine(stepUpSettings()), client: "192.0.2.1:1", now: 0)
        connection.received(Array(SteppingUp.get.utf8).span, now: 0, &out)
        advise(&connection, &codec, &out)
        guard let call = connection.http.exchanges.calls.cells.last else {
            Issue.record("AM is not called")
            return
        }
        #expect(call.exchange.request.fields.count > 0)
        connection.clientLost(now: 0, &out)
        _ = take(&connection, &out)
        out.giveBack(call)
        #expect(call.exchange.request.fields.bytes.isEmpty && call.exchange.body.bytes.isEmpty)
    }

    /// An interceptor's answer in AM's place, and all that follows from it, comes at once.
    @Test func anExchangeEndsOnce() {
        var settings = stepUpSettings()
        settings.rules = [
            .init(
                name: "am",
                when: .all([.test(.action, [.exact("START_AUTHENTICATE")]), .test(.by, [.exact("usher")])]),
                request: [Respond(DirectResponse(status: 401, headers: [], body: []))])
        ]
        var out = CommandBuffer()
        var codec = HTTP1Client()
        var connection = ClientConnection(engine: Engine(settings), client: "192.0.2.1:1", now: 0)
        connection.received(Array((SteppingUp.get + get).utf8).span, now: 0, &out)
        advise(&connection, &codec, &out)
        #expect(String(decoding: out.client, as: UTF8.self) == SteppingUp.original())
        let ends = out.commands.count { if case .record = $0 { true } else { false } }
        let next = out.commands.count { if case .proceed = $0 { true } else { false } }
        #expect(ends == 1 && next == 1)
    }

    /// The request goes out, and the resource answers with an advice.
    private func advise(_ connection: inout ClientConnection, _ codec: inout HTTP1Client, _ out: inout CommandBuffer) {
        guard let id = connection.http.exchanges.current?.exchange.id else { return }
        out.clearCommands()
        connection.happened(.leased(reused: false, sendsRaw: true), to: id, now: 0, &out)
        var wire: [UInt8] = []
        for command in out.commands {
            switch command {
            case .send(_, let index): codec.send(out.heads[index].head, out.heads[index].forwarding, to: &wire)
            case .sendEnd: codec.end(to: &wire)
            default: break
            }
        }
        out.clearCommands()
        connection.received(Array(SteppingUp.refused().utf8).span, through: &codec, for: id, now: 0, &out)
    }
}
