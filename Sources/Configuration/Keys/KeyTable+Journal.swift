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
        Key(
            "reveal", .boolean,
            "Keeps the secrets that aliases stand for, sealed with state.key, for the socket's owner.",
            standard: "false"),
        Key(
            "disk", .object(.journalDisk),
            "Keeps flows in the state directory, too, where they outlive the daemon; without the key they are in memory alone."
        ),
    ]

    static let journalDisk: [Key] = [
        Key(
            "size", .size((1 << 20)...(1 << 40), orUnlimited: false),
            "The file's size; the oldest flows make room for the newest.", standard: "1GiB"),
        Key("age", .duration(60_000...(10_000 * 3_600_000)), "How long a flow is kept there.", standard: "168h"),
    ]
}
