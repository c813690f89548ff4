internal import COpenSSL

/// The OpenSSL of this process.
public enum Library {
    /// The version of the loaded library, not of the headers: `OpenSSL 3.0.15 3 Sep 2024`. OpenSSL_version(3).
    public static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }

    /// Keeps OpenSSL from freeing its memory in `exit`, while threads still read a configuration or make a certificate. Call it
    /// before anything else of OpenSSL; OPENSSL_init_crypto(3).
    /// - Returns: false if OpenSSL is unusable.
    public static func begin() -> Bool {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
    }
}
