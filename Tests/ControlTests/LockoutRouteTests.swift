import Authorization
import Control
import Formats
import Testing

private final class Directory: LockoutDirectory {
    var lockout = Lockout()

    func entries() -> [Lockout.Entry] { lockout.entries(now: 0) }
    func clear(_ id: String?) -> Int { lockout.clear(id) }

    func refuse(_ answers: UInt128, _ session: UInt128, times: Int = 3) {
        let key = Lockout.Key(answers: answers << 96, session: session << 96, at: "http://am.test/am /")
        for _ in 0..<times where lockout.begin(key, Lockout.Limits(), now: 0) == .go {
            lockout.end(key, .refused, Lockout.Limits(), now: 0)
        }
    }
}

@Suite("Showing and clearing the lockout's counts")
struct LockoutRouteTests {
    private let directory = Directory()
    private var router: ControlRouter { ControlRouter(LockoutRoutes(directory).all) }

    @Test func countsAreShownAndCleared() {
        directory.refuse(1, 2)
        let list = router.answer(ControlRequest("GET", "/v1/lockout")).body["logins"]?.items ?? []
        #expect(
            list.map { $0["id"]?.text } == ["00000001", "00000002"]
                || list.map { $0["id"]?.text } == ["00000002", "00000001"])
        #expect(Set(list.compactMap { $0["counts"]?.text }) == ["answers", "session"])
        #expect(list.allSatisfy { $0["refusals"]?.integer == 3 && $0["held_ms"]?.integer == 30_000 })
        #expect(list.allSatisfy { $0["at"]?.text == "http://am.test/am /" })
        let key = Lockout.Key(answers: 1 << 96, session: 2 << 96)
        #expect(directory.lockout.begin(key, Lockout.Limits(), now: 1) != .go)
        #expect(router.answer(ControlRequest("DELETE", "/v1/lockout/00000001")).body["cleared"]?.integer == 1)
        #expect(directory.entries().map(\.id) == ["00000002"])
        #expect(router.answer(ControlRequest("DELETE", "/v1/lockout")).body["cleared"]?.integer == 1)
        #expect(directory.lockout.begin(key, Lockout.Limits(), now: 1) == .go)
        #expect(router.answer(ControlRequest("DELETE", "/v1/lockout/0000000f")).status == 404)
        #expect(router.answer(ControlRequest("POST", "/v1/lockout")).status == 405)
    }

    /// A variable that holds no id clears nothing.
    @Test(arguments: ["/v1/lockout/", "/v1/lockout//", "/v1//lockout", "/v1/lockout/%20"])
    func nothingIsNotEverything(_ path: String) {
        directory.refuse(1, 2)
        #expect(router.answer(ControlRequest("DELETE", path)).status == 404)
        #expect(directory.entries().count == 2)
    }

    @Test func whatIsUnderWayStaysCounted() {
        let key = Lockout.Key(answers: 1, session: 2)
        for _ in 0..<3 { #expect(directory.lockout.begin(key, Lockout.Limits(), now: 0) == .go) }
        #expect(directory.clear(nil) == 2)
        #expect(directory.lockout.begin(key, Lockout.Limits(), now: 0) == .later)
        #expect(directory.entries().map(\.underWay) == [3, 3])
    }
}
