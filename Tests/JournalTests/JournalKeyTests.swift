import Testing

@testable import Journal

/// What the tables of the journal go by, part by part, and their bounds, each at its edge.
struct JournalKeyTests {
    // MARK: whose secrets share an alias

    @Test("A secret is recognised by all of its bytes, in any encoding and position")
    func alias() {
        var aliases = SecretAliases()
        let first = aliases.alias(of: "secret-number-1".utf8, .token)
        for other in ["secret-number-2", "secret-number-", "ecret-number-1", "Secret-number-1", "secret-number-1 "] {
            #expect(aliases.alias(of: other.utf8, .token) != first)
        }
        #expect(aliases.alias(of: "secret%2Dnumber-1".utf8, .session) == first)
        #expect(aliases.alias(of: "another".utf8, .token).kind == .token)
        #expect(aliases.alias(of: "a third".utf8, .session) == SecretAlias(.session, 1))
    }

    private static func found(_ secret: String, in text: String) -> Bool {
        var aliases = SecretAliases()
        _ = aliases.alias(of: secret.utf8, .token)
        return aliases.cleared(Array(text.utf8)) != Array(text.utf8)
    }

    @Test("A secret of 12 bytes is recognised anywhere, a shorter one only by its name")
    func shortest() {
        #expect(Self.found("abcdefghij12", in: "x abcdefghij12 y") && !Self.found("abcdefghij1", in: "x abcdefghij1 y"))
        // nor a word of letters
        #expect(!Self.found("abcdefghijkl", in: "x abcdefghijkl y"))
    }

    @Test("A secret of 16 KiB is recognised anywhere, a longer one is not")
    func longest() {
        let secret = String(repeating: "abcdefg1", count: KnownForms.longest / 8)
        #expect(Self.found(secret, in: "x \(secret) y") && !Self.found(secret + "2", in: "x \(secret)2 y"))
        #expect(!Self.found(secret, in: "x \(secret)2 y"), "it ends where a word does")
    }

    @Test("The older half of the secrets is forgotten only when the table is full")
    func generations() {
        for (others, isKnown) in [(99, true), (100, false)] {
            var aliases = SecretAliases(most: 100)
            let first = aliases.alias(of: "the-first-one-1".utf8, .token)
            for number in 0..<others { _ = aliases.alias(of: "secret-number-\(number)".utf8, .token) }
            let again = aliases.alias(of: "the-first-one-1".utf8, .token)
            #expect((again == first) == isKnown, "\(others)")
        }
    }

