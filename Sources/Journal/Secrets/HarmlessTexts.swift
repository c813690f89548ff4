/// A memo of texts without secrets, for heads repeat often. It keeps hashes with a key of this process, and is cleared when new
/// secrets are learned.
struct HarmlessTexts: Sendable {
    private var hashes: Set<Int> = []
    /// The version of the known secrets at the time of the searches.
    private var knowledge = 0

    private static let most = 256
    /// The search of a shorter text costs no more than the look-up.
    private static let shortest = 64
    private static let longest = 4096

    /// The hash of a text; nil for one that is not kept.
    static func hash(_ text: ArraySlice<UInt8>) -> Int? {
        guard (shortest...longest).contains(text.count) else { return nil }
        var hasher = Hasher()
        text.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    /// - Parameter knowledge: a version that changes with the known secrets.
    func contains(_ hash: Int?, knowing knowledge: Int) -> Bool {
        guard knowledge == self.knowledge, let hash else { return false }
        return hashes.contains(hash)
    }

    /// Adds a text without a secret.
    mutating func insert(_ hash: Int?, knowing knowledge: Int) {
        guard let hash else { return }
        if knowledge != self.knowledge || hashes.count >= Self.most { hashes.removeAll(keepingCapacity: true) }
        self.knowledge = knowledge
        hashes.insert(hash)
    }
}
