internal import Addresses
internal import Formats

/// Which alias stands for which secret, for as long as the process lasts: the same secret has the same alias wherever it
/// stands, so that what was recorded can be shared and still belongs together.
///
/// The secrets themselves are not kept, but for a hash by a key that only this process has. Of those that were not met for
/// long the aliases are forgotten, first of those of whoever has most; a number is never given twice.
public struct SecretAliases: Sendable {
    private struct Entry {
        let alias: SecretAlias
        /// Nil for those that are never forgotten.
        var owner: Int?
        /// Where it stands in its owner's order.
        var place = 0
        /// By what it is found in texts.
        var forms: [KnownForms.Form] = []
    }

    /// What clients whose names have the same sum have met, by the hashes of the secrets.
    private struct Owner {
        /// Of what was met again the last alone counts.
        var order: [Int] = []
        /// The place of the first of them.
        var first = 0

        /// Met longer ago than others are.
        func isOld(_ place: Int) -> Bool { place - first < order.count / 2 }
    }

    private var entries: [Int: Entry] = [:]
    private var forms: [ByteWordKey: KnownForms] = [:]
    private var owners = [Owner](repeating: Owner(), count: Self.sums)
    /// What is looked through, and who met it, once that was asked.
    private var flow: PackedFlow?
    private var owner: Int?
    /// The beginnings of all forms, and the names that tell of secrets, as bits: most words are known to be none by a look here.
    private var filter = BeginningFilter()
    /// How many have been forgotten since it was made.
    private var forgotten = 0
    private var sieve = SecretSieve([])
    /// Those that were given last, by kind.
    private(set) var numbers: [UInt32]
    private let most: Int
    /// How many have been met.
    private(set) var learned = 0
    /// Another number whenever a text may hold one that held none before.
    private(set) var knowledge = 1
    /// The hashes of those that are never forgotten.
    private var pinned: Set<Int> = []
    /// Those that have an alias since the last look; nil where no secret is to be kept.
    var met: [MetSecret]?
    /// Of the text that is being looked through.
    var steps = StepBudget()

    /// So many clients are told apart.
    private static let sums = 256
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

    /// From here on secrets are those of the flow's client.
    mutating func begin(_ flow: PackedFlow?) { (self.flow, owner) = (flow, nil) }

    /// The sum of a user, or else of whoever has the network.
    static func owner(of flow: PackedFlow?) -> Int {
        var hasher = Hasher()
        if let user = flow?.text(.user) {
            hasher.combine(user)
        } else if let address = flow?.address?.unmapped {
            // programs on this machine are told apart, too
            if address.family == .v4 { hasher.combine(address) } else { hasher.combine(address.clientNetwork) }
        }
        return hasher.finalize() & (sums - 1)
    }

    /// The alias of a secret, a new one where it has none.
    /// - Parameter secret: percent-encoded or not, it is the same.
    public mutating func alias(of secret: some Collection<UInt8>, _ kind: SecretKind) -> SecretAlias {
        let bytes = PercentCoding.decodeBytes(secret, plusAsSpace: false)
        let key = Self.hash(bytes[...])
        if let known = entries[key] {
            if let owner = known.owner, owners[owner].isOld(known.place) { own(key) }
            return known.alias
        }
        let alias = next(kind)
        met?.append(MetSecret(alias: alias, bytes: Array(secret)))
        steps.spend(Self.stepsOfNew + bytes.count * 8)
        while entries.count >= most, forget() {}
        entries[key] = Entry(alias: alias)
        own(key)
        add(bytes, key, alias)
        return alias
    }

    /// Secrets of the configuration, which are known for as long as it is in force.
    mutating func pin(_ secrets: [[UInt8]]) {
        let (met, steps) = (met, steps)
        // the configuration has them: they are kept nowhere else
        self.met = nil
        let before = pinned
        pinned = []
        for secret in secrets.filter({ !$0.isEmpty }).prefix(most / 4) {
            _ = alias(of: secret, .secret)
            let key = Self.hash(PercentCoding.decodeBytes(secret, plusAsSpace: false)[...])
            pinned.insert(key)
            entries[key]?.owner = nil
        }
        for key in before.subtracting(pinned) { own(key) }
        (self.met, self.steps) = (met, steps)
    }

    private mutating func next(_ kind: SecretKind) -> SecretAlias {
        numbers[Int(kind.rawValue)] &+= 1
        return SecretAlias(kind, numbers[Int(kind.rawValue)])
    }

    /// It was met last by whoever is looked at.
    private mutating func own(_ key: Int) {
        let owner = self.owner ?? Self.owner(of: flow)
        self.owner = owner
        entries[key]?.owner = owner
        entries[key]?.place = owners[owner].first + owners[owner].order.count
        owners[owner].order.append(key)
    }

    /// Forgets the older half of what that one has met who has met most.
    /// - Returns: false where nobody has anything.
    private mutating func forget() -> Bool {
        guard let index = owners.indices.max(by: { owners[$0].order.count < owners[$1].order.count }),
            !owners[index].order.isEmpty
        else { return false }
        let count = (owners[index].order.count + 1) / 2
        for (offset, key) in owners[index].order.prefix(count).enumerated() {
            guard let entry = entries[key], entry.owner == index, entry.place == owners[index].first + offset else {
                continue
            }
            entries[key] = nil
            for form in entry.forms where forms[form.beginning]?.remove(form) == true { forms[form.beginning] = nil }
            forgotten += 1
        }
        owners[index].order.removeFirst(count)
        owners[index].first += count
        if forgotten >= most / 4 { renewFilter() }
        return true
    }

    private mutating func add(_ bytes: [UInt8], _ key: Int, _ alias: SecretAlias) {
        learned += 1
        guard Self.isTelling(bytes) else { return }
        knowledge += 1
        for text in Self.forms(of: bytes) {
            guard let form = KnownForms.Form(text) else { continue }
            filter.insert(beginning: form.beginning)
            forms[form.beginning, default: KnownForms()].insert(text, form, alias)
            entries[key]?.forms.append(form)
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
        for beginning in forms.keys { filter.insert(beginning: beginning) }
        forgotten = 0
    }

    /// Where in a text the first of them may stand, or another secret.
    /// - Parameter start: where a word may begin.
    func suspect(in text: ArraySlice<UInt8>, from start: Int) -> Int? {
        // named by themselves: whoever asks would be copied whole otherwise, with all that it holds
        let forms = forms
        let place = text.withUnsafeBytes { bytes in
            sieve.first(in: bytes, from: start - text.startIndex, filter) { forms[$0] != nil }
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
        return forms[beginning]?.find(in: bytes, at: place, &steps)
    }

    /// Long and mixed enough to be nothing but itself.
    private static func isTelling(_ bytes: [UInt8]) -> Bool {
        (shortest...KnownForms.longest).contains(bytes.count)
            && !bytes.allSatisfy { ASCII.isAlpha($0) || $0 == ASCII.space }
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
