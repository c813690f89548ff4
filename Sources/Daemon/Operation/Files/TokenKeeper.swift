import Authorization
import EventLoop
import Formats
import Glibc
import ProxyCore
import ProxyDriver
import TLSEngine

/// Persists tokens if the configuration asks for it (`keep: sealed`): gets the key, ensures that no other process uses the same
/// files, and loads the tokens into the table. A failure is logged and has no other effect.
final class TokenKeeper {
    private let state: StateKeeper
    private let folder: StateDirectory
    private let documents: String
    private let tokens: TokenTable
    private let say: (String) -> Void
    /// A lock, held while tokens are stored: two processes would use up each other's refresh tokens.
    private var place: Descriptor?
    private var vault: TokenVault?

    init(
        _ state: StateKeeper, _ directory: StateDirectory, _ tokens: TokenTable,
        say: @escaping (String) -> Void = { Console.error($0) }
    ) {
        self.state = state
        self.tokens = tokens
        self.say = say
        folder = StateDirectory(path: directory.file("kept"))
        documents = StateFiles(directory).path(.tokens)
    }

    /// Called at the start and for every later configuration.
    /// - Parameter key: the configured key; nil to generate one.
    func adopt(_ policy: TokenPolicy?, _ key: SecretBytes?) {
        let isAsked = policy?.sources.contains { $0.settings.keeping == .sealed } ?? false
        guard isAsked || vault != nil else { return tellOfLeftovers() }
        do throws(FileError) {
            try takePlace()
            hasOwnKey = key == nil
            let secret = if let key { key } else { try ownKey() }
            guard let new = TokenVault(state, secret: secret, policy) else {
                throw FileError("\(keyPath) has no key; remove it, and usher creates a new one")
            }
            begin(with: new)
        } catch {
            let words = vault == nil ? "tokens are kept only in memory" : "tokens are kept as before"
            say("\(words): \(error.description)")
        }
    }

    /// Releases the files for another process. Later tokens stay in memory only.
    func release() {
        guard vault != nil else { return }
        tokens.observe(all: false) { _, _ in }
        vault = nil
        place = nil
    }

    private func begin(with new: TokenVault) {
        let old = vault
        vault = new
        var hasSome = false
        if old == nil {
            state.readNow(.tokens)
            hasSome = tokens.changeTokens { !$0.all.isEmpty }
            restore(from: new)
        }
        if let old, !old.isLike(new) { new.takeOver(from: old) }
        // with another key, other entries, or tokens kept in memory only, all tokens are stored again
        tokens.observe(all: old != nil || hasSome) { token, key in new.keep(token, key, at: time(nil)) }
    }

    private func restore(from vault: TokenVault) {
        let now = LoginTime(milliseconds: Loop.monotonicMilliseconds(), seconds: time(nil))
        let found = tokens.changeTokens { vault.restore(into: &$0, now) }
        if found.foreign > 0 {
            say(
                "\(Self.count(found.foreign)) in \(documents) sealed with another key than \(keyWords): usher "
                    + "keeps the file but does not use it; restart with that key to use it, or remove the file")
        }
        if found.damaged > 0 {
            say("\(Self.count(found.damaged)) in \(documents) damaged and unused; remove the file")
        }
        if found.unclaimed > 0 {
            say(
                "\(Self.count(found.unclaimed)) in \(documents) of entries of tokens that were removed or changed: "
                    + "usher keeps them for \(TokenVault.unclaimedLife / 86_400) days, but does not use them")
        }
    }

    private func tellOfLeftovers() {
        let count = state.documents(in: .tokens).count
        guard count > 0 else { return }
        say(
            "\(Self.count(count)) in \(documents) sealed and unused because no entry of tokens has keep: sealed; "
                + "remove the file if you do not need it"
        )
    }

    private static func count(_ number: Int) -> String { number == 1 ? "1 token is" : "\(number) tokens are" }

    // MARK: files

    private var keyPath: String { folder.file("tokens.key") }
    private var keyWords: String { hasOwnKey ? keyPath : "state.key" }
    private var hasOwnKey = false

    private func takePlace() throws(FileError) {
        guard place == nil else { return }
        try folder.make()
        let path = folder.file("tokens.lock")
        place = try StateFile.hold(path)
        guard place != nil else {
            throw FileError(
                "another usher uses \(documents); give one of them its own STATE_DIRECTORY")
        }
    }

    /// The stored key, which is created if missing.
    private func ownKey() throws(FileError) -> SecretBytes {
        if let found = try StateFile.readSecret(keyPath, "has the key that seals tokens") { return found }
        guard let random = try? SecretBytes(random: TokenVault.leastKey) else {
            throw FileError("\(keyPath) cannot be created: the system has no random bytes")
        }
        var text = Array(Base64.encode(random.withBytes { Array($0) }).utf8)
        let key = SecretBytes(taking: &text)
        try StateFile.create(keyPath, secret: key)
        return key
    }
}
