internal import COpenSSL

/// Reads PEM blocks in sequence (RFC 7468). It skips text between them, as OpenSSL does. The bytes must outlive the reader.
struct PEMReader: ~Copyable {
    private let bio: OpaquePointer?

    init(_ bytes: UnsafeRawBufferPointer) {
        // a byte order mark would hide the first block from OpenSSL
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let rest = bytes.starts(with: mark) ? UnsafeRawBufferPointer(rebasing: bytes.dropFirst(mark.count)) : bytes
        guard let count = Int32(exactly: rest.count), count > 0 else {
            bio = nil
            return
        }
        bio = BIO_new_mem_buf(rest.baseAddress, count)
    }

    deinit { BIO_free(bio) }

    /// - Returns: nil after the last block.
    /// - Throws: `MaterialFault` if a block begins but is unreadable.
    func next() throws(MaterialFault) -> PEMBlock? {
        guard let bio else { return nil }
        ErrorQueue.clear()
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        let flags = UInt32(PEM_FLAG_SECURE | PEM_FLAG_EAY_COMPATIBLE)
        if PEM_read_bio_ex(bio, &name, &header, &data, &count, flags) == 1, let name, let header, let data {
            return PEMBlock(name: name, header: header, data: data, count: count)
        }
        guard let error = ErrorQueue.take(), error.library == ERR_LIB_PEM, error.reason == PEM_R_NO_START_LINE else {
            throw MaterialFault("holds a PEM block that is damaged or cut off")
        }
        return nil
    }
}

/// One block. It may hold a key, so its bytes are overwritten at the end.
struct PEMBlock: ~Copyable {
    let name: String
    private let header: UnsafeMutablePointer<CChar>
    private let data: UnsafeMutablePointer<UInt8>
    private let room: Int
    private var count: Int

    init(
        name: UnsafeMutablePointer<CChar>, header: UnsafeMutablePointer<CChar>, data: UnsafeMutablePointer<UInt8>,
        count: Int
    ) {
        self.name = String(cString: name)
        CRYPTO_secure_free(name, nil, 0)
        self.header = header
        self.data = data
        self.count = count
        room = count
    }

    deinit {
        CRYPTO_secure_free(header, nil, 0)
        CRYPTO_secure_clear_free(data, room, nil, 0)
    }

    /// True if the block uses the encryption from before PKCS#8 (RFC 1421 §4.6.1.1).
    var isEncrypted: Bool { header.pointee != 0 }

    /// Decrypts an encrypted block.
    /// - Returns: false if the password is wrong.
    mutating func decrypt(_ password: SecretBytes) -> Bool {
        var cipher = EVP_CIPHER_INFO()
        var length = count
        guard PEM_get_EVP_CIPHER_INFO(header, &cipher) == 1,
            PEM_do_header(&cipher, data, &length, givePassword, Unmanaged.passUnretained(password).toOpaque()) == 1
        else { return false }
        count = length
        return true
    }

    /// - Parameter decode: a `d2i` function (d2i_X509(3)); gets the bytes and their count.
    /// - Returns: nil also if bytes are left over.
    func decoded<Value>(
        _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> Value?, freeing free: (Value) -> Void
    ) -> Value? {
        var next: UnsafePointer<UInt8>? = UnsafePointer(data)
        guard let value = decode(&next, count) else { return nil }
        guard next == UnsafePointer(data + count) else {
            free(value)
            return nil
        }
        return value
    }
}

/// Returns the password. OpenSSL's own function would ask at a terminal (pem_password_cb(3)).
private func givePassword(
    _ buffer: UnsafeMutablePointer<CChar>?, _ room: Int32, _: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let buffer, let context else { return -1 }
    return Unmanaged<SecretBytes>.fromOpaque(context)._withUnsafeGuaranteedRef { password in
        guard password.count <= Int(room) else { return -1 }
        password.withBytes { UnsafeMutableRawBufferPointer(start: buffer, count: Int(room)).copyMemory(from: $0) }
        return Int32(password.count)
    }
}
