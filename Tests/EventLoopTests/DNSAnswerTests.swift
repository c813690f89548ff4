import EventLoop
import Testing

@Suite("DNS answers")
struct DNSAnswerTests {
    private let one: [UInt8] = [192, 0, 2, 1]
    private let two: [UInt8] = [192, 0, 2, 2]

    private func answer(_ count: UInt16, flags: UInt16 = 0x8180, _ fill: (inout DNSMessage) -> Void) -> DNSAnswer? {
        var message = DNSMessage(flags: flags, answers: count)
        fill(&message)
        return DNSAnswer(message.bytes, wanted: .a)
    }

    @Test func addressesInTheirOrderForTheLeastTime() {
        let found = answer(2) {
            $0.record(two, life: 60)
            $0.record(one, life: 30)
        }
        #expect(found == DNSAnswer(name: DNSMessage.labels("a.test"), addresses: [two, one], timeToLive: 30))
    }

    @Test func longAddresses() {
        let six = [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
        var message = DNSMessage(type: 28, answers: 1)
        message.record(six, type: 28)
        #expect(DNSAnswer(message.bytes, wanted: .aaaa)?.addresses == [six])
        // an answer to the other question
        #expect(DNSAnswer(message.bytes, wanted: .a) == nil)
    }

    @Test func aliasesAreFollowedInAnyOrderAndTheirTimeCounts() {
        let found = answer(3) {
            $0.record(one, life: 600, owner: DNSMessage.name("C.test"))
            $0.record(DNSMessage.name("b.test"), type: 5, life: 20)
            $0.record(DNSMessage.name("c.test"), type: 5, life: 10, owner: DNSMessage.name("B.TEST"))
        }
        #expect(found?.addresses == [one] && found?.timeToLive == 10)
    }

    @Test func aliasThatPointsIntoTheMessage() {
        // "b" and the question's "test"
        let found = answer(2) {
            $0.record([1, 0x62, 0xC0, 14], type: 5)
            $0.record(one, owner: DNSMessage.name("b.test"))
        }
        #expect(found?.addresses == [one])
    }

    @Test func addressesOfOtherNamesAreNotTaken() {
        let found = answer(2) {
            $0.record(two, life: 1, owner: DNSMessage.name("evil.test"))
            $0.record(one)
        }
        #expect(found?.addresses == [one] && found?.timeToLive == 300)
        // an alias that leads past the address
        let past = answer(2) {
            $0.record(one)
            $0.record(DNSMessage.name("b.test"), type: 5)
        }
        #expect(past?.addresses == [] && past?.timeToLive == .max)
    }

    @Test func otherKindsOfRecordsArePassedOver() {
        let found = answer(3) {
            $0.record([0, 1, 2], type: 46)
            $0.record(one, family: 3)
            $0.record(two)
        }
        #expect(found?.addresses == [two])
    }

    @Test func noAddressIsAnAnswer() { #expect(answer(0) { _ in }?.addresses == []) }

    @Test(
        arguments: [
            0x8182, 0x8183, 0x8185,  // SERVFAIL, NXDOMAIN, REFUSED
            0x0180,  // a question
            0x8380,  // cut short
            0x8980,  // a status
        ] as [UInt16])
    func whatIsNoSuccess(_ flags: UInt16) { #expect(answer(1, flags: flags) { $0.record(one) } == nil) }

    @Test func timesWithTheHighestBitAreZero() {
        #expect(answer(1) { $0.record(one, life: 0x8000_0000) }?.timeToLive == 0)
        #expect(answer(1) { $0.record(one, life: 0x7FFF_FFFF) }?.timeToLive == 0x7FFF_FFFF)
    }

    @Test func everyCutIsNoticed() {
        var message = DNSMessage(answers: 3)
        message.record([1, 0x62, 0xC0, 14], type: 5)
        message.record(one, owner: DNSMessage.name("b.test"))
        message.record(two, owner: [1, 0x62, 0xC0, 14])
        #expect(DNSAnswer(message.bytes, wanted: .a)?.addresses == [one, two])
        for count in message.bytes.indices {
            #expect(DNSAnswer(Array(message.bytes[..<count]), wanted: .a) == nil, "\(count)")
        }
    }

    @Test("A single changed byte never does harm")
    func mutations() {
        var message = DNSMessage(answers: 2)
        message.record([1, 0x62, 0xC0, 14], type: 5)
        message.record(one, owner: [1, 0x62, 0xC0, 14])
        for index in message.bytes.indices {
            for value in UInt8.min...UInt8.max {
                var bytes = message.bytes
                bytes[index] = value
                guard let found = DNSAnswer(bytes, wanted: .a) else { continue }
                #expect(found.addresses.count <= 1)
            }
        }
    }

    @Test func pointersThatGoNowhere() {
        // to itself, forward, behind the end, into the header that leads on
        for target in [29, 40, 255] as [UInt8] {
            #expect(answer(1) { $0.record(one, owner: [0xC0, target]) } == nil, "\(target)")
        }
        // two that point at each other
        #expect(
            answer(2) {
                $0.record([0xC0, 42], type: 5)
                $0.record([0xC0, 40], type: 5)
            } == nil)
        // a kind of label that is not in use
        #expect(answer(1) { $0.record(one, owner: [0x41, 0]) } == nil)
    }

    @Test(arguments: [(1, true), (60, true), (400, false)])
    func longChainsOfPointersEnd(_ count: Int, _ isRead: Bool) {
        var message = DNSMessage(answers: 2)
        // the root, and pointers each to the one before, inside of a record that nobody reads
        let start = message.bytes.count + 12
        var data: [UInt8] = [0]
        for number in 0..<count {
            let target = number == 0 ? start : start + 1 + 2 * (number - 1)
            data += [0xC0 | UInt8(target >> 8), UInt8(target & 0xFF)]
        }
        message.record(data, type: 16)
        let last = start + data.count - 2
        message.record(one, owner: [0xC0 | UInt8(last >> 8), UInt8(last & 0xFF)])
        #expect((DNSAnswer(message.bytes, wanted: .a)?.addresses == []) == isRead)
    }

    @Test func namesHaveAnEnd() {
        let label = [63] + [UInt8](repeating: 0x61, count: 63)
        let fits = label + label + label + [61] + [UInt8](repeating: 0x61, count: 61) + [0]
        #expect(fits.count == 255)
        #expect(answer(1) { $0.record(one, owner: fits) }?.addresses == [])
        let over = label + label + label + [62] + [UInt8](repeating: 0x61, count: 62) + [0]
        #expect(answer(1) { $0.record(one, owner: over) } == nil)
    }

    @Test func aliasesInACircle() {
        #expect(
            answer(2) {
                $0.record(DNSMessage.name("b.test"), type: 5)
                $0.record(DNSMessage.name("a.test"), type: 5, owner: DNSMessage.name("b.test"))
            } == nil)
    }

    @Test func lengthsThatDoNotFit() {
        #expect(answer(1) { $0.record([192, 0, 2]) } == nil)
        #expect(answer(1) { $0.record(one + [5]) } == nil)
        // an alias whose name ends before its data does
        #expect(answer(1) { $0.record(DNSMessage.name("b.test") + [0], type: 5) } == nil)
        // more records than there are
        #expect(answer(2) { $0.record(one) } == nil)
    }

    @Test func questionsThatWereNotAsked() {
        #expect(DNSAnswer(DNSMessage(questions: 0, answers: 0).bytes, wanted: .a) == nil)
        #expect(DNSAnswer(DNSMessage(questions: 2, answers: 0).bytes, wanted: .a) == nil)
    }
}
