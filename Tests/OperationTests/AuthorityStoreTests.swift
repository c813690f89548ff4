import Configuration
import Foundation
import TLSEngine
import Testing

@testable import Operation

@Suite("The CA on the disk")
struct AuthorityStoreTests {
    private let folder: TemporaryFolder
    private let state: StateDirectory
    private let now = 1_800_000_000

    init() throws {
        folder = try TemporaryFolder()
        state = StateDirectory(path: folder.file("state"))
    }

    private func store(
        constrainedTo names: [String]? = nil, key: KeyReference? = nil, certificate: String? = nil, at time: Int? = nil
    ) throws -> AuthorityStore {
        var settings = AuthoritySettings()
        settings.constraints = try names.map { try NameConstraints($0) }
        settings.key = key
        settings.certificate = certificate
        return AuthorityStore(settings, in: state, now: time ?? now)
    }

    private func words(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch let error as FileError { return error.description } catch { return "\(error)" }
    }

    // MARK: making and reading

    @Test func itIsMadeOnceAndReadAfterwards() throws {
        let store = try store()
        #expect(try store.load() == nil && store.certificates() == nil)
        #expect(!FileManager.default.fileExists(atPath: state.path), "looking makes nothing")
        let first = try store.loadOrMake()
        #expect(first.isNew && first.authority.key.fits(first.authority.certificate))
        let again = try store.loadOrMake()
        #expect(!again.isNew && again.authority.certificate.der == first.authority.certificate.der)
        #expect(try folder.names == ["state"])
        #expect(try folder.mode("state/ca.key") == 0o600 && folder.mode("state/ca.pem") == 0o644)
        #expect(try folder.mode("state") == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: state.path).sorted()
        #expect(names == ["ca.key", "ca.pem", "lock"])
    }

    @Test func itSpeaksForWhomTheConfigurationSays() throws {
        let made = try store(constrainedTo: ["staging.example.com"]).loadOrMake().authority.certificate
        #expect(made.nameConstraints == ["staging.example.com"])
        #expect(made.isAuthority && made.subject.contains("Usher CA"))
    }

