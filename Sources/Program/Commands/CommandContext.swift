import Configuration
import Glibc
import Operation

/// The configuration and the state directory, for commands around the CA.
struct CommandContext {
    var snapshot: Snapshot
    let state: StateDirectory
    let environment: [String: String]

    /// - Parameter missing: the handling of references to missing secrets.
    /// - Throws: exit code 1, with a message on standard error.
    init(_ file: ConfigurationFile, missing: MissingSecrets = .refused) throws {
        ProcessEnvironment.hideMemory()
        snapshot = try file.loadOrExit(warns: false, missing: missing)
        environment = ProcessEnvironment.all
        state = StateDirectory(environment)
    }

    var store: AuthorityStore { AuthorityStore(snapshot.tls.authority, in: state) }

    /// The CA's certificates. If there are none, it creates the CA and reports that.
    /// - Parameter proxy: a running proxy whose clients are to trust them.
    func certificates(beside proxy: ProxyAddress? = nil) throws -> AuthorityCertificates {
        let store = store
        let (certificates, isNew) = try Self.reporting { () throws(FileError) in
            try store.certificatesOrMake(beside: proxy, environment: environment)
        }
        if isNew {
            Console.error("there was no CA yet; a new one is in \(store.files.certificate)")
            let service = StateDirectory(path: StateDirectory.service)
            if state != service, access(service.file("ca.pem"), F_OK) == 0 {
                Console.error("the service uses another CA: STATE_DIRECTORY=\(service.path) usher …")
            }
        }
        return certificates
    }

    /// The CA's certificates for display and export. None are created while a running proxy uses others.
    func knownCertificates() throws -> AuthorityCertificates {
        let known = try Self.reporting { () throws(FileError) in try store.certificates() }
        return try known ?? certificates(beside: ProxyAddress(snapshot.listeners))
    }

    /// - Parameter proxy: a running proxy, if the bundle is for its clients.
    func bundle(beside proxy: ProxyAddress? = nil) throws -> TrustBundle {
        let certificates = try certificates(beside: proxy)
        let folder = state.forBundles(environment)
        return try Self.reporting { () throws(FileError) in
            try folder.make()
            return try TrustBundle(certificates, origins: snapshot.tls.origins, in: folder, environment: environment)
        }
    }

    /// Converts a `FileError` to exit code 1 with its message.
    static func reporting<Result>(_ body: () throws(FileError) -> Result) throws -> Result {
        do throws(FileError) { return try body() } catch { throw CommandExit.failure(error.description) }
    }
}
