import EventLoop
import Journal
import TLSEngine

/// The secrets behind aliases, each sealed under its alias's name. In memory within a budget, oldest dropped first; and on disk
/// with the flows.
final class SealedSecrets: Sendable {
    typealias Sealed = (alias: SecretAlias, sealed: [UInt8])

    fileprivate struct State {
        var sealing: Sealing?
        var held: [SecretAlias: [UInt8]] = [:]
        /// In order of arrival. Those before `first` are dropped.
        var order: [SecretAlias] = []
        var first = 0
        var bytes = 0
        var budget = 0
    }

    private let state = Locked(State())
    /// The memory of an entry beside its own bytes.
    private static let overhead = 96
    /// The purpose of derived keys.
    private static let purpose: StaticString = "usher journal: key\n"

    /// Sets the key. Secrets that another key sealed cannot be opened any more.
    /// - Parameters:
    ///   - key: nil to store nothing and drop all secrets.
    ///   - budget: in bytes.
    func adopt(_ key: SecretBytes?, budget: Int) {
        let sealing = key.flatMap { Sealing(for: Self.purpose, of: $0) }
        state.withLock { state in
            if sealing == nil { state = State() }
            state.sealing = sealing
            state.budget = budget
        }
    }

    /// - Returns: the sealed secrets.
    func keep(_ secrets: [MetSecret]) -> [Sealed] {
        guard !secrets.isEmpty, let sealing = state.withLock({ $0.sealing }) else { return [] }
        let sealed = secrets.compactMap { secret -> Sealed? in
            sealing.seal(secret.bytes, name: secret.alias.text).map { (alias: secret.alias, sealed: $0) }
        }
        state.withLock { state in for one in sealed { state.put(one.alias, one.sealed, Self.overhead) } }
        return sealed
    }

    /// - Parameter shelf: the disk's store, to search that as well.
    /// - Returns: nil if the secret is not stored, or no longer.
    func secret(_ alias: SecretAlias, _ shelf: (any FlowShelf)?) -> [UInt8]? {
        let (sealing, held) = state.withLock { ($0.sealing, $0.held[alias]) }
        guard let sealing, let sealed = held ?? (try? shelf?.sealed(alias)) ?? nil else { return nil }
        return sealing.open(sealed, name: alias.text)
    }
}

extension SealedSecrets.State {
    fileprivate mutating func put(_ alias: SecretAlias, _ sealed: [UInt8], _ overhead: Int) {
        if let old = held.updateValue(sealed, forKey: alias) {
            bytes += sealed.count - old.count
        } else {
            order.append(alias)
            bytes += sealed.count + overhead
        }
        while bytes > budget, first < order.count {
            if let old = held.removeValue(forKey: order[first]) { bytes -= old.count + overhead }
            first += 1
        }
        guard first > 1024, first > order.count / 2 else { return }
        order.removeFirst(first)
        first = 0
    }
}
