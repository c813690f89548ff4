public import Configuration
import Glibc
public import TLSEngine

/// Stores the interception CA on disk: reads it, creates it if missing, and rotates it.
public struct AuthorityStore: Sendable {
    /// A remark about a CA for the operator.
    public struct Remark: Equatable, Sendable {
        /// True if the CA cannot be used.
        public let isFault: Bool
        public let words: String
    }

    public let files: AuthorityFiles
    let state: StateDirectory
    private let constraints: NameConstraints?
    /// In seconds since 1970.
    private let now: Int

    private static let day = 86_400
    /// The time before a CA's expiry at which warnings start.
    private static let warning = 30 * day
    /// The number of older roots that are kept.
    private static let remembered = 4

    public init(_ settings: AuthoritySettings, in folder: StateDirectory, now: Int? = nil) {
        files = AuthorityFiles(settings, in: folder)
        state = folder
        self.now = now ?? time(nil)
        constraints = settings.constraints
    }

    /// Reads the certificates without the key. Nil if there is no CA yet.
    public func certificates() throws(FileError) -> AuthorityCertificates? {
        try AuthorityCertificates(files, now: now)
    }

    /// Reads the certificates, and creates a CA if there is none yet.
    public func certificatesOrMake() throws(FileError) -> (certificates: AuthorityCertificates, isNew: Bool) {
        if let certificates = try certificates() { return (certificates, false) }
        let isNew = try loadOrMake().isNew
        guard let certificates = try certificates() else { throw FileError("\(files.certificate) was removed again") }
        return (certificates, isNew)
    }

    /// Reads the CA with its key. Nil if there is none yet.
    /// - Throws: `FileError` if its parts cannot be read or do not match.
    public func load() throws(FileError) -> CertificateAuthority? {
        guard try state.exists() else { return nil }
        return try StateFile.locked(state, mayGoWithout: true) { () throws(FileError) in
            try finishReplacement()
            return try read()
        }
    }

    /// Reads the CA with its key, and creates it if there is none yet.
    /// - Returns: the CA, and whether it is new.
    public func loadOrMake() throws(FileError) -> (authority: CertificateAuthority, isNew: Bool) {
        if let authority = try load() { return (authority, false) }
        try state.make()
        return try StateFile.locked(state, mayGoWithout: false) { () throws(FileError) in
            // another process may have been faster
            if let authority = try read() { return (authority, false) }
            let key = try key()
            let authority: CertificateAuthority
            do throws(MaterialFault) {
                authority = try CertificateAuthority.make(name: Self.name, constraints: constraints, key: key, now: now)
            } catch {
                throw FileError("the CA cannot be created: \(error.words)")
            }
            try replace(with: authority, retiring: [])
            return (authority, true)
        }
    }

    /// Creates a new CA with a cross-certificate from the present one, and overwrites the present key.
    public func rotate() throws(FileError) -> (old: CertificateAuthority, new: CertificateAuthority) {
        guard case .file(let keyFile) = files.key else {
            throw FileError(
                """
                usher cannot replace the CA's key, because tls.ca.key refers to it. Either remove tls.ca.key, move the present \
                key to \(state.file("ca.key")) and run usher ca rotate. Or, without an overlap: move \(files.certificate) \
                away, replace the key (openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256), and start usher, \
                which creates a certificate for it
                """)
        }
        guard try load() != nil else {
            throw FileError("there is no CA in \(state.path) yet; usher ca show creates one")
        }
        return try StateFile.locked(state, mayGoWithout: false) { () throws(FileError) in
            // another process may have been interrupted during its rotation
            try finishReplacement()
            guard let old = try read() else { throw FileError("\(keyFile) was removed") }
            let new: CertificateAuthority
            do throws(MaterialFault) {
                new = try old.rotated(constraints: constraints, now: now)
            } catch {
                throw FileError("no new CA can be created: \(error.words)")
            }
            let retired = try AuthorityCertificates(files, now: now)?.roots ?? [old.certificate]
            try replace(with: new, retiring: Array(retired.prefix(Self.remembered)))
            return (old, new)
        }
    }

