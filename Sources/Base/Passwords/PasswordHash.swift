internal import CCrypt
internal import Glibc

/// Compares passwords with hashes by the system's libcrypt. It takes tens of milliseconds, so it never runs on a loop.
public enum PasswordHash {
    /// Whether `hash` is the hash of `password`; false also for an unknown scheme.
    /// - Parameter password: bytes without NUL, at which C would stop reading.
    public static func matches(_ password: [UInt8], _ hash: String) -> Bool {
        guard !password.contains(0) else { return false }
        let size = Int(usher_crypt_data_size)
        let scratch = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        defer {
            // the buffer holds secrets, which free() would leave in memory
            explicit_bzero(scratch, size)
            scratch.deallocate()
        }
        memset(scratch, 0, size)
        var phrase = password.map { CChar(bitPattern: $0) } + [0]
        defer { explicit_bzero(&phrase, phrase.count) }
        guard let made = crypt_rn(phrase, hash, scratch, Int32(size)) else { return false }
        return isSame(made, hash)
    }

    /// Compares texts of equal length in constant time.
    private static func isSame(_ made: UnsafePointer<CChar>, _ hash: String) -> Bool {
        let count = strlen(made)
        guard count == hash.utf8.count else { return false }
        var difference: UInt8 = 0
        for (index, byte) in hash.utf8.enumerated() { difference |= UInt8(bitPattern: made[index]) ^ byte }
        return difference == 0
    }
}
