internal import Declaration
internal import Journal

extension KeyTable {
    static let journal = KeyGroup(
        JournalStore.Settings(),
        .number(
            "memory", \.memory, .size(0...(1 << 40), orUnlimited: false),
            "Memory for flows. The newest replace the oldest. 0 stores none."),
        .number("bodies", \.bodies, .size(0...(64 << 20), orUnlimited: false), "The part of one body that is stored."),
        .texts(
            "secrets", \.secrets, .name,
            "Further names of header fields, query parameters, JSON members and cookies whose values are secrets."),
        .flag(
            "reveal", \.reveals,
            "Also store the secrets behind aliases, sealed with state.key, for the owner of the socket."),
        .key(
            "disk", .object(journalDisk.shape("journal.disk")),
            "Also store flows in the state directory, over restarts. Without the key, only in memory."))

    static let journalDisk = KeyGroup(
        JournalStore.DiskLimits(),
        .number(
            "size", \.size, .size((1 << 20)...(1 << 40), orUnlimited: false),
            "The size of the file. The newest flows replace the oldest."),
        .number("age", \.age, .duration(60_000...(10_000 * 3_600_000)), "The time that a flow is stored."))
}
