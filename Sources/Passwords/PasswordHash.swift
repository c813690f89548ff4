internal import CCrypt
internal import Glibc

/// Passwords against their hashes, by the system's libcrypt. Slow on purpose (tens of milliseconds): never on a loop.
public enum PasswordHash {
    /// True where `hash` is that of `password`; false also for a scheme that the library does not know.
    /// - Parameter password: bytes without a zero: C would take what stands before it for the whole.
    public static func matches(_ password: [UInt8], _ hash: String) -> Bool {
        guard !password.contains(0) else { return false }
        let size = Int(usher_crypt_data_size)
        let scratch = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        defer {
            // the buffer holds what the password was turned into; free() alone would leave it lying about
            explicit_bzero(scratch, size)
            scratch.deallocate()
        }
        memset(scratch, 0, size)
        var phrase = password.map { CChar(bitPattern: $0) } + [0]
        defer { explicit_bzero(&phrase, phrase.count) }
        guard let made = crypt_rn(phrase, hash, scratch, Int32(size)) else { return false }
        return isSame(made, hash)
    }

    /// Compares without telling by its time where two texts of one length differ.
    private static func isSame(_ made: UnsafePointer<CChar>, _ hash: String) -> Bool {
        let count = strlen(made)
        guard count == hash.utf8.count else { return false }
        var difference: UInt8 = 0
        for (index, byte) in hash.utf8.enumerated() { difference |= UInt8(bitPattern: made[index]) ^ byte }
        return difference == 0
    }
}
