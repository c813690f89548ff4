internal import COpenSSL

/// The OpenSSL that this process runs on.
public enum Library {
    /// `OpenSSL 3.0.15 3 Sep 2024`: the library that was loaded, not the headers that were compiled against.
    /// OpenSSL_version(3).
    public static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }
}
