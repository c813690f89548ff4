import Authorization
import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

/// What a new feature of an exchange takes: one file, and its registration. This one wakes an origin that sleeps: it holds the
/// response that says so, makes a call, and has the request sent again.
private final class WakingFilter: Filter {
    private var asleep: HeldResponse?
    private static let url = "http://power.test/wake"

    static let registration = FilterRegistration(.head, where: { _ in true }) { setup in
        if setup.request.host == "shop.test" { setup.add(WakingFilter()) }
    }

    var hold: FilterHold? { asleep.map { FilterHold(isActive: true, keepsResponse: true, bytes: $0.body.count) } }

    func response(_ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .offered where head.status == 503: return .hold(upTo: 1 << 10)
        case .whole(let response) where response.head.status == 503:
            guard let wake = try? RequestHead(method: "POST", url: Self.url) else { return .proceed }
            asleep = response
            let call = ServerCall(head: wake, body: [], action: Action(named: "WAKE"))
            return .call(
                FilterCall(call, to: .url(Self.url), maxResponseBytes: 1 << 10) { .conversation("call: \($0)") })
        case .head, .offered, .whole, .tooLarge: return .proceed
        }
    }

    func event(_ event: FilterEvent, _ context: inout FilterContext) -> FilterAction? {
        guard let asleep else { return nil }
        self.asleep = nil
        if case .answered(let answer) = event, answer.head.status == 200 { return .again(asleep) }
        context.note(.conversation("the origin cannot be woken"))
        return .giveBack(asleep)
    }
}

/// Decides before the response is whole, when it is too early to.
private final class HastyFilter: Filter {
    static let registration = FilterRegistration(.head, where: { _ in true }) { $0.add(HastyFilter()) }

    func response(_ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext) -> FilterAction {
        if case .whole = step { .proceed } else { .refuse(.bodyTooLarge) }
    }
}

@Suite struct FilterTests {
    private static let sleeps = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nzzz\n"
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// As far as the call.
    private func begin(_ filters: [FilterRegistration]) -> Conversation {
        let settings = Settings()
        let talk = Conversation(settings)
        talk.driver.adopt(Engine(settings, filters: filters))
        talk.client(SteppingUp.get)
        talk.connects()
        talk.origin(Self.sleeps)
        talk.connects()
        return talk
    }

    @Test func aFilterThatDecidesTooEarlyHidesNoStepFromOthers() {
        let talk = begin([HastyFilter.registration, WakingFilter.registration])
        #expect(talk.clientGot().isEmpty)
        talk.origin(Self.ok)
        talk.connects()
        talk.origin(Self.ok)
        #expect(talk.clientGot().hasSuffix("\r\n\r\nok"))
    }

    @Test func aResponseIsHeldACallMadeAndTheRequestSentAgain() {
        let talk = begin([WakingFilter.registration])
        #expect(talk.clientGot().isEmpty)
        #expect(talk.originGot().hasPrefix("POST /wake HTTP/1.1\r\nHost: power.test\r\n"), "\(talk.notes)")
        talk.origin(Self.ok)
        talk.connects()
        #expect(talk.originGot().hasPrefix("GET /api/cart HTTP/1.1\r\n"), "\(talk.notes)")
        talk.origin(Self.ok)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 OK\r\n"), "\(talk.notes)")
    }

    @Test func whatIsHeldIsDeliveredWhereTheCallFails() {
        let talk = begin([WakingFilter.registration])
        talk.driver.originEnds()
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"), "\(talk.notes)")
        #expect(talk.notes.contains { $0.contains("cannot be woken") }, "\(talk.notes)")
    }

    @Test func aRequestThatGetsNoneGoesOnAlone() {
        let talk = begin([])
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"), "\(talk.notes)")
    }

    /// What one makes of a response stands where the ones behind it have nothing to say.
    @Test func aFilterBehindDoesNotUndoWhatOneMadeOfAResponse() {
        let talk = begin([ReplacingFilter.registration, LookingFilter.registration])
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 418 I'm a teapot\r\n"), "\(talk.notes)")
    }

    /// One has the request sent again and keeps the response until a time; another one holds that up.
    @Test func theTimeOfOneFilterEndsWhileAnotherWaits() {
        let talk = begin([RepeatingFilter.registration, SlowFilter.registration])
        #expect(talk.clientGot().isEmpty)
        talk.driver.waits(RepeatingFilter.time)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"), "\(talk.notes)")
    }

    private final class RepeatingFilter: Filter {
        static let time = 1_000
        private var kept: HeldResponse?
        private var limit = Int.max

        static let registration = FilterRegistration(.head, where: { _ in true }) { $0.add(RepeatingFilter()) }

        var hold: FilterHold? { kept.map { _ in FilterHold(isActive: false, keepsResponse: true, limit: limit) } }

        func response(
            _ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext
        ) -> FilterAction {
            switch step {
            case .offered: return .hold(upTo: 1 << 10)
            case .whole(let response):
                kept = response
                limit = context.now + Self.time
                return .attempt(context.request, body: [])
            case .head, .tooLarge: return .proceed
            }
        }

        func event(_ event: FilterEvent, _ context: inout FilterContext) -> FilterAction? {
            guard let kept, context.now >= limit else { return nil }
            self.kept = nil
            return .giveBack(kept)
        }
    }

    /// Holds up every sending but the first.
    private final class SlowFilter: Filter {
        static let registration = FilterRegistration(.head, where: { _ in true }) { $0.add(SlowFilter()) }
        private var sendings = 0

        var hold: FilterHold? { sendings > 1 ? FilterHold(isActive: true) : nil }

        func request(_ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext) -> FilterAction {
            guard case .ready = step else { return .proceed }
            sendings += 1
            return sendings > 1 ? .wait(until: context.now + 10 * RepeatingFilter.time) : .proceed
        }
    }

    private final class ReplacingFilter: Filter {
        static let registration = FilterRegistration(.head, where: { _ in true }) { $0.add(ReplacingFilter()) }

        func response(
            _ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext
        ) -> FilterAction {
            switch step {
            case .offered: return .hold(upTo: 1 << 10)
            case .whole(var response):
                response.head = ResponseHead(status: 418, reason: "I'm a teapot")
                return .deliver(response)
            case .head, .tooLarge: return .proceed
            }
        }
    }

    private final class LookingFilter: Filter {
        static let registration = FilterRegistration(.head, where: { _ in true }) { $0.add(LookingFilter()) }
    }

    /// Every filter of the program is in the list, and the list has nothing twice.
    @Test func aConfigurationHasTheFiltersThatItHasUseFor() {
        #expect(Engine(Settings()).filters.isEmpty)
        #expect(Engine(stepUpSettings()).filters.count == 5, "StepUp, Session, Enforcement, Translator, SessionWatch")
    }
}
