internal import COpenSSL

/// The authorities that the system trusts, read before anybody needs them: a hundred and more certificates take as long as
/// everything else at a start.
public final class SystemTrust: @unchecked Sendable {
    // An X509_STORE may move between threads. The caller that takes it becomes its only owner.
    private var store: OpaquePointer?

    /// - Returns: nil where the system has none that can be read.
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
