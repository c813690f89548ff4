internal import COpenSSL

extension Certificate {
    /// Every certificate in a text with PEM blocks (RFC 7468), in order; what stands between them is passed over. Also takes
    /// one certificate in DER.
    /// - Throws: `MaterialFault` where there is none, or one that cannot be read.
    public static func all(inPEM bytes: [UInt8]) throws(MaterialFault) -> [Certificate] {
        // DER begins with a SEQUENCE, which no text does
        if bytes.first == 0x30 { return [try Certificate(der: bytes)] }
        var found: [Certificate] = []
        let isWhole = bytes.withUnsafeBytes { all in
            MemoryText.reading(all) { source in
                while let next = PEM_read_bio_X509_AUX(source, nil, refusePassword, nil) {
                    found.append(Certificate(owning: next))
                }
                return ErrorQueue.isAtEndOfPEM
            }
        }
        guard !found.isEmpty else { throw MaterialFault("holds no certificate in PEM") }
        guard isWhole == true else {
            throw MaterialFault("holds a certificate, the one at place \(found.count + 1), that cannot be read")
        }
        return found
    }
}

extension RevocationList {
    /// Every list in a text with PEM blocks (RFC 7468), or one list in DER.
    /// - Throws: `MaterialFault` where there is none, or one that cannot be read.
    public static func all(inPEM bytes: [UInt8]) throws(MaterialFault) -> [RevocationList] {
        var found: [RevocationList] = []
        let isWhole = bytes.withUnsafeBytes { all in
            MemoryText.reading(all) { source in
                if bytes.first == 0x30 {
                    if let list = d2i_X509_CRL_bio(source, nil) { found.append(RevocationList(owning: list)) }
                    return true
                }
                while let next = PEM_read_bio_X509_CRL(source, nil, refusePassword, nil) {
                    found.append(RevocationList(owning: next))
                }
                return ErrorQueue.isAtEndOfPEM
            }
        }
        guard !found.isEmpty else { throw MaterialFault("holds no certificate revocation list") }
        guard isWhole == true else { throw MaterialFault("holds a certificate revocation list that cannot be read") }
        return found
    }
}

extension PrivateKey {
    /// Reads a key in PEM: PKCS #8, SEC 1 or PKCS #1, encrypted or not. Nobody is asked for a password.
    /// - Throws: `MaterialFault`, which tells a missing or wrong password from a missing key.
    public convenience init(pem: SecretBytes, password: SecretBytes? = nil) throws(MaterialFault) {
        let question = PasswordQuestion(password)
        let key = pem.withBytes { bytes in
            MemoryText.reading(bytes) { source in
                PEM_read_bio_PrivateKey(
                    source, nil, givePassword, Unmanaged.passUnretained(question).toOpaque())
            }
        }
        if let key = key ?? nil {
            self.init(owning: key)
        } else if question.wasAsked {
            throw MaterialFault(
                password == nil
                    ? "holds a private key that is encrypted; give its password"
                    : "holds a private key that this password does not open")
        } else {
            throw MaterialFault("holds no private key in PEM")
        }
    }

    /// The key as PKCS #8 in PEM, not encrypted.
    /// - Throws: `MaterialFault` where it cannot be written.
    public func pem() throws(MaterialFault) -> SecretBytes {
        let written = MemoryText.writtenSecret { PEM_write_bio_PrivateKey($0, handle, nil, nil, 0, nil, nil) == 1 }
        guard let written else { throw MaterialFault("holds a private key that cannot be written") }
        return written
    }
}

/// What OpenSSL is answered when it wants a password.
private final class PasswordQuestion {
    let password: SecretBytes?
    var wasAsked = false

    init(_ password: SecretBytes?) { self.password = password }
}

/// pem_password_cb(3)
private func givePassword(
    _ target: UnsafeMutablePointer<CChar>?, _ size: Int32, _: Int32, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let target, let data else { return -1 }
    let question = Unmanaged<PasswordQuestion>.fromOpaque(data).takeUnretainedValue()
    question.wasAsked = true
    guard let password = question.password, password.count <= Int(size) else { return -1 }
    return password.withBytes {
        UnsafeMutableRawBufferPointer(start: target, count: Int(size)).copyMemory(from: $0)
        return Int32($0.count)
    }
}

private func refusePassword(
    _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { -1 }

extension ErrorQueue {
    /// Whether reading stopped for want of another PEM block, which is the ordinary end.
    fileprivate static var isAtEndOfPEM: Bool {
        let code = ERR_peek_last_error()
        defer { ERR_clear_error() }
        return usher_ERR_GET_LIB(code) == ERR_LIB_PEM && usher_ERR_GET_REASON(code) == PEM_R_NO_START_LINE
    }
}
