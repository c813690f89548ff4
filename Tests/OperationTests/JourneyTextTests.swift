import Formats
import Testing

@testable import Operation

/// A journey for somebody's eyes, and two of them beside each other.
struct JourneyTextTests {
    private static func journey(
        _ id: String = "2000004", row: String = "", steps: String = "", more: String = "", lost: Bool = false
    ) throws -> JSONValue {
        try JSONValue(
            parsing: """
                {"journey":{"id":"\(id)","began":"2026-11-22T21:00:04.118Z","duration_ms":5230,"am_ms":44,"app_ms":5180,
                "outcome":"failed","reason":"Login failure (401, 107)","client":"127.0.0.1:5","realm":"/alpha","tree":"Login",
                "type":"service","by":"app","complete":\(!lost),"steps":3\(row)},"flows_lost":\(lost),
                "steps":[{"flow":"2000004","action":"START_AUTHENTICATE","at_ms":0,"duration_ms":25,"am_ms":20,"pause_ms":0,
                "status":200,"ending":"asks","repeated":false,"attempts":2,"stage":"One",
                "callbacks":[{"type":"NameCallback","prompt":"Who\\u001b[31m","answer":"demo"},
                {"type":"PasswordCallback","prompt":"","answer":null}]}\(steps),
                {"flow":"2000007","action":"AUTHENTICATE","at_ms":5205,"duration_ms":25,"am_ms":25,"pause_ms":5180,
                "status":401,"ending":"refuses","reason":"Login failure (401, 107)","repeated":true,"attempts":1,"callbacks":[]}]
                \(more)}
                """)
    }

    @Test("A line for each call, with what was asked beneath it, and nothing that steers a terminal")
    func story() throws {
        let text = JourneyText(try Self.journey(), .plain).text
        #expect(
            text == """
                /alpha Login → failed: Login failure (401, 107) in 5230 ms
                journey 2000004, 2026-11-22T21:00:04.118Z, from 127.0.0.1:5, 3 steps: 44 ms at AM, 5180 ms between them

                      0 ms  START_AUTHENTICATE → 200 in 25 ms (AM 20), after 2 attempts, “One” (flow 2000004)
                            NameCallback “Who [31m”: demo
                            PasswordCallback
                   5205 ms  AUTHENTICATE → 401 in 25 ms, 5180 ms after the call before it, sent again, Login failure (401, 107) (flow 2000007)

                """)
    }

    @Test("What is missing, where it comes from, and what was left out are said")
    func notes() throws {
        let text = JourneyText(
            try Self.journey(
                more: """
                    ,"from":{"session":"session#3","journey":"1000001"},"stepped_up_by":["a","b"],"left_out":{"steps":4,"calls":5,"tokens":6,"requests":7},
                    "tokens":[{"kind":"id_token","alias":"token#1"}],
                    "resources":[{"origin":"https://a.test","requests":3,"paths":1,"statuses":[{"status":200,"count":2},{"status":null,"count":1}]}]
                    """, lost: true), .plain
        ).text
        for words in [
            "its beginning was replaced by newer flows", "started with session#3, obtained by journey 1000001",
            "stepped up by journeys a, b", "4 more steps are not shown", "5 more calls that followed",
            "  id_token       token#1\n  and 6 more tokens",
            "  https://a.test: 3 requests to 1 path: 200 × 2, no response\n  and 7 more requests",
        ] {
            #expect(text.contains(words), "\(words)")
        }
    }

    @Test("Whatever differs by chance makes no difference; a further step does")
    func comparison() throws {
        let one = try Self.journey(row: #","login":"demo""#)
        let other = try JSONValue(
            parsing: Self.journey("300000a", row: #","login":"demo""#).serialized
                .replacing("2000007", with: "3000011").replacing("5205", with: "77").replacing("44", with: "9"))
        var comparison = JourneyComparison(one, other)
        #expect(comparison.isSame && comparison.text(.plain) == "journeys 2000004 and 300000a are alike\n")
        comparison = JourneyComparison(
            one,
            try Self.journey(
                row: #","login":"demo""#,
                steps: #",{"action":"AUTHENTICATE","status":200,"ending":"asks","at_ms":3,"callbacks":[]}"#))
        #expect(!comparison.isSame && comparison.text(.plain).contains("\n+ AUTHENTICATE → 200\n"))
        #expect(comparison.json["same"] == .bool(false))
    }

    @Test("Rows have what is worth a look, and fit where they have to")
    func rows() throws {
        let row = try #require(
            Self.journey(row: #","login":"demo","tokens":2,"origins":1,"ended_by":"7""#)["journey"])
        let wide = JourneyList(.plain, width: nil).text([row]).split(separator: "\n")
        #expect(wide.count == 2 && wide[1].hasSuffix("failed: Login failure (401, 107), signed out"))
        #expect(wide[1].contains("/alpha Login  demo  3      5230  2       1        failed"))
        let narrow = JourneyList(.plain, width: 90).text([row]).split(separator: "\n")
        #expect(narrow[1].count <= 90 && narrow[1].hasSuffix("…"))
    }
}
