internal import Declaration
internal import Formats
internal import TLSEngine

/// Reads files with certificates, keys and revocation lists, and reports errors at the position that names the file.
struct MaterialReader {
    /// The largest file in bytes. Revocation lists of large authorities have several megabytes.
    static let maxBytes = 16 << 20

    let findings: Findings
    let secrets: Secrets
    /// In seconds since 1970.
    let now: Int

    // MARK: trusted certificates

    /// Reads all certificates of a PEM file, or the one of a DER file.
    func certificates(_ written: Decoded) -> [Certificate] {
        load(written, Certificate.all(inPEM:))
    }

    /// Reads root certificates as `certificates` does, and warns of expired ones.
    func roots(_ written: Decoded) -> [Certificate] {
        let roots = certificates(written)
        for root in roots {
            judgeValidity(root, "\(written.written) holds the certificate \(root.subject), which", written)
        }
        return roots
    }

    func revocationLists(_ written: Decoded) -> [RevocationList] {
        load(written, RevocationList.all(inPEM:))
    }

    private func load<Item>(_ written: Decoded, _ parse: ([UInt8]) throws(MaterialFault) -> [Item]) -> [Item] {
        guard let file = file(written), let bytes = content(written) else { return [] }
        do throws(MaterialFault) {
            return try parse(bytes)
        } catch {
            findings.error(written.position, "\(file.subject) \(error.words)")
            return []
        }
    }

    private func file(_ written: Decoded) -> Secrets.SecretFile? {
        written.text.map { secrets.file("the file", $0, written) }
    }

    /// The bytes of a file without secrets; nil if it cannot be read. Errors are recorded as findings.
    func content(_ written: Decoded) -> [UInt8]? {
        guard let file = file(written) else { return nil }
        do {
            return try secrets.readFile(file.path).bytes
        } catch {
            findings.error(written.position, "\(file.subject) \(error.explanation)")
            return nil
        }
    }

    // MARK: identities

    /// Reads an identity from `certificate`, `key` and `password`.
    func identity(_ fields: Fields) -> Identity? {
        // invalid values were reported already
        let isWhole = !["certificate", "key", "password"].contains(where: fields.hasFaulty)
        if case .missing? = fields["password"]?.secret { return nil }
        guard isWhole, let written = fields["certificate"], let name = written.text else { return nil }
        let read = Self.isContainer(name) ? contained(written, name, fields) : pair(written, fields)
        guard let read else { return nil }
        judgeValidity(read.certificate, "the certificate of \(written.written)", written)
        return read
    }

    /// Reads a PKCS #12 file (.p12).
    private func contained(_ written: Decoded, _ name: String, _ fields: Fields) -> Identity? {
        if let field = fields.all.first(where: { $0.name == "key" }) {
            findings.error(
                field.position,
                "this key is redundant, because \(written.written) contains its own; remove it")
            return nil
        }
        let file = secrets.file("the file", name, written)
        guard !secrets.isMissing(file, written.position) else { return nil }
        guard var bytes = secrets.content(file, written.position) else { return nil }
        defer { _ = SecretBytes(taking: &bytes) }
        do throws(MaterialFault) {
            return try PKCS12.identity(bytes, password: password(fields))
        } catch {
            findings.error(written.position, "\(file.subject) \(error.words)")
            return nil
        }
    }

    /// Reads a certificate and its key in PEM.
    private func pair(_ written: Decoded, _ fields: Fields) -> Identity? {
        guard fields.has("key") else {
            findings.error(
                fields.position,
                "the certificate's \"key\" is missing; it takes the file of the private key in PEM, which can be "
                    + "\(written.written) itself"
            )
            return nil
        }
        let chain = certificates(written)
        guard let item = fields["key"], let key = key(item, password: password(fields)), let first = chain.first
        else { return nil }
        do throws(MaterialFault) {
            return try Identity(certificate: first, chain: Array(chain.dropFirst()), key: key)
        } catch {
            let remedy = chain.dropFirst().contains(where: key.fits) ? "; put its certificate first" : ""
            findings.error(item.position, "this is not the key of the first certificate in \(written.written)\(remedy)")
            return nil
        }
    }

    func key(_ written: Decoded, password: SecretBytes? = nil) -> PrivateKey? {
        let bytes: SecretBytes
        let subject: String
        switch written.secret {
        case nil, .missing: return nil
        case .material(let material): (bytes, subject) = (material, "this")
        case .path(let text):
            let file = secrets.file("the key file", text, written)
            subject = file.subject
            guard !secrets.isMissing(file, written.position) else { return nil }
            guard let read = secrets.bytes(file, written.position) else { return nil }
            bytes = read
        }
        do throws(MaterialFault) {
            return try PrivateKey(pem: bytes, password: password)
        } catch {
            findings.error(written.position, "\(subject) \(error.words)")
            return nil
        }
    }

    private func password(_ fields: Fields) -> SecretBytes? {
        guard case .material(let bytes)? = fields["password"]?.secret else { return nil }
        return bytes
    }

    // MARK: validity

    /// - Parameter subject: the beginning of the sentence.
    private func judgeValidity(_ certificate: Certificate, _ subject: String, _ written: Decoded) {
        if certificate.notAfter < now {
            findings.warning(written.position, "\(subject) expired \(Self.days(now - certificate.notAfter)) ago")
        } else if certificate.notBefore > now {
            findings.warning(
                written.position, "\(subject) is not valid for another \(Self.days(certificate.notBefore - now))")
        }
    }

    private static func days(_ seconds: Int) -> String {
        let days = seconds / 86_400
        return days == 0 ? "less than a day" : days == 1 ? "1 day" : "\(days) days"
    }

    private static func isContainer(_ name: String) -> Bool {
        [".p12", ".pfx"].contains { ASCII.lowercased(name).hasSuffix($0) }
    }
}
