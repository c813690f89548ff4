import Authorization
public import Formats

/// The stored second factors, for `usher devices`.
public struct DeviceList {
    private let files: StateFiles

    public init(_ directory: StateDirectory) { files = StateFiles(directory) }

    private func all() throws(FileError) -> [KeptDevice] {
        try files.read(.devices).values.values.compactMap(KeptDevice.init).sorted {
            ($0.user, $0.registered, $0.id) < ($1.user, $1.registered, $1.id)
        }
    }

    /// The devices without their secrets.
    /// - Throws: `FileError` if the file cannot be read.
    public func json() throws(FileError) -> JSONValue { .array(try all().map(\.summary)) }

    /// One line per device; empty if there are none.
    /// - Throws: `FileError` if the file cannot be read.
    public func text() throws(FileError) -> String {
        try all().map { kept in
            let label = kept.issuer.isEmpty ? kept.account : "\(kept.issuer): \(kept.account)"
            let (user, name) = (TerminalText.shown(kept.user), TerminalText.shown(label))
            return
                "\(kept.id)  \(kept.isPush ? "push" : "oath")  \(user)  \(kept.device)  \(kept.server) \(kept.realm)  "
                + "\(name)  since \(CalendarTime(kept.registered).internet)\n"
        }.joined()
    }

    /// - Returns: false if there is no device with that id.
    /// - Throws: `FileError` if the file cannot be read or written.
    public func forget(_ id: String) throws(FileError) -> Bool {
        guard let known = try files.read(.devices).values[id] else { return false }
        _ = try files.merge(.devices, [id: DocumentChange(before: known, value: nil)])
        return true
    }
}
