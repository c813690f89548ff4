import HTTPCodec
import Testing

@testable import ProxyCore

/// What is kept of a request's body, and what is relayed.
@Suite struct RequestBodyTests {
    private typealias State = RequestBody.State

    private func body(_ framing: BodyFraming, keeping limit: Int) -> RequestBody {
        var body = RequestBody()
        body.reset(framing)
        body.plan(keeping: limit)
        return body
    }

    private let piece = Array("0123456789".utf8)

    @Test func everyStateIsReachedAndLeadsToTheNextRequest() {
        var reached: Set<State> = [.open]
        var found = reached
        while !found.isEmpty {
            found = found.reduce(into: Set<State>()) { $0.formUnion($1.next) }.subtracting(reached)
            reached.formUnion(found)
        }
        #expect(reached == Set(State.allCases))
        for state in State.allCases { #expect(state.next.contains(.open), "\(state) has no end") }
        #expect(State.kept.next == [.open] && State.relaying.next == [.open], "what was decided stays")
    }

    @Test func aBodyIsCollectedWhereItIsNeededAndMayFit() {
        #expect(body(.none, keeping: 10).state == .kept)
        #expect(body(.length(10), keeping: 10).state == .collecting)
        #expect(body(.length(11), keeping: 10).state == .relaying)
        #expect(body(.chunked, keeping: 10).state == .collecting)
        #expect(body(.chunked, keeping: 0).state == .relaying)
        #expect(body(.length(10), keeping: 0).state == .relaying)
    }

    @Test func aCollectedBodyIsKeptWhenItHasEnded() {
        var body = body(.chunked, keeping: 10)
        #expect(body.take(piece.span, limit: nil) == .collect)
        body.end(trailers: [1], isQueued: false)
        #expect(body.isKept && body.bytes == piece && body.trailers == [1] && body.hasEnded)
    }

    @Test func aBodyThatOutgrowsItsRoomIsRelayed() {
        var body = body(.chunked, keeping: 9)
        #expect(body.take(piece.span, limit: nil) == .full)
        body.stopCollecting(lacksRoom: false)
        #expect(body.take(piece.span, limit: nil) == .relay)
        #expect(body.bytes == piece && body.count == 20 && !body.isKept && !body.lacksRoom)
    }

    /// The head of a body with a length was refused already; one in chunks is stopped on its way.
    @Test func aRelayedBodyStopsAtItsLimit() {
        var chunked = body(.chunked, keeping: 0)
        #expect(chunked.take(piece.span, limit: 10) == .relay)
        #expect(chunked.take(piece.span, limit: 10) == .exceeds)
        var long = body(.length(20), keeping: 0)
        #expect(long.take(piece.span, limit: 5) == .relay)
    }

    @Test func trailersOfARelayedBodyAreKeptWhereTheyGoOutLater() {
        var body = body(.chunked, keeping: 0)
        body.end(trailers: [1], isQueued: true)
        #expect(body.trailers == [1] && !body.isKept)
    }
}
