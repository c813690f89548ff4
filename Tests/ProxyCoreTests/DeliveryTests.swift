import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

/// What the client has received of its response.
@Suite struct DeliveryTests {
    private typealias State = ProxyCore.Delivery.State

    private func newLog() -> ExchangeLog { ExchangeLog(Engine(Settings()).redaction) }

    @Test func everyStateIsReachedAndLeadsToTheNextResponse() {
        var reached: Set<State> = [.none]
        var found = reached
        while !found.isEmpty {
            found = found.reduce(into: Set<State>()) { $0.formUnion($1.next) }.subtracting(reached)
            reached.formUnion(found)
        }
        #expect(reached == Set(State.allCases))
        for state in State.allCases { #expect(state.next.contains(.none), "\(state) has no end") }
    }

    /// A second head would be read as the next request's response.
    @Test func aRequestHasOneResponse() {
        #expect(!State.begun.next.contains(.begun))
        #expect(State.ended.next == [.none])
    }

    @Test func theClientHasPartOfAResponseBetweenItsHeadAndItsEnd() {
        var delivery = ProxyCore.Delivery()
        var log = newLog()
        var out = CommandBuffer()
        delivery.interim(ResponseHead(status: 103, reason: "Early Hints"), isOwn: false, &out)
        #expect(delivery.hasBegun == false)
        delivery.begin(ResponseHead(status: 200, reason: "OK"), .length(1), HeadManner(), &log, &out)
        #expect(delivery.hasBegun == true)
        delivery.send([0x61], &out)
        delivery.end(trailers: [], &out)
        #expect(delivery.hasBegun == false)
        #expect(out.clientCommands.count == 4)
    }

    @Test func aResponseInOneIsWhole() {
        var delivery = ProxyCore.Delivery()
        var log = newLog()
        var out = CommandBuffer()
        let local = LocalResponse(
            head: ResponseHead(status: 400, reason: "Bad Request"), body: [0x61, 0x62])
        delivery.send(local, to: .get, isLast: true, &log, &out)
        #expect(delivery.state == .ended && log.record.responseBytes == 2)
        delivery.renew()
        delivery.send(local, to: .head, isLast: true, &log, &out)
        #expect(log.record.responseBytes == 2, "a response to HEAD has no body")
    }
}
