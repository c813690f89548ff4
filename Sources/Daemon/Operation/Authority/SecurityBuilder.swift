import Configuration
import EventLoop
import Formats
import Glibc
import ProxyCore
import ProxyDriver
import TLSEngine

/// Builds the TLS material for the workers from a configuration. It reads files and creates a missing CA, before the
/// configuration takes effect.
struct SecurityBuilder {
    /// One line for a person.
    struct Fault: Error {
        let description: String
    }

    private let folder: StateDirectory
    private let environment: [String: String]

    init(environment: [String: String] = ProcessEnvironment.all) {
        self.environment = environment
        folder = StateDirectory(environment)
    }

    /// The certificates for clients; nil if none are needed. Afterwards the CA exists, and its pages can be built.
    /// - Parameter isListenerSecure: true if clients use TLS to the proxy itself.
    /// - Returns: the certificates, and remarks for the operator.
    func leaves(for snapshot: Snapshot, isListenerSecure: Bool, previous: TLSMaterial?)
        throws(Fault) -> (LeafStore?, remarks: [String])
    {
        let tls = snapshot.tls
        guard !tls.interception.isEmpty || isListenerSecure && tls.listener == nil else { return (nil, []) }
        var remarks: [String] = []
        do throws(MaterialFault) {
            let leaves = try leaves(tls, snapshot.settings.limits.leafCertificates, previous?.leaves, &remarks)
            return (leaves, remarks)
        } catch {
            throw Fault(description: "tls: \(error.words)")
        }
    }

    /// - Parameters:
    ///   - leaves: the certificates for clients.
    ///   - trust: the system's authorities, if they were read in advance.
    ///   - previous: the material of the previous generation. Unchanged parts are reused, so that sessions and certificates stay
    ///     valid.
    /// - Returns: the material, and remarks for the operator.
    func material(for snapshot: Snapshot, leaves: LeafStore?, trust: SystemTrust? = nil, previous: TLSMaterial?)
        throws(Fault) -> (TLSMaterial, remarks: [String])
    {
        var remarks: [String] = []
        let tls = snapshot.tls
        do throws(MaterialFault) {
            let keyLog = try keyLog(tls, &remarks)
            let origins = try OriginContext(
                usesSystemTrust: tls.origins.usesSystemTrust, extraTrust: tls.origins.extraTrust,
                revocationLists: tls.origins.revocationLists, minimum: tls.origins.minimum, systemTrust: trust,
                keyLog: keyLog)
            let seed: SecretBytes
            if let known = previous?.ticketSeed { seed = known } else { seed = try SecretBytes(random: 32) }
            var material = TLSMaterial(origins: origins, security: tls.origins, ticketSeed: seed)
            material.keyLog = keyLog
            material.listener = tls.listener
            if let name = ProcessEnvironment.hostName { material.listenerNames.insert(ASCII.lowercased(name)) }
            material.leaves = leaves
            for host in tls.unverified {
                remarks.append("the certificates of \(host) are not verified (tls.upstream.hosts, verify: false)")
            }
            return (material, remarks)
        } catch {
            throw Fault(description: "tls: \(error.words)")
        }
    }

    private func leaves(
        _ tls: TLSSettings, _ capacity: Int, _ previous: LeafStore?, _ remarks: inout [String]
    ) throws(MaterialFault) -> LeafStore {
        let store = AuthorityStore(tls.authority, in: folder)
        let found: (authority: CertificateAuthority, isNew: Bool)
        do throws(FileError) {
            found = try store.loadOrMake()
        } catch {
            throw MaterialFault(error.description)
        }
        let certificate = found.authority.certificate
        if found.isNew {
            remarks.append(
                "created the CA \(store.files.certificate); clients must trust it: http://usher.proxy/, or usher env")
        }
        for remark in store.remarks(on: certificate) {
            if remark.isFault { throw MaterialFault(remark.words) }
            remarks.append(remark.words)
        }
        if let previous, previous.authority.certificate.der == certificate.der, previous.capacity == capacity {
            return previous
        }
        return try LeafStore(found.authority, capacity: capacity)
    }

    // MARK: key log

    /// Opens the file of SSLKEYLOGFILE, which allows its readers to decrypt every connection; only if the configuration permits
    /// it.
    private func keyLog(_ tls: TLSSettings, _ remarks: inout [String]) throws(MaterialFault) -> KeyLog? {
        guard let path = environment["SSLKEYLOGFILE"], !path.isEmpty else { return nil }
        guard tls.keyLog else {
            remarks.append("SSLKEYLOGFILE is set but ignored; tls.key_log: true enables it")
            return nil
        }
        let descriptor: Int32
        do throws(FileError) { descriptor = try Output.appending(to: path) } catch {
            throw MaterialFault("SSLKEYLOGFILE \(error.description)")
        }
        remarks.append("the keys of every connection are written to \(path) (SSLKEYLOGFILE, tls.key_log)")
        let log = KeyLogFile(Descriptor(owning: descriptor))
        return { log.append($0) }
    }
}

/// Writes the lines of a key log. Each is one write, which the system keeps together.
private final class KeyLogFile: Sendable {
    private let descriptor: Int32

    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor.release() }

    deinit { close(descriptor) }

    func append(_ line: String) {
        var text = line + "\n"
        text.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
    }
}