    @Test func manyAtOnceMakeOne() async throws {
        let store = try store()
        let made = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<8 { group.addTask { try store.loadOrMake().authority.certificate.der } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(made.count == 1)
    }

    @Test func aKeyThatOthersMayReadIsRefused() throws {
        _ = try store().loadOrMake()
        for mode in [0o640, 0o604, 0o644] {
            try folder.setMode("state/ca.key", mode)
            #expect(words { _ = try store().loadOrMake() }.contains("chmod 600 \(state.file("ca.key"))"))
        }
    }

    @Test func aCertificateWithoutItsKey() throws {
        _ = try store().loadOrMake()
        try FileManager.default.removeItem(atPath: state.file("ca.key"))
        #expect(words { _ = try store().loadOrMake() }.contains("not its key \(state.file("ca.key"))"))
        #expect(try store().certificates() != nil, "what everybody may know can still be shown")
    }

    @Test func aKeyWithoutItsCertificateGetsOne() throws {
        let old = try store().loadOrMake().authority
        try FileManager.default.removeItem(atPath: state.file("ca.pem"))
        let new = try store().loadOrMake()
        #expect(new.isNew && new.authority.key.fits(old.certificate), "the key is the same")
    }

    @Test func whatDoesNotBelongTogether() throws {
        _ = try store().loadOrMake()
        let other = try TemporaryFolder()
        _ = try AuthorityStore(AuthoritySettings(), in: StateDirectory(path: other.path), now: now).loadOrMake()
        try Data(other.read("ca.pem")).write(to: URL(filePath: state.file("ca.pem")))
        #expect(words { _ = try store().load() }.hasPrefix(state.file("ca.pem")))
    }

    @Test(arguments: ["", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func whatIsNoCertificate(_ text: String) throws {
        _ = try store().loadOrMake()
        try folder.write("state/ca.pem", text)
        #expect(words { _ = try store().loadOrMake() }.hasPrefix(state.file("ca.pem")))
        try folder.write("state/ca.key", text, mode: 0o600)
        #expect(!words { _ = try store().loadOrMake() }.isEmpty)
    }

    // MARK: a key from outside

    @Test func aGivenKeyGetsItsCertificate() throws {
        let key = try PrivateKey.makeP256()
        let given = KeyReference.material(try key.pem())
        let made = try store(key: given).loadOrMake()
        #expect(made.isNew && key.fits(made.authority.certificate))
        #expect(!FileManager.default.fileExists(atPath: state.file("ca.key")))
        #expect(try !store(key: given).loadOrMake().isNew)
        let other = KeyReference.material(try PrivateKey.makeP256().pem())
        #expect(words { _ = try store(key: other).loadOrMake() }.hasPrefix(state.file("ca.pem")))
        #expect(words { _ = try store(key: given).rotate() }.contains("tls.ca.key"))
    }

    @Test func otherNames() throws {
        _ = try store(key: .path("own.key"), certificate: "own.pem").loadOrMake()
        let names = try FileManager.default.contentsOfDirectory(atPath: state.path).sorted()
        #expect(names == ["lock", "own.key", "own.pem"])
    }

    // MARK: rotation

    @Test func theNewOneIsVouchedForByTheOld() throws {
        let old = try store().loadOrMake().authority
        let oldKey = try folder.read("state/ca.key")
        let (before, new) = try store(constrainedTo: ["example.com"]).rotate()
        #expect(before.certificate.der == old.certificate.der)
        #expect(new.certificate.der != old.certificate.der && new.certificate.nameConstraints == ["example.com"])
        #expect(try folder.read("state/ca.key") != oldKey)
        let read = try #require(try store().load())
        #expect(read.certificate.der == new.certificate.der && read.key.fits(read.certificate))
        let cross = try #require(read.crosses.first)
        #expect(cross.subject == new.certificate.subject && cross.issuer == old.certificate.subject)
        #expect(cross.publicKeyDigest == new.certificate.publicKeyDigest)
        let certificates = try #require(try store().certificates())
        #expect(certificates.roots.map(\.der) == [new.certificate.der, old.certificate.der])
        #expect(try folder.mode("state/ca.key") == 0o600)
    }

    @Test func olderRootsAreRememberedAsLongAsTheyAreValid() throws {
        _ = try store().loadOrMake()
        for _ in 0..<7 { _ = try store().rotate() }
        let certificates = try #require(try store().certificates())
        #expect(certificates.retired.count == 4 && certificates.crosses.count <= 4)
        let far = try store(at: certificates.root.notAfter + 1).certificates()
        #expect(far?.retired.isEmpty == true)
    }

    @Test func withoutACAThereIsNothingToReplace() throws {
        #expect(words { _ = try store().rotate() }.contains("usher ca show"))
    }

    @Test func whatACrashInterruptedIsFinished() throws {
        let old = try store().loadOrMake().authority
        let other = try TemporaryFolder()
        let new = try AuthorityStore(AuthoritySettings(), in: StateDirectory(path: other.path), now: now).loadOrMake()
        // everything was staged, and the key had already taken its place
        try Data(other.read("ca.pem")).write(to: URL(filePath: state.file("ca.pem.next")))
        try Data(other.read("ca.key")).write(to: URL(filePath: state.file("ca.key")))
        let read = try #require(try store().load())
        #expect(read.certificate.der == new.authority.certificate.der && read.certificate.der != old.certificate.der)
        #expect(!FileManager.default.fileExists(atPath: state.file("ca.pem.next")))
    }

    @Test func whatACrashLeftBeforeItCountedIsForgotten() throws {
        let old = try store().loadOrMake().authority
        try folder.write("state/ca.key.next", "half a key", mode: 0o600)
        #expect(try store().load()?.certificate.der == old.certificate.der)
        _ = try store().rotate()
        #expect(!FileManager.default.fileExists(atPath: state.file("ca.key.next")))
    }

    // MARK: remarks

    @Test func aCAThatEndsIsSpokenOf() throws {
        let certificate = try store().loadOrMake().authority.certificate
        func remarks(_ time: Int) throws -> [AuthorityStore.Remark] { try store(at: time).remarks(on: certificate) }
        #expect(try remarks(now) == [])
        let soon = try remarks(certificate.notAfter - 29 * 86_400)
        #expect(soon.map(\.isFault) == [false] && soon[0].words.contains("29 days") && soon[0].words.contains("rotate"))
        let late = try remarks(certificate.notAfter + 1)
        #expect(late.map(\.isFault) == [true] && late[0].words.contains("usher ca rotate"))
        let early = try remarks(certificate.notBefore - 1)
        #expect(early.map(\.isFault) == [true] && early[0].words.contains("clock"))
    }

    @Test func otherConstraintsAreSpokenOf() throws {
        let certificate = try store(constrainedTo: ["a.test"]).loadOrMake().authority.certificate
        #expect(try store(constrainedTo: ["a.test"]).remarks(on: certificate) == [])
        for names in [["b.test"], ["a.test", "b.test"], nil] {
            let remarks = try store(constrainedTo: names).remarks(on: certificate)
            #expect(remarks.map(\.isFault) == [false] && remarks[0].words.contains("usher ca rotate"))
        }
    }

    // MARK: links

    @Test(arguments: ["ca.key", "ca.pem"])
    func noLinkIsFollowed(_ name: String) throws {
        _ = try store().loadOrMake()
        let elsewhere = folder.file("elsewhere")
        try FileManager.default.moveItem(atPath: state.file(name), toPath: elsewhere)
        try FileManager.default.createSymbolicLink(atPath: state.file(name), withDestinationPath: elsewhere)
        let before = try folder.read("elsewhere")
        #expect(words { _ = try store().rotate() }.contains("\(state.file(name)) is a symbolic link"))
        #expect(try folder.read("elsewhere") == before)
    }

    @Test(arguments: ["ca.key", "ca.pem"])
    func aFileHasOneName(_ name: String) throws {
        _ = try store().loadOrMake()
        try FileManager.default.linkItem(atPath: state.file(name), toPath: folder.file("second"))
        #expect(words { _ = try store().rotate() }.contains("2 hard links"))
    }

    @Test func theOldKeyIsOverwritten() throws {
        _ = try store().loadOrMake()
        let old = try #require(FileHandle(forReadingAtPath: state.file("ca.key")))
        let count = try #require(try old.readToEnd()?.count)
        _ = try store().rotate()
        try old.seek(toOffset: 0)
        #expect(try old.readToEnd() == Data(count: count) && count > 100)
    }

    // MARK: folders

    @Test func aFolderThatCannotBeWritten() throws {
        try folder.write("state", "a file in the folder's place")
        #expect(words { _ = try store().loadOrMake() }.contains("STATE_DIRECTORY"))
    }
}
