import HTTPCodec
import ProxyCore
import Testing

@testable import ProxyDriver

@Suite("Origins that keep connections open")
struct ConnectionKeepersTests {
    private let origin = Origin(scheme: .http, host: "am.test", port: 80)

    @Test func anIdleConnectionIsNotOpenBeforeItsOriginHasKeptOne() {
        var keepers = ConnectionKeepers()
        let unproven = keepers.isOpen(origin, idle: 49)
        let proven = keepers.isOpen(origin, idle: 50)
        let later = keepers.isOpen(origin, idle: 0)
        #expect(!unproven && proven && later)
    }

    @Test func aConnectionThatWasIdleForLongMayBeClosed() {
        var keepers = ConnectionKeepers()
        let old = keepers.isOpen(origin, idle: 1_000)
        // but it shows that the origin keeps connections
        let new = keepers.isOpen(origin, idle: 0)
        #expect(!old && new)
    }

    @Test func anOriginThatClosesAtOnceKeepsNone() {
        var keepers = ConnectionKeepers()
        _ = keepers.isOpen(origin, idle: 50)
        keepers.closed(origin, idle: 50)
        let kept = keepers.isOpen(origin, idle: 0)
        keepers.closed(origin, idle: 49)
        let closed = keepers.isOpen(origin, idle: 0)
        #expect(kept && !closed)
    }

    @Test func originsAreKnownApart() {
        var keepers = ConnectionKeepers()
        _ = keepers.isOpen(origin, idle: 50)
        let other = keepers.isOpen(Origin(scheme: .http, host: "am.test", port: 81), idle: 0)
        #expect(!other)
    }
}
