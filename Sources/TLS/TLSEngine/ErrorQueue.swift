internal import COpenSSL

/// OpenSSL's queue of errors, one for each thread. An old entry would be taken for the reason of the next failure.
public enum ErrorQueue {
    /// Checks first, because the queue is nearly always empty, and a check costs an eighth of clearing.
    public static func clear() { if !isEmpty { ERR_clear_error() } }

    public static var isEmpty: Bool { ERR_peek_error() == 0 }

    /// Returns the first error of TLS itself, or else the first of all, and empties the queue. Errors of lower layers come
    /// first and say less.
    static func take() -> (library: Int32, reason: Int32, words: String)? {
        var code = ERR_get_error()
        guard code != 0 else { return nil }
        while usher_ERR_GET_LIB(code) != ERR_LIB_SSL, case let next = ERR_get_error(), next != 0 {
            if usher_ERR_GET_LIB(next) == ERR_LIB_SSL { code = next }
        }
        ERR_clear_error()
        let words = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
        return (usher_ERR_GET_LIB(code), usher_ERR_GET_REASON(code), words)
    }
}