    @Test(
        "A client with many secrets displaces its own older ones, and none of others",
        arguments: ["192.0.2.NN:4000", "127.0.0.NN:4000", "[2001:db8:NN::1]:4000"])
    func shares(_ text: String) throws {
        func flow(_ number: Int) -> PackedFlow {
            FlowSamples.flow { $0.client = text.replacing("NN", with: "\(number)") }
        }
        // the sums of two may be the same
        let other = try #require(
            (2..<60).map(flow).first { SecretAliases.owner(of: $0) != SecretAliases.owner(of: flow(1)) })
        var aliases = SecretAliases(most: 100)
        aliases.begin(flow(1))
        let first = aliases.alias(of: "the-first-one-1".utf8, .token)
        aliases.begin(other)
        for number in 0..<1000 { _ = aliases.alias(of: "secret-number-\(number)".utf8, .token) }
        aliases.steps.begin(0)
        #expect(aliases.cleared(Array("of the-first-one-1".utf8)) != Array("of the-first-one-1".utf8))
        #expect(aliases.alias(of: "secret-number-999".utf8, .token).number == 1001)
        #expect(aliases.alias(of: "secret-number-0".utf8, .token).number == 1002)
        aliases.begin(flow(1))
        #expect(aliases.alias(of: "the-first-one-1".utf8, .token) == first)
    }

    @Test("A secret in use stays known, and a forgotten one is not found any more")
    func metAgain() {
        var aliases = SecretAliases(most: 100)
        let first = aliases.alias(of: "the-first-one-1".utf8, .token)
        for number in 0..<1000 {
            _ = aliases.alias(of: "\(number)-secret-number".utf8, .token)
            if number % 20 == 0 { #expect(aliases.alias(of: "the-first-one-1".utf8, .token) == first) }
        }
        aliases.steps.begin(0)
        for (text, isKnown) in [("0-secret-number", false), ("999-secret-number", true), ("the-first-one-1", true)] {
            #expect((aliases.cleared(Array(text.utf8)) != Array(text.utf8)) == isKnown, "\(text)")
            #expect((aliases.suspect(in: Array("x-y \(text)".utf8)[...], from: 0) != nil) == isKnown, "\(text)")
        }
    }

    /// Whoever is shown secrets has those of the configuration there.
    @Test func theConfigurationsOwnAreNotKeptToBeShown() {
        var aliases = SecretAliases()
        aliases.met = []
        aliases.pin([Array("of-the-configuration".utf8)])
        #expect(aliases.met?.isEmpty == true)
        _ = aliases.alias(of: Array("of-a-message".utf8), .secret)
        #expect(aliases.met?.count == 1)
    }

    @Test("Secrets of the configuration may fill a quarter of the table, and are never forgotten")
    func pinned() {
        var aliases = SecretAliases(most: 8)
        aliases.pin((0..<3).map { Array("of-the-configuration-\($0)".utf8) })
        let kept = (0..<2).map { aliases.alias(of: "of-the-configuration-\($0)".utf8, .secret) }
        for number in 0..<100 { _ = aliases.alias(of: "secret-number-\(number)".utf8, .token) }
        let first = String(decoding: aliases.cleared(Array("of-the-configuration-0".utf8)), as: UTF8.self)
        let last = String(decoding: aliases.cleared(Array("of-the-configuration-2".utf8)), as: UTF8.self)
        #expect(kept.map(\.kind) == [.secret, .secret])
        #expect(!first.contains("configuration") && last == "of-the-configuration-2")
    }

    @Test("The step limit grows with the text, and is at least half a million")
    func steps() {
        for (bytes, most) in [(0, 512 << 10), (1 << 20, 12 << 20)] {
            var steps = StepBudget()
            steps.spend(1 << 30)
            steps.begin(bytes)
            steps.spend(most)
            #expect(!steps.isSpent)
            steps.spend(1)
            #expect(steps.isSpent)
        }
    }

    // MARK: who goes on with whose login

    private static func resumed(_ change: @escaping (inout FlowSamples.Sample) -> Void) -> Int {
        var recording = LoginRecording()
        recording.add(
            "START_AUTHENTICATE", "",
            #"{"authId":"authId#1","callbacks":[{"type":"SuspendedTextOutputCallback","output":[]}]}"#
        ) { $0.client = "127.0.0.1:5000" }
        recording.add("RESUME_AUTHENTICATE", "", LoginRecording.step(2)) {
            $0.client = "127.0.0.1:5001"
            $0.target = "/am/json/authenticate?suspendedId=code#9"
            change(&$0)
        }
        return recording.book.journeys.count
    }

    @Test("A mailed link resumes a login of the same client, caller, realm and AM only")
    func suspended() {
        #expect(Self.resumed { _ in } == 1)
        #expect(Self.resumed { $0.client = "127.0.0.2:5001" } == 2)
        #expect(Self.resumed { $0.parent = 7 } == 2)
        #expect(Self.resumed { $0.realm = "/bravo" } == 2)
        #expect(Self.resumed { $0.host = "other.test" } == 2)
    }

    @Test("A step belongs to the login that received its authId, whatever its client")
    func authId() {
        for (sent, count) in [(1, 1), (2, 2)] {
            var recording = LoginRecording()
            recording.add("START_AUTHENTICATE", "", LoginRecording.step(1))
            recording.add("AUTHENTICATE", LoginRecording.answer(sent), LoginRecording.success(1))
            #expect(recording.book.journeys.count == count)
        }
    }

    @Test("256 logins may wait for their links; another one displaces the oldest")
    func waiting() {
        for (others, isFound) in [(255, true), (256, false)] {
            var recording = LoginRecording()
            for number in 0...others {
                recording.add(
                    "START_AUTHENTICATE", "",
                    #"{"authId":"authId#\#(number + 1)","callbacks":[{"type":"SuspendedTextOutputCallback"}]}"#
                ) { $0.client = "10.0.\(number / 250).\(number % 250):5000" }
            }
            recording.add("RESUME_AUTHENTICATE", "", LoginRecording.step(900)) {
                $0.client = "10.0.0.0:6000"
                $0.target = "/am/json/authenticate?suspendedId=code#9"
            }
            #expect((recording.book.journeys.count == others + 1) == isFound, "\(others)")
        }
    }

    // MARK: flows by client

    @Test("Client addresses are compared whole, with or without the port")
    func clients() throws {
        let flow = FlowSamples.flow { $0.client = "10.1.2.3:4444" }
        for (term, holds) in [
            ("client=10.1.2.3", true), ("client=10.1.2.3:4444", true), ("client=10.1.2.3:444", false),
            ("client=10.1.2.30", false), ("client=10.1.2", false), ("client=0.1.2.3", false),
        ] {
            #expect(try FlowFilter([term], now: 0).accepts(flow) == holds, "\(term)")
        }
    }
}
