import HTTPCodec
import ProxyCore
import Testing

@testable import ProxyDriver

@Suite("Origins that keep connections open")
struct ConnectionKeepersTests {
    private let origin = Origin(scheme: .http, host: "am.test", port: 80)
    private var keepers = ConnectionKeepers()

    @Test mutating func anIdleConnectionIsNotOpenBeforeItsOriginHasKeptOne() {
        keepers.seen(origin, idle: 49)
        #expect(!keepers.isOpen(origin, idle: 0))
        keepers.seen(origin, idle: 50)
        #expect(keepers.isOpen(origin, idle: 0))
    }

    @Test mutating func aConnectionThatWasIdleForLongMayBeClosed() {
        keepers.seen(origin, idle: 5_000)
        #expect(keepers.isOpen(origin, idle: 999) && !keepers.isOpen(origin, idle: 1_000))
    }

    @Test mutating func anOriginThatClosesAtOnceKeepsNone() {
        keepers.seen(origin, idle: 50)
        keepers.closed(origin, idle: 1_000)
        #expect(keepers.isOpen(origin, idle: 0))
        keepers.closed(origin, idle: 999)
        #expect(!keepers.isOpen(origin, idle: 0))
    }

    @Test mutating func originsAreKnownApart() {
        keepers.seen(origin, idle: 50)
        #expect(!keepers.isOpen(Origin(scheme: .http, host: "am.test", port: 81), idle: 0))
    }
}
