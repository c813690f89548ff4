import Declaration

extension KeyTable {
    static let journal: [Key] = [
        Key(
            "memory", .size(0...(1 << 40), orUnlimited: false),
            "Memory for the flows that are kept; the oldest make room for the newest. 0 keeps none.", standard: "64MiB"),
        Key(
            "bodies", .size(0...(64 << 20), orUnlimited: false), "How much is kept of one body.", standard: "256KiB"),
        Key(
            "secrets", .oneOrMany(.text(.name)),
            "Names of fields, query parameters, members of JSON and cookies whose values are secrets, beside those that are known.",
            standard: "[]"),
    ]
}
