import Testing

@testable import ProxyCore

/// The table of a connection's stages.
@Suite struct ClientStageTests {
    private typealias Kind = ClientStage.State.Kind

    @Test func everyStageIsReachedAndEnds() {
        var reached: Set<Kind> = [.serving]
        var found = reached
        while !found.isEmpty {
            found = found.reduce(into: Set<Kind>()) { $0.formUnion($1.next) }.subtracting(reached)
            reached.formUnion(found)
        }
        #expect(reached == Set(Kind.allCases))
        for stage in Kind.allCases { #expect(stage.next.contains(.closed), "\(stage) has no end") }
    }

    /// Bytes of a tunnel, and bytes behind the last response, must never be read as a request.
    @Test func nothingIsServedAfterATunnelOrTheEnd() {
        for stage in [Kind.tunnel, .lingering, .closed] { #expect(stage.next == [.closed]) }
    }

    /// A client whose TLS is under way is served only when it is done.
    @Test func theHandshakeLeadsToHTTPOrToTheEnd() {
        #expect(Kind.securing.next == [.serving, .closed])
    }
}
