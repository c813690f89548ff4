internal import COpenSSL

/// Checks the results of OpenSSL calls. A fault names the call and contains OpenSSL's text.
enum LibraryCall {
    /// For objects that many connections share.
    static func material(_ isDone: Bool, _ name: StaticString) throws(MaterialFault) {
        if !isDone { throw MaterialFault("cannot be used: \(words(name))") }
    }

    /// For one connection.
    static func connection(_ isDone: Bool, _ name: StaticString) throws(TLSFault) {
        if !isDone { throw TLSFault(.local, "the connection could not be set up: \(words(name))") }
    }

    private static func words(_ name: StaticString) -> String {
        "OpenSSL's \(name) failed" + (ErrorQueue.take().map { ": \($0.words)" } ?? "")
    }
}
