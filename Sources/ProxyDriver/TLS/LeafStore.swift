import EventLoop
import Glibc
public import TLSEngine

/// The certificates that were made for intercepted hosts, with the authority that makes them and the one key that all of
/// them speak for. Shared by all loops, so that hosts are the same wherever a client's connection lands; asked once for
/// each connection whose TLS is opened.
public final class LeafStore: Sendable {
    public let authority: CertificateAuthority
    public let capacity: Int
    let key: PrivateKey
    private let cache: Locked<LeafCache>

    /// - Parameter capacity: certificates that are kept.
    /// - Throws: `MaterialFault` where no key can be made.
    public init(_ authority: CertificateAuthority, capacity: Int) throws(MaterialFault) {
        self.authority = authority
        self.capacity = capacity
        key = try .makeP256()
        // whoever asks waits for whoever makes one: a slow key makes fewer
        cache = Locked(
            authority.key.signsQuickly
                ? LeafCache(capacity: capacity) : LeafCache(capacity: capacity, rate: 100, burst: 200))
    }

    /// The certificate for that host, made where there is none yet. Whoever asks for the same host meanwhile waits the tenth
    /// of a millisecond that it takes.
    /// - Parameter minted: told where it was made just now.
    /// - Throws: `TLSFault` where it cannot be made, or too many were made of late.
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
