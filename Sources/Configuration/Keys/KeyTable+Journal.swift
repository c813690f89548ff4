import Declaration

extension KeyTable {
    static let journal: [Key] = [
        Key(
            "memory", .size(0...(1 << 40), orUnlimited: false),
            "Memory for flows. The newest replace the oldest. 0 stores none.", standard: "64MiB"),
        Key(
            "bodies", .size(0...(64 << 20), orUnlimited: false),
            "The part of one body that is stored.", standard: "256KiB"),
        Key(
            "secrets", .oneOrMany(.text(.name)),
            "Further names of header fields, query parameters, JSON members and cookies whose values are secrets.",
            standard: "[]"),
        Key(
            "reveal", .boolean,
            "Also store the secrets behind aliases, sealed with state.key, for the owner of the socket.",
            standard: "false"),
        Key(
            "disk", .object(.journalDisk),
            "Also store flows in the state directory, over restarts. Without the key, only in memory."
        ),
    ]

    static let journalDisk: [Key] = [
        Key(
            "size", .size((1 << 20)...(1 << 40), orUnlimited: false),
            "The size of the file. The newest flows replace the oldest.", standard: "1GiB"),
        Key("age", .duration(60_000...(10_000 * 3_600_000)), "The time that a flow is stored.", standard: "168h"),
    ]
}
