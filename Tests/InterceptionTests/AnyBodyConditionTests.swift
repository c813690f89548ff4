import Testing

@testable import Interception

/// Any condition over head and body holds just where its parts say so, and a body that decides is asked for.
struct AnyBodyConditionTests {
    private static let leaves = Result {
        [
            Condition.test(.method, [.exact("POST")]), .test(.path, [.exact("/pay")]), .test(.path, [.glob("/o*")]),
            .test(.header("Y"), [.glob("*")]), try json("/type", .exact("payment")), try json("/type", .glob("*")),
            try json("/amount", .exact("1"), .exact("2")), try json("", .glob("*")),
            .test(.form("type"), [.glob("pay*")]),
            .always,
        ]
    }
    private static let requests = [
        "POST http://a.example/pay\nContent-Type: application/json", "PUT http://a.example/other\nY: 1",
        "POST http://a.example/o\nContent-Type: application/x-www-form-urlencoded",
        "POST http://a.example/pay\nContent-Type: image/png\nY: 2",
    ]
    private static let bodies = [
        "", #"{"type": "payment", "amount": 1}"#, #"{"type": "x", "amount": 2.0}"#, "type=payment", "[1]", "{",
    ]

    private func condition(_ random: inout SeededRandom, _ leaves: [Condition], depth: Int) -> Condition {
        func parts() -> [Condition] {
            (0..<random.below(4)).map { _ in condition(&random, leaves, depth: depth - 1) }
        }
        switch depth > 0 ? random.below(6) : 5 {
        case 0, 1: return .all(parts())
        case 2, 3: return .any(parts())
        case 4: return .not(condition(&random, leaves, depth: depth - 1))
        default: return leaves[random.below(leaves.count)]
        }
    }

    private func expected(_ condition: Condition, _ text: String, _ body: String) throws -> Bool {
        switch condition {
        case .all(let parts): return try parts.allSatisfy { try expected($0, text, body) }
        case .any(let parts): return try parts.contains { try expected($0, text, body) }
        case .not(let part): return try !expected(part, text, body)
        case .always, .test: return try BodyConditionTests.run(condition, .whole(Array(body.utf8)), text).holds
        }
    }

    @Test(arguments: UInt64(1)...8)
    func anyCondition(_ seed: UInt64) throws {
        var random = SeededRandom(state: seed)
        let leaves = try Self.leaves.get()
        for _ in 0..<60 {
            let condition = condition(&random, leaves, depth: 3)
            for text in Self.requests {
                for body in Self.bodies {
                    let holds = try BodyConditionTests.run(condition, .whole(Array(body.utf8)), text).holds
                    let expected = try expected(condition, text, body)
                    #expect(holds == expected, "\(condition) for \(text) with \(body)")
                }
            }
        }
    }
}
