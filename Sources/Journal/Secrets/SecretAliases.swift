internal import Formats

/// Which alias stands for which secret, for as long as the process lasts: the same secret has the same alias wherever it
/// stands, so that what was recorded can be shared and still belongs together.
///
/// The secrets themselves are not kept, but for a hash by a key that only this process has. Of those that were not met for
/// long the aliases are forgotten; a number is never given twice.
public struct SecretAliases: Sendable {
    /// What was met lately, and what was met before that: a table that is full takes the place of the older one.
    private struct Generation {
        var aliases: [Int: SecretAlias] = [:]
        var forms: [ByteWordKey: KnownForms] = [:]
    }

    private var young = Generation()
    private var old = Generation()
    /// The beginnings of all forms, and the names that tell of secrets, as bits: most words are known to be none by a look here.
    private var filter = BeginningFilter()
    private var sieve = SecretSieve([])
    /// Those that were given last, by kind.
    private(set) var numbers: [UInt32]
    private let most: Int
    /// How many have been met.
    private(set) var learned = 0
    /// Another number whenever a text may hold one that held none before.
    private(set) var knowledge = 1
    /// Those that are never forgotten.
    private var pinned: [[UInt8]] = []
    /// Those that have an alias since the last look; nil where no secret is to be kept.
    var met: [MetSecret]?
    /// Of the text that is being looked through.
    var steps = StepBudget()

    /// A secret of fewer bytes is recognised by where it stands alone: elsewhere it may be any word.
    static let shortest = 12
    /// To remember another one takes about as long as so many others.
    private static let stepsOfNew = 512

    /// - Parameters:
    ///   - most: secrets that are known at a time.
    ///   - counters: numbers that were given before.
    public init(most: Int = 65_536, behind counters: JournalCounters = JournalCounters()) {
        self.most = max(2, most)
        numbers = counters.aliases
    }

    /// The alias of a secret, a new one where it has none.
    /// - Parameter secret: percent-encoded or not, it is the same.
    public mutating func alias(of secret: some Collection<UInt8>, _ kind: SecretKind) -> SecretAlias {
        let bytes = PercentCoding.decodeBytes(secret, plusAsSpace: false)
        let key = Self.hash(bytes[...])
        if let known = young.aliases[key] { return known }
        let older = old.aliases[key]
        let alias = older ?? next(kind)
        if older == nil { met?.append(MetSecret(alias: alias, bytes: Array(secret))) }
        steps.spend(Self.stepsOfNew + bytes.count * 8)
        add(bytes, key, alias)
        return alias
    }

    /// Secrets of the configuration, which are known for as long as it is in force.
    mutating func pin(_ secrets: [[UInt8]]) {
        pinned = Array(secrets.filter { !$0.isEmpty }.prefix(most / 4))
        learnPinned()
    }

    /// The configuration has them: they are kept nowhere else.
    private mutating func learnPinned() {
        let (met, steps) = (met, steps)
        self.met = nil
        for secret in pinned { _ = self.alias(of: secret, .secret) }
        (self.met, self.steps) = (met, steps)
    }

    private mutating func next(_ kind: SecretKind) -> SecretAlias {
        numbers[Int(kind.rawValue)] &+= 1
        return SecretAlias(kind, numbers[Int(kind.rawValue)])
    }

    private mutating func add(_ bytes: [UInt8], _ key: Int, _ alias: SecretAlias) {
        if young.aliases.count >= most / 2 {
            old = young
            young = Generation()
            renewFilter()
            learnPinned()
        }
        young.aliases[key] = alias
        learned += 1
        guard Self.isTelling(bytes) else { return }
        knowledge += 1
        for form in Self.forms(of: bytes) {
            let beginning = ByteWordKey(form[...])
            filter.insert(beginning: beginning)
            young.forms[beginning, default: KnownForms()].insert(form, alias)
        }
    }

    /// Has secrets found by these names, and by no others.
    mutating func watch(_ names: some Sequence<[UInt8]>) {
        sieve = SecretSieve(names)
        renewFilter()
    }

    private mutating func renewFilter() {
        knowledge += 1
        filter = BeginningFilter()
        sieve.insert(into: &filter)
        for beginning in old.forms.keys { filter.insert(beginning: beginning) }
        for beginning in young.forms.keys { filter.insert(beginning: beginning) }
    }

    /// Where in a text the first of them may stand, or another secret.
    /// - Parameter start: where a word may begin.
    func suspect(in text: ArraySlice<UInt8>, from start: Int) -> Int? {
        // named by themselves: whoever asks would be copied whole otherwise, with all that it holds
        let (young, old) = (young.forms, old.forms)
        let place = text.withUnsafeBytes { bytes in
            sieve.first(in: bytes, from: start - text.startIndex, filter) { young[$0] != nil || old[$0] != nil }
        }
        let found = place.map { $0 + text.startIndex }
        return Self.shortParameter(in: text[start..<(found ?? text.endIndex)]) ?? found
    }

    /// Where the name stands that is too short for the sieve, as a parameter: `pw=`.
    private static func shortParameter(in text: ArraySlice<UInt8>) -> Int? {
        let name = SecretNames.shortest
        let span = text.span
        var index = 0
        while true {
            index = span.first(index, span.count) { $0.equal(to: 0x3D) }
            guard index < span.count else { return nil }
            let start = index - name.count
            if start >= 0, zip(0..., name).allSatisfy({ ASCII.lower(span[start + $0]) == $1 }),
                start == 0 || !ByteClasses.isWord(span[start - 1])
            {
                return text.startIndex + start
            }
            index += 1
        }
    }

    /// The secret that stands at a place.
    /// - Returns: its alias and how many bytes it has there; nil for none. The longest where one begins with another.
    mutating func known(in bytes: [UInt8], at place: Int) -> (alias: SecretAlias, count: Int)? {
        guard place + ByteWordKey.count <= bytes.count, !steps.isSpent else { return nil }
        let beginning = ByteWordKey(bytes[place..<place + ByteWordKey.count])
        let new = young.forms[beginning]?.find(in: bytes, at: place, &steps)
        let older = old.forms[beginning]?.find(in: bytes, at: place, &steps)
        return older?.count ?? 0 > new?.count ?? 0 ? older : new
    }

    /// Long and mixed enough to be nothing but itself.
    private static func isTelling(_ bytes: [UInt8]) -> Bool {
        bytes.count >= shortest && !bytes.allSatisfy { ASCII.isAlpha($0) || $0 == ASCII.space }
    }

    /// As it is, and as URLs, forms and JSON write it.
    private static func forms(of bytes: [UInt8]) -> Set<[UInt8]> {
        var encoded: [UInt8] = []
        var partly: [UInt8] = []
        var json: [UInt8] = []
        for byte in bytes {
            let escape = [0x25, PercentCoding.hexDigit(byte >> 4), PercentCoding.hexDigit(byte & 15)]
            encoded += ASCII.isUnreserved(byte) ? [byte] : escape
            // what encodeURIComponent leaves beside that
            partly += ASCII.isUnreserved(byte) || [0x21, 0x27, 0x28, 0x29, 0x2A].contains(byte) ? [byte] : escape
            json += byte == 0x2F ? [0x5C, byte] : [byte]
        }
        return [bytes, encoded, partly, json]
    }

    private static func hash(_ bytes: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
