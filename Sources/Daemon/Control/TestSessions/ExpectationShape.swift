/// The shape of a report on expectations.
enum ExpectationShape {
    private static let failure = ControlShape.object([
        "flow": .text, "because": .text, "request": .optional(.text), "status": .optional(.integer(100...999)),
        "curl": .optional(.text),
    ])

    private static let entry = ControlShape.object([
        "name": .text, "verdict": .choice(["met", "unmet", "pending"]), "expected": .text, "wanted": .text,
        "counted": .count, "failed": .count, "because": .optional(.text), "place": .optional(.text),
        "pack": .optional(.text), "source": .optional(.text), "flows": .list(.text), "failures": .list(failure),
        "nearest": .described("The flow that failed the fewest terms.", .optional(failure)),
    ])

    static let report = ControlShape.object([
        "met": .described("true: all expectations are met.", .flag),
        "flows": .described("The number of flows judged.", .count), "unmet": .count, "expectations": .list(entry),
    ])
}
