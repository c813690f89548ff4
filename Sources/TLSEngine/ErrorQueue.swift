internal import COpenSSL

/// OpenSSL's queue of errors, one a thread. What is left in it would be taken for the reason of the next failure.
public enum ErrorQueue {
    public static func clear() { ERR_clear_error() }

    public static var isEmpty: Bool { ERR_peek_error() == 0 }

    /// The first error's library and reason, and the library's words for it. Empties the queue.
    static func take() -> (library: Int32, reason: Int32, words: String)? {
        let code = ERR_peek_error()
        defer { ERR_clear_error() }
        guard code != 0 else { return nil }
        let words = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
        return (usher_ERR_GET_LIB(code), usher_ERR_GET_REASON(code), words)
    }
}
