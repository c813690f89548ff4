import Testing

@testable import EventLoop
@testable import Names

@Suite("The two families of a name")
struct NameLookupTests {
    private let six = NameQuestion(host: "a", family: .v6)
    private let four = NameQuestion(host: "a", family: .v4)
    private let fourAddress = SocketAddress(address: [192, 0, 2, 1], port: 0)
    private let sixAddress = SocketAddress(address: [UInt8](repeating: 1, count: 16), port: 0)

    private func found(_ address: SocketAddress, name: String = "a") -> NameOutcome {
        .found([address], name: name, timeToLive: 60)
    }

    @Test func eachIsToldWhenItIsKnown() {
        var lookup = NameLookup(host: "a")
        #expect(
            lookup.take(four, found(fourAddress))
                == NameAnswer(host: "a", addresses: [fourAddress], timeToLive: 60, isComplete: false))
        #expect(
            lookup.take(six, found(sixAddress))
                == NameAnswer(host: "a", addresses: [sixAddress], timeToLive: 60, isComplete: true))
    }

    @Test(arguments: [NameOutcome.empty, .missing, .timedOut, .refused("no", rcode: "REFUSED"), .failed("x")])
    func oneFamilyIsEnough(_ other: NameOutcome) {
        for isFirst in [true, false] {
            var lookup = NameLookup(host: "a")
            let outcomes = isFirst ? [other, found(fourAddress)] : [found(fourAddress), other]
            let answers = outcomes.compactMap { lookup.take(four, $0) }
            #expect(answers.flatMap(\.addresses) == [fourAddress] && answers.last?.isComplete == true)
            #expect(answers.allSatisfy { $0.failure == nil })
        }
    }

    @Test func twoHostsOfTheSearchListAreNotMixed() {
        var lookup = NameLookup(host: "a")
        #expect(lookup.take(four, found(fourAddress, name: "a.one"))?.addresses == [fourAddress])
        let last = lookup.take(six, found(sixAddress, name: "a.two"))
        #expect(last?.addresses == [] && last?.isComplete == true && last?.failure == nil)
    }

    @Test(arguments: [
        (NameOutcome.empty, NameOutcome.empty, NameFailure.unknown("it has no address", rcode: nil)),
        (.empty, .missing, .unknown("it does not exist (NXDOMAIN)", rcode: "NXDOMAIN")),
        (.empty, .timedOut, .timedOut),
        (.timedOut, .missing, .unknown("it does not exist (NXDOMAIN)", rcode: "NXDOMAIN")),
        (.empty, .refused("no", rcode: "REFUSED"), .unknown("no (REFUSED)", rcode: "REFUSED")),
        (.failed("x"), .timedOut, .timedOut),
    ])
    func whatExplainsMoreIsTold(_ one: NameOutcome, _ other: NameOutcome, _ failure: NameFailure) {
        for pair in [[one, other], [other, one]] {
            var lookup = NameLookup(host: "a")
            #expect(lookup.take(six, pair[0]) == nil)
            #expect(lookup.take(four, pair[1])?.failure == failure)
        }
    }

    @Test func whatTheFirstServerSaidCountsWhereNoneAnswers() {
        var lookup = NameLookup(host: "a")
        lookup.refused(four, .refused("it failed", rcode: "SERVFAIL"))
        _ = lookup.take(four, .failed("no name server could be asked"))
        #expect(lookup.take(six, .empty)?.failure == .unknown("it failed (SERVFAIL)", rcode: "SERVFAIL"))
    }
}
