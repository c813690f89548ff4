import Journal
import Testing

/// Journeys by their ids, by filters and in pages; and what makes two of them alike.
struct JourneyBookTests {
    private static func recording(_ logins: Int) -> LoginRecording {
        var recording = LoginRecording()
        for login in 1...logins { recording.login(login, login) }
        return recording
    }

    @Test("A journey is found by its id, a part of the id, or any of its calls")
    func finding() {
        var recording = Self.recording(20)
        recording.get("/", "X: 1\r\n")
        let book = recording.book
        func found(_ text: String) -> String? {
            if case .one(let journey) = book.find(text) { journey.id.description } else { nil }
        }
        #expect(found("1001") == "1001" && found("1002") == "1001" && found("21") == "1021" && found("022") == "1021")
        guard case .several(let ids) = book.find("10") else { return #expect(Bool(false)) }
        #expect(ids.count == 5)
        guard case .other(let flow) = book.find("1029") else { return #expect(Bool(false)) }
        #expect(flow.description == "1029")
        for text in ["dead", "", "x", "session#1"] {
            guard case .none(let newest) = book.find(text) else { return #expect(Bool(false)) }
            #expect(newest.map(\.description) == ["1027", "1025", "1023", "1021", "101f"])
        }
    }

    @Test("Pages have no gaps between them, newest first")
    func pages() throws {
        let recording = Self.recording(10)
        let book = recording.book
        let filter = try JourneyFilter([], now: 0)
        var found: [String] = []
        var before = Int.max
        for _ in 1...10 {
            let page = book.page(filter, before: before, limit: 3, now: recording.time)
            found += page.journeys.map(\.id.description)
            guard let next = page.next else { break }
            before = next
        }
        #expect(found == stride(from: 0x1013, through: 0x1001, by: -2).map { FlowID(UInt64($0)).description })
    }

    @Test(
        "Filters test a journey, or one of its calls",
        arguments: [
            (["outcome=failed"], ["1003"]), (["outcome=succeeded,running"], ["1005", "1001"]),
            (["outcome!=failed"], ["1005", "1001"]), (["not", "outcome=failed"], ["1005", "1001"]),
            (["not outcome!=failed"], ["1003"]), (["by=app"], ["1005", "1003", "1001"]), (["by=usher"], []),
            (["login=d*"], ["1003", "1001"]), (["login=~^D"], []), (["login!=demo"], ["1005"]),
            (["status=401"], ["1003"]), (["tree=Login", "outcome=failed"], ["1003"]), (["tree=Other"], []),
            (["not", "status=401"], ["1005", "1003", "1001"]), (["action=LOGOUT"], []), (["flow=1004"], ["1003"]),
        ])
    func filters(_ terms: [String], _ expected: [String]) throws {
        var recording = LoginRecording()
        recording.login(1, 1)
        recording.add("START_AUTHENTICATE", "", LoginRecording.step(2))
        recording.add("AUTHENTICATE", LoginRecording.answer(2), LoginRecording.refusal, status: 401)
        recording.add("START_AUTHENTICATE", "", LoginRecording.step(3))
        let page = recording.book.page(
            try JourneyFilter(terms, now: recording.time), before: .max, limit: 10, now: recording.time)
        #expect(page.journeys.map(\.id.description) == expected)
    }

    @Test(
        "An invalid filter is refused with the reason",
        arguments: [
            (["outcome=faild"], "did you mean failed?"), (["outcome="], "outcome has no value"),
            (["by=me"], "by takes usher or app"), (["statsu=1"], "did you mean status?"),
            (["not"], "\"not\" comes before"),
            (["login=~("], "not a valid regular expression"), (["outcome"], "key=value"),
        ])
    func faults(_ terms: [String], _ words: String) {
        #expect { try JourneyFilter(terms, now: 0) } throws: { "\($0)".contains(words) }
    }

    @Test("Ids and times count as equal in a comparison, and other words do not")
    func steady() {
        var (one, two) = (SteadyText(), SteadyText())
        for (left, right) in [
            ("token#4 from session#9, token#4, token#5", "token#1 from session#2, token#1, token#8"),
            ("id 3f2504e0-4f89-11d3-9a0c-0305e82c3301.", "id 7d444840-9dc0-11d1-b245-5ffdce74fad2."),
            ("at 2026-11-21T09:25:00.123Z", "at 2026-11-22T10:00:00Z"), ("on 2026-11-21", "on 2025-01-02"),
            ("0123456789abcdef0 and 1234567890", "00000000000000000a and 99999999999"),
        ] {
            #expect(one.steady(left) == two.steady(right), "\(left)")
        }
        #expect(one.steady("token#9 Pay 20.00 to demo, é") == "token#3 Pay 20.00 to demo, é")
        for text in ["https://shop.test:8443/a", "Code 12", "2026", "deadbeef", "added"] {
            #expect(one.steady(text) == text)
        }
    }

    @Test("Journeys of many flows are built fast")
    func speed() {
        var recording = LoginRecording()
        for login in 1...1_000 {
            recording.login(login, login)
            for _ in 1...8 { recording.get("/", LoginRecording.cookie(login)) }
        }
        let ring = recording.ring
        var count = 0
        let time = ContinuousClock().measure { count = JourneyBook(ring).journeys.count }
        // without an optimizer; with it, 100,000 take less than 100 ms (docs/operate.md)
        #expect(count == 1_000 && time < .seconds(3))
    }
}
