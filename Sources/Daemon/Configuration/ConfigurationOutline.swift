/// Digests of a configuration's keys, for finding the keys that differ between two configurations. Digests are comparable within
/// one process only.
public struct ConfigurationOutline: Equatable, Sendable {
    private struct Part: Equatable, Sendable {
        var name: String
        /// The digest of the value. Comments, positions and quoting do not count.
        var digest: Int
    }

    /// The keys of the first two levels, such as `tls.intercept`, in file order.
    private var keys: [Part] = []
    /// The other files that were read: certificates, users, secrets.
    private var files: [Part] = []

    public init() {}

    init(_ root: YAMLNode) {
        guard case .map(let entries) = root.content else { return }
        for entry in entries {
            if case .map(let inner) = entry.value.content {
                for one in inner { add("\(entry.key).\(one.key)", one.value) }
            } else {
                add(entry.key, entry.value)
            }
        }
    }

    private mutating func add(_ name: String, _ value: YAMLNode) {
        // null equals a missing key
        guard !value.isNull else { return }
        var hasher = Hasher()
        value.hash(into: &hasher)
        keys.append(Part(name: name, digest: hasher.finalize()))
    }

    mutating func add(file: String, _ digest: Int) {
        guard !files.contains(where: { $0.name == file }) else { return }
        files.append(Part(name: file, digest: digest))
    }

    /// The differences: keys of `new` in its order, then keys that it lacks, then files. Each once.
    public func changes(to new: ConfigurationOutline) -> [String] {
        Self.changes(keys, new.keys) + Self.changes(files, new.files)
    }

    private static func changes(_ old: [Part], _ new: [Part]) -> [String] {
        let before = Dictionary(old.map { ($0.name, $0.digest) }, uniquingKeysWith: { first, _ in first })
        let after = Set(new.map(\.name))
        return new.filter { before[$0.name] != $0.digest }.map(\.name)
            + old.map(\.name).filter { !after.contains($0) }
    }
}

/// The files that one load reads in addition to the configuration's own.
final class ReadFiles {
    private var found: [(path: String, digest: Int)] = []

    /// Wraps a file reader and records digests of the contents.
    func noting(_ read: @escaping FileReading) -> FileReading {
        { path throws(FileFault) in
            let content = try read(path)
            self.found.append((path, content.bytes.hashValue))
            return content
        }
    }

    func describe(in outline: inout ConfigurationOutline) {
        for (path, digest) in found { outline.add(file: path, digest) }
    }
}

extension YAMLNode {
    fileprivate func hash(into hasher: inout Hasher) {
        switch content {
        case .scalar(let text, let isPlain):
            hasher.combine(0)
            hasher.combine(isPlain)
            hasher.combine(text)
        case .list(let items):
            hasher.combine(1)
            hasher.combine(items.count)
            for item in items { item.hash(into: &hasher) }
        case .map(let entries):
            hasher.combine(2)
            hasher.combine(entries.count)
            for entry in entries {
                hasher.combine(entry.key)
                entry.value.hash(into: &hasher)
            }
        }
    }
}
