import EventLoop
import Glibc
public import TLSEngine

/// The certificates for intercepted hosts, with their CA and shared key. It is shared by all loops, so that a host has the same
/// certificate everywhere. It is used once for each intercepted connection.
public final class LeafStore: Sendable {
    public let authority: CertificateAuthority
    public let capacity: Int
    let key: PrivateKey
    private let cache: Locked<LeafCache>

    /// - Parameter capacity: the limit of cached certificates.
    /// - Throws: `MaterialFault` if no key can be made.
    public init(_ authority: CertificateAuthority, capacity: Int) throws(MaterialFault) {
        self.authority = authority
        self.capacity = capacity
        key = try .makeP256()
        // callers wait for each other, so a slow key has a rate limit
        cache = Locked(
            authority.key.signsQuickly
                ? LeafCache(capacity: capacity) : LeafCache(capacity: capacity, rate: 100, burst: 200))
    }

    /// The certificate of a host, created if necessary. Concurrent callers wait for the tenth of a millisecond that this takes.
    /// - Parameter minted: called if a certificate was created.
    /// - Throws: `TLSFault` if it cannot be created or the rate limit is exceeded.
    func leaf(for name: String, minted: () -> Void = {}) throws(TLSFault) -> Certificate {
        do {
            return try cache.withLock { cache in
                try cache.leaf(for: name, now: Loop.monotonicMilliseconds(), date: time(nil)) {
                    minted()
                    return try authority.leaf(for: name, key: key, now: time(nil))
                }
            }
        } catch let fault as MaterialFault {
            throw TLSFault(.local, "the certificate \(fault.words)")
        } catch {
            throw TLSFault(.local, "\(error)")
        }
    }
}
