internal import COpenSSL

/// The OpenSSL that this process runs on.
public enum Library {
    /// `OpenSSL 3.0.15 3 Sep 2024`: the library that was loaded, not the headers that were compiled against.
    /// OpenSSL_version(3).
    public static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }

    /// Leaves what OpenSSL holds to the end of the process. By itself it frees all of it in `exit`, under the hands of
    /// threads that still read a configuration or make a certificate. To be called before anything else of OpenSSL is;
    /// OPENSSL_init_crypto(3).
    /// - Returns: whether OpenSSL could be made ready; without it nothing of it works.
    public static func begin() -> Bool {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
    }
}
