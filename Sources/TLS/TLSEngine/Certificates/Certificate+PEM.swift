internal import COpenSSL

extension Certificate {
    /// All certificates in a text with PEM blocks (RFC 7468), in order. Other text is skipped. One certificate in DER also
    /// works.
    /// - Throws: `MaterialFault` if there is none, or one is unreadable.
    public static func all(inPEM bytes: [UInt8]) throws(MaterialFault) -> [Certificate] {
        if Encoded.isDER(bytes) { return [try Certificate(der: bytes)] }
        return try bytes.span.bytes.withUnsafeBytes { bytes throws(MaterialFault) in
            ErrorQueue.clear()
            defer { ErrorQueue.clear() }
            let reader = PEMReader(bytes)
            var found: [Certificate] = []
            while let block = try reader.next() {
                let handle: OpaquePointer?
                switch block.name {
                case PEM_STRING_X509, PEM_STRING_X509_OLD:
                    handle = block.decoded({ d2i_X509(nil, $0, $1) }, freeing: X509_free)
                // the certificate is followed by its trust settings
                case PEM_STRING_X509_TRUSTED: handle = block.decoded({ d2i_X509_AUX(nil, $0, $1) }, freeing: X509_free)
                default: continue
                }
                guard let handle else {
                    throw MaterialFault("holds a certificate, the one at place \(found.count + 1), that cannot be read")
                }
                found.append(Certificate(owning: handle))
            }
            guard !found.isEmpty else { throw MaterialFault("holds no certificate in PEM") }
            return found
        }
    }
}

extension RevocationList {
    /// All lists in a text with PEM blocks (RFC 7468), or one list in DER.
    /// - Throws: `MaterialFault` if there is none, or one is unreadable.
    public static func all(inPEM bytes: [UInt8]) throws(MaterialFault) -> [RevocationList] {
        try bytes.span.bytes.withUnsafeBytes { bytes throws(MaterialFault) in
            ErrorQueue.clear()
            defer { ErrorQueue.clear() }
            if Encoded.isDER(bytes) { return [try single(bytes)] }
            let reader = PEMReader(bytes)
            var found: [RevocationList] = []
            while let block = try reader.next() {
                guard block.name == PEM_STRING_X509_CRL else { continue }
                guard let handle = block.decoded({ d2i_X509_CRL(nil, $0, $1) }, freeing: X509_CRL_free) else {
                    throw MaterialFault(
                        "holds a certificate revocation list, the one at place \(found.count + 1), that cannot be read")
                }
                found.append(RevocationList(owning: handle))
            }
            guard !found.isEmpty else { throw MaterialFault("holds no certificate revocation list") }
            return found
        }
    }

    private static func single(_ der: UnsafeRawBufferPointer) throws(MaterialFault) -> RevocationList {
        var next = der.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let handle = d2i_X509_CRL(nil, &next, der.count) else {
            throw MaterialFault("holds no certificate revocation list")
        }
        let list = RevocationList(owning: handle)
        guard next == der.baseAddress.map({ $0.assumingMemoryBound(to: UInt8.self) + der.count }) else {
            throw MaterialFault("holds more than one certificate revocation list in DER")
        }
        return list
    }
}
