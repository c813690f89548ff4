import Testing

@testable import ProxyCore

/// The table of an exchange's stages.
@Suite struct ExchangeStageTests {
    private typealias Kind = ExchangeStage.State.Kind

    @Test func everyStageIsReachedAndLeadsToTheEnd() {
        var reached: Set<Kind> = [.reading]
        var found = reached
        while !found.isEmpty {
            found = found.reduce(into: Set<Kind>()) { $0.formUnion($1.next) }.subtracting(reached)
            reached.formUnion(found)
        }
        #expect(reached == Set(Kind.allCases))
        for kind in Kind.allCases { #expect(kind.mayBecome(.over), "\(kind) has no end") }
    }

    @Test func aPlaceIsLentAgainWhenItsExchangeIsOverAndNotBefore() {
        for kind in Kind.allCases { #expect(kind.mayBecome(.reading) == (kind == .over)) }
    }

    /// What the client has part of is not sent again, nor decided upon.
    @Test func aResponseThatHasBegunEndsAsItIs() {
        for kind in [Kind.delivering, .pacing] {
            for other in [Kind.leasing, .awaiting, .holding, .calling, .deciding] {
                #expect(!kind.mayBecome(other), "\(kind) may become \(other)")
            }
        }
        for other in Kind.allCases where other != .over && other != .tunnelling {
            #expect(!Kind.tunnelling.mayBecome(other))
        }
    }
}