    /// Remarks on a CA that expires soon or differs from the configuration.
    public func remarks(on certificate: Certificate) -> [Remark] {
        var remarks: [Remark] = []
        let left = certificate.notAfter - now
        if left <= 0 {
            remarks.append(
                Remark(
                    isFault: true,
                    words:
                        "the CA \(files.certificate) has expired; usher ca rotate creates another"))
        } else if certificate.notBefore > now {
            remarks.append(
                Remark(
                    isFault: true,
                    words: "the CA \(files.certificate) is not valid yet; check this machine's clock"))
        } else if left < Self.warning {
            let days = left / Self.day
            remarks.append(
                Remark(
                    isFault: false,
                    words:
                        "the CA \(files.certificate) expires in \(days == 1 ? "1 day" : "\(days) days"); usher ca "
                        + "rotate creates another, which clients of this one trust, too"
                ))
        }
        let written = Set(constraints?.entries ?? [])
        let held = Set(certificate.nameConstraints)
        if written != held {
            func list(_ entries: Set<String>) -> String {
                entries.isEmpty ? "every host" : entries.sorted().joined(separator: ", ")
            }
            remarks.append(
                Remark(
                    isFault: false,
                    words:
                        "the CA \(files.certificate) permits \(list(held)), but tls.ca.constrain_to has "
                        + "\(list(written)); usher ca rotate creates a matching one"
                ))
        }
        return remarks
    }

    // MARK: reading

    private func read() throws(FileError) -> CertificateAuthority? {
        guard let certificates = try AuthorityCertificates(files, now: now) else { return nil }
        guard let key = try key() else {
            guard case .file(let path) = files.key else { return nil }
            throw FileError(
                "\(files.certificate) exists, but not its key \(path); restore the key, or remove the certificate "
                    + "for a new CA, which clients do not trust yet"
            )
        }
        do throws(MaterialFault) {
            return try CertificateAuthority(
                certificate: certificates.root, key: key, crosses: certificates.crosses.filter { $0.notAfter > now })
        } catch {
            throw FileError("\(files.certificate) \(error.words)")
        }
    }

    private func key() throws(FileError) -> PrivateKey? {
        let pem: SecretBytes
        let place: String
        switch files.key {
        case .given(let bytes): (pem, place) = (bytes, "the key of tls.ca.key")
        case .missing: throw FileError("the key that tls.ca.key refers to is missing (usher check says why)")
        case .file(let path):
            guard let bytes = try StateFile.readSecret(path) else { return nil }
            (pem, place) = (bytes, path)
        }
        do throws(MaterialFault) {
            return try PrivateKey(pem: pem)
        } catch {
            throw FileError("\(place) \(error.words)")
        }
    }

    // MARK: writing

    /// The suffix of files that are about to replace others.
    private static let next = ".next"

    /// Writes all new files under temporary names, the certificate last, and then renames them. Once the certificate exists, any
    /// process can finish an interrupted replacement; before that, nothing has changed.
    private func replace(with authority: CertificateAuthority, retiring: [Certificate]) throws(FileError) {
        try discardReplacement()
        try stage(authority.crosses, files.crosses)
        try stage(retiring, files.retired)
        if case .file(let path) = files.key {
            let pem: SecretBytes
            do throws(MaterialFault) { pem = try authority.key.pem() } catch {
                throw FileError("\(path) \(error.words)")
            }
            try StateFile.create(path + Self.next, secret: pem)
        }
        try stage([authority.certificate], files.certificate)
        try finishReplacement()
    }

    private func stage(_ certificates: [Certificate], _ path: String) throws(FileError) {
        guard !certificates.isEmpty else { return }
        try StateFile.create(path + Self.next, certificates.flatMap(\.pem))
    }

    /// Requires the lock.
    private func finishReplacement() throws(FileError) {
        guard try StateFile.exists(files.certificate + Self.next) else { return }
        if case .file(let path) = files.key, try StateFile.exists(path + Self.next) {
            try StateFile.wipe(path)
            try StateFile.rename(path + Self.next, to: path)
        }
        // cross-certificates of the old root do not apply to the new one
        if try !StateFile.exists(files.crosses + Self.next) { try StateFile.remove(files.crosses) }
        for path in [files.crosses, files.retired, files.certificate] {
            guard try StateFile.exists(path + Self.next) else { continue }
            try StateFile.rename(path + Self.next, to: path)
        }
    }

    /// Removes the files of a replacement that was interrupted before it took effect.
    private func discardReplacement() throws(FileError) {
        if case .file(let path) = files.key {
            try StateFile.wipe(path + Self.next)
            try StateFile.remove(path + Self.next)
        }
        for path in [files.crosses, files.retired, files.certificate] { try StateFile.remove(path + Self.next) }
    }

    /// Distinguishes this machine's CA in the certificate lists of browsers.
    private static var name: String {
        ProcessEnvironment.hostName.map { "Usher CA (\($0.prefix(50)))" } ?? "Usher CA"
    }
}
