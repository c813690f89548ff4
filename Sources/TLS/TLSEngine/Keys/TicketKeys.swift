internal import COpenSSL

/// The keys that encrypt session tickets (RFC 5077 §4), of this period and the last. Each loop has its own ring. Rings with the
/// same seed advance alike, so a ticket of one loop is valid on all. The seed of a period does not reveal that of the period
/// before.
public final class TicketKeys {
    struct Key {
        /// The 16 bytes by which a ticket names its key.
        let name: SecretBytes
        let cipher: SecretBytes
        let mac: SecretBytes

        /// Nil if the library fails.
        init?(_ seed: SecretBytes) {
            guard let name = TicketKeys.derive(seed, "name", count: 16),
                let cipher = TicketKeys.derive(seed, "cipher"), let mac = TicketKeys.derive(seed, "mac")
            else { return nil }
            self.name = name
            self.cipher = cipher
            self.mac = mac
        }
    }

    /// The seconds that one key encrypts for. Tickets are valid for up to twice as long.
    public static let period = 6 * 3600

    private var seed: SecretBytes
    private var number: Int
    /// Nil if the library failed: then there are no tickets, only full handshakes.
    private var current: Key?
    private var previous: Key?
    private let algorithm: OpaquePointer?

    /// - Parameters:
    ///   - seed: 32 random bytes, the same for all rings of a process.
    ///   - now: Unix seconds.
    public init(seed: SecretBytes, now: Int) {
        self.seed = seed
        number = now / Self.period
        current = Key(seed)
        algorithm = EVP_CIPHER_fetch(nil, "AES-256-CBC", nil)
        ErrorQueue.clear()
    }

    deinit { EVP_CIPHER_free(algorithm) }

    /// Advances if the period is over. A clock that was set back changes nothing.
    public func advance(now: Int) {
        let wanted = now / Self.period
        // no ring that slept for longer shares a ticket with another
        if wanted > number + 1024 { number = wanted - 1024 }
        while number < wanted {
            // the next call tries again: a ring that skipped a step would never match the others again
            guard let next = Self.derive(seed, "next") else { return current = nil }
            number += 1
            seed = next
            previous = current
            current = Key(seed)
        }
    }

    private static func derive(_ seed: SecretBytes, _ purpose: StaticString, count: Int = 32) -> SecretBytes? {
        var isMade = false
        let bytes = SecretBytes(count: count) { target in
            withUnsafeTemporaryAllocation(byteCount: 32, alignment: 1) { digest in
                seed.withBytes {
                    isMade =
                        HMAC(
                            EVP_sha256(), $0.baseAddress, Int32($0.count), purpose.utf8Start, purpose.utf8CodeUnitCount,
                            digest.baseAddress, nil) != nil
                }
                guard isMade else { return }
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: digest[..<count]))
                OPENSSL_cleanse(digest.baseAddress, digest.count)
            }
        }
        return isMade ? bytes : nil
    }

    // MARK: OpenSSL's side (SSL_CTX_set_tlsext_ticket_key_evp_cb(3))

    /// Prepares the encryption of a ticket. Returns false on failure; the client then gets no ticket.
    func seal(
        name: UnsafeMutableRawPointer, vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
        _ mac: OpaquePointer
    ) -> Bool {
        guard let current else { return false }
        current.name.withBytes { UnsafeMutableRawBufferPointer(start: name, count: 16).copyMemory(from: $0) }
        return RAND_bytes(vector, 16) == 1
            && current.cipher.withBytes { EVP_EncryptInit_ex2(cipher, algorithm, $0.baseAddress, vector, nil) } == 1
            && current.mac.withBytes { usher_set_ticket_mac(mac, $0.baseAddress, $0.count) } == 1
    }

    /// Prepares the decryption of a ticket.
    /// - Returns: nil if no key of the ring made it; else whether the client should get a new one.
    func open(
        name: UnsafeRawPointer, vector: UnsafePointer<UInt8>, _ cipher: OpaquePointer, _ mac: OpaquePointer
    ) -> Bool? {
        func fits(_ key: Key) -> Bool { key.name.withBytes { CRYPTO_memcmp($0.baseAddress, name, 16) == 0 } }
        let key: Key
        let isOld: Bool
        if let current, fits(current) {
            (key, isOld) = (current, false)
        } else if let previous, fits(previous) {
            (key, isOld) = (previous, true)
        } else {
            return nil
        }
        guard key.cipher.withBytes({ EVP_DecryptInit_ex2(cipher, algorithm, $0.baseAddress, vector, nil) }) == 1,
            key.mac.withBytes({ usher_set_ticket_mac(mac, $0.baseAddress, $0.count) }) == 1
        else { return nil }
        return isOld
    }
}
