/// What a configuration says, key by key, without its values: of two of them it is told which keys changed. Only those of
/// one process can be compared.
public struct ConfigurationOutline: Equatable, Sendable {
    private struct Part: Equatable, Sendable {
        var name: String
        /// Of what stands there; comments, places and the way it is quoted over lines are none of it.
        var digest: Int
    }

    /// Keys of the first two levels, as `tls.intercept`, in the order of the file.
    private var keys: [Part] = []
    /// What was read beside it: certificates, users, secrets.
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
        // null says what no key at all says
        guard !value.isNull else { return }
        var hasher = Hasher()
        value.hash(into: &hasher)
        keys.append(Part(name: name, digest: hasher.finalize()))
    }

    mutating func add(file: String, _ digest: Int) {
        guard !files.contains(where: { $0.name == file }) else { return }
        files.append(Part(name: file, digest: digest))
    }

    /// What is another in `new`: keys in its order, then those that it lacks, then files. Each once.
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

/// Files that one load reads beside the configuration's own.
final class ReadFiles {
    private var found: [(path: String, digest: Int)] = []

    /// The same reading, of which it is noted what came. Nothing of it is kept.
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
