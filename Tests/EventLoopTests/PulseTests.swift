import Glibc
import Testing

@testable import EventLoop

@Suite("What is known of a loop from outside")
struct PulseTests {
    @Test func itsAgeCountsFromItsLastTurnUntilItsEnd() {
        let pulse = LoopPulse()
        #expect(pulse.age(at: 5000) == nil)
        pulse.turn(at: 1000)
        #expect(pulse.age(at: 3500) == 2500)
        // whoever looks may have looked at the clock before
        #expect(pulse.age(at: 999) == 0)
        pulse.end()
        #expect(pulse.age(at: 9000) == nil)
    }

    @Test func itSaysWhatItIsAt() throws {
        let loop = try Loop()
        var seen: String?
        var about: UInt64?
        let mailbox = try Mailbox<Int>()
        let port = try MailboxPort(loop: loop, mailbox) { _ in
            seen = loop.pulse.doing?.kind
            loop.pulse.concerns(77)
            about = loop.pulse.doing?.subject
        }
        #expect(loop.pulse.doing == nil)
        mailbox.post(1)
        loop.turn()
        #expect(seen == "MailboxPort<Int>" && about == 77)
        #expect(loop.pulse.doing == nil)
        withExtendedLifetime(port) {}
    }
}
