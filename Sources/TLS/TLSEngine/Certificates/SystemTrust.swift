internal import COpenSSL

/// The CAs that the system trusts. They are read early, because more than a hundred certificates take as long as the rest of a
/// start.
public final class SystemTrust: @unchecked Sendable {
    // An X509_STORE may move between threads. The caller that takes it becomes its only owner.
    private var store: OpaquePointer?

    /// - Returns: nil if the system has none that are readable.
    public init?() {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let store = X509_STORE_new() else { return nil }
        guard X509_STORE_set_default_paths(store) == 1 else {
            X509_STORE_free(store)
            return nil
        }
        self.store = store
    }

    deinit { X509_STORE_free(store) }

    /// Returns the store, once.
    func take() -> OpaquePointer? {
        defer { store = nil }
        return store
    }
}
