import Control
import Formats
import Testing

private final class Desk: ReloadDesk {
    var reports: [ReloadReport] = []
    var isEnding = false

    func begin(by whom: String) throws(ControlProblem) -> Int {
        if isEnding { throw ControlProblem(409, "the daemon is ending") }
        reports.append(
            ReloadReport(number: reports.count + 1, outcome: .isUnderWay, generation: 3, at: 0, by: whom))
        return reports.count
    }

    func report(_ number: Int?) -> ReloadReport? {
        number == nil ? reports.last : reports.first { $0.number == number }
    }
}

@Suite("Reloads at the control socket")
struct ReloadRouteTests {
    private let desk = Desk()
    private var router: ControlRouter { ControlRouter(ReloadRoutes(desk).all) }

    @Test func oneIsBegunAndAskedFor() {
        #expect(router.answer(ControlRequest("GET", "/v1/reload")).status == 404)
        let begun = router.answer(ControlRequest("POST", "/v1/reload"))
        #expect(begun.status == 202 && begun.body["state"]?.text == "running" && begun.body["reload"]?.integer == 1)
        #expect(begun.fields == [.init("Location", "/v1/reload/1")])
        desk.reports[0].outcome = .done(
            changed: ["interceptors"], restart: ["workers"],
            warnings: [ConfigurationRemark("warning: odd", at: .init(file: "a.yaml", line: 2, column: 3))])
        desk.reports[0].generation = 4
        let done = router.answer(ControlRequest("GET", "/v1/reload/1")).body
        #expect(done["state"]?.text == "done" && done["generation"]?.integer == 4)
        #expect(done["changed"]?[0]?.text == "interceptors" && done["restart"]?[0]?.text == "workers")
        #expect(done["warnings"]?[0]?["line"]?.integer == 2 && done["warnings"]?[0]?["column"]?.integer == 3)
        #expect(done["at"]?.text == "1970-01-01T00:00:00Z" && done["by"]?.text == "usher reload")
        desk.reports[0].outcome = .failed([ConfigurationRemark("error: no")])
        let failed = router.answer(ControlRequest("GET", "/v1/reload")).body
        #expect(failed["state"]?.text == "failed" && failed["faults"]?[0]?["message"]?.text == "error: no")
        #expect(failed["faults"]?[0]?["line"] == nil)
    }

    @Test(arguments: ["/v1/reload/2", "/v1/reload/x", "/v1/reload/", "/v1/reload/-1"])
    func noOtherIsKnown(_ path: String) {
        _ = router.answer(ControlRequest("POST", "/v1/reload"))
        #expect(router.answer(ControlRequest("GET", path)).status == 404)
    }

    @Test func noneIsBegunByLookingOrAtTheEnd() {
        #expect(router.answer(ControlRequest("PUT", "/v1/reload")).status == 405)
        #expect(desk.reports.isEmpty)
        desk.isEnding = true
        #expect(router.answer(ControlRequest("POST", "/v1/reload")).status == 409)
    }
}
