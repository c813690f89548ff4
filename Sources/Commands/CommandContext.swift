import Configuration
import Glibc
import Operation

/// What the commands around the CA stand on: the configuration, and what is kept on the disk.
struct CommandContext {
    var snapshot: Snapshot
    let state: StateDirectory
    let environment: [String: String]

    /// - Parameter missing: what becomes of references whose secrets are not there.
    /// - Throws: exit 1 with words on standard error.
    init(_ file: ConfigurationFile, missing: MissingSecrets = .refused) throws {
        ProcessEnvironment.hideMemory()
        snapshot = try file.loadOrExit(warns: false, missing: missing)
        environment = ProcessEnvironment.all
        state = StateDirectory(environment)
    }

    var store: AuthorityStore { AuthorityStore(snapshot.tls.authority, in: state) }

    /// The CA's certificates; it is made, and that is said, where there is none yet.
    /// - Parameter proxy: a running one that is to be trusted by them.
    func certificates(beside proxy: ProxyAddress? = nil) throws -> AuthorityCertificates {
        let store = store
        let (certificates, isNew) = try Self.reporting { () throws(FileError) in
            try store.certificatesOrMake(beside: proxy, environment: environment)
        }
        if isNew {
            Console.error("there was no CA yet; a new one is in \(store.files.certificate)")
            let service = StateDirectory(path: StateDirectory.service)
            if state != service, access(service.file("ca.pem"), F_OK) == 0 {
                Console.error("the service's own is another: STATE_DIRECTORY=\(service.path) usher …")
            }
        }
        return certificates
    }

    /// Those to look at and to hand on: none are made beside a running proxy that shows others.
    func knownCertificates() throws -> AuthorityCertificates {
        let known = try Self.reporting { () throws(FileError) in try store.certificates() }
        return try known ?? certificates(beside: ProxyAddress(snapshot.listeners))
    }

    /// - Parameter proxy: a running one, where the bundle is for its clients.
    func bundle(beside proxy: ProxyAddress? = nil) throws -> TrustBundle {
        let certificates = try certificates(beside: proxy)
        let folder = state.forBundles(environment)
        return try Self.reporting { () throws(FileError) in
            try folder.make()
            return try TrustBundle(certificates, origins: snapshot.tls.origins, in: folder, environment: environment)
        }
    }

    /// Ends with exit 1 and the words of what went wrong.
    static func reporting<Result>(_ body: () throws(FileError) -> Result) throws -> Result {
        do throws(FileError) { return try body() } catch { throw CommandExit.failure(error.description) }
    }
}
