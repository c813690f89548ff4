internal import Addresses
internal import Formats

/// The aliases of secrets during the life of the process. A secret has the same alias everywhere, so recordings can be shared and
/// stay consistent.
///
/// It stores keyed hashes and not the secrets. If the table is full, it forgets the older secrets of the client with the most
/// entries. Numbers are never reused.
public struct SecretAliases: Sendable {
    private struct Entry {
        let alias: SecretAlias
        /// Nil if it is never forgotten.
        var owner: Int?
        /// The position in its owner's order.
        var place = 0
        /// The forms to find it in texts.
        var forms: [KnownForms.Form] = []
    }

    /// The secrets of all clients with the same hash, by their own hashes.
    private struct Owner {
        /// The order of use. If a secret occurs twice, the last position counts.
        var order: [Int] = []
        /// The position of the first entry.
        var first = 0

        /// Whether an entry is in the older half.
        func isOld(_ place: Int) -> Bool { place - first < order.count / 2 }
    }

    private var entries: [Int: Entry] = [:]
    private var forms = KnownForms()
    private var owners = [Owner](repeating: Owner(), count: Self.sums)
    /// The flow under redaction, and its owner once needed.
    private var flow: PackedFlow?
    private var owner: Int?
    /// The names that reveal secrets, and these with the beginnings of all forms.
    private var names = WordTable()
    private var words = WordTable()
    /// The entries forgotten since the words were collected.
    private var forgotten = 0
    /// The last numbers by kind.
    private(set) var numbers: [UInt32]
    private let most: Int
    /// The count of secrets learned.
    private(set) var learned = 0
    /// A version that changes whenever another text may hold a secret.
    private(set) var knowledge = 1
    /// The hashes of secrets that are never forgotten.
    private var pinned: Set<Int> = []
    /// The secrets with a new alias since the last call; nil if none are to be stored.
    var met: [MetSecret]?
    /// The budget for the current text.
    var steps = StepBudget()

    /// The count of owners that clients are hashed to.
    private static let sums = 256
    /// Secrets with fewer bytes are recognised only by their position, because elsewhere they may be ordinary words.
    static let shortest = 12
    /// The cost of a new entry in steps.
    private static let stepsOfNew = 512

    /// - Parameters:
    /// - most: the limit of known secrets.
    /// - counters: the last numbers of an earlier run.
    public init(most: Int = 65_536, behind counters: JournalCounters = JournalCounters()) {
        self.most = max(2, most)
        numbers = counters.aliases
    }

    /// Assigns the following secrets to the flow's client.
    mutating func begin(_ flow: PackedFlow?) { (self.flow, owner) = (flow, nil) }

    /// The owner of a flow: a hash of the user, else of the client's network.
    static func owner(of flow: PackedFlow?) -> Int {
        var hasher = Hasher()
        if let user = flow?.text(.user) {
            hasher.combine(user)
        } else if let address = flow?.address?.unmapped {
            // IPv4 addresses count singly, which also separates programs on this machine
            if address.family == .v4 { hasher.combine(address) } else { hasher.combine(address.clientNetwork) }
        }
        return hasher.finalize() & (sums - 1)
    }

    /// The alias of a secret; a new one if it has none.
    /// - Parameter secret: percent-encoded or not, with the same result.
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

    /// Registers secrets of the configuration. They are kept while it is in force.
    mutating func pin(_ secrets: [[UInt8]]) {
        let (met, steps) = (met, steps)
        // they are not stored, because the configuration has them
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

    /// Moves an entry to the end of the current owner's order.
    private mutating func own(_ key: Int) {
        let owner = self.owner ?? Self.owner(of: flow)
        self.owner = owner
        entries[key]?.owner = owner
        entries[key]?.place = owners[owner].first + owners[owner].order.count
        owners[owner].order.append(key)
    }

    /// Forgets the older half of the largest owner's entries.
    /// - Returns: false if no owner has any.
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
            for form in entry.forms { forms.remove(form) }
            forgotten += 1
        }
        owners[index].order.removeFirst(count)
        owners[index].first += count
        if forgotten >= most / 4 { collectWords() }
        return true
    }

    private mutating func add(_ bytes: [UInt8], _ key: Int, _ alias: SecretAlias) {
        learned += 1
        guard Self.isTelling(bytes) else { return }
        knowledge += 1
        for text in Self.forms(of: bytes) {
            guard let form = forms.insert(text, alias) else { continue }
            words.insert(beginning: WordTable.beginning(of: text[...]))
            entries[key]?.forms.append(form)
        }
    }

    /// Sets the names that reveal secrets, in place of the earlier ones.
    mutating func watch(_ names: some Sequence<[UInt8]>) {
        self.names = WordTable(names)
        collectWords()
    }

    private mutating func collectWords() {
        knowledge += 1
        words = names
        for beginning in forms.beginnings { words.insert(beginning: beginning) }
        forgotten = 0
    }

    /// The position of the first possible secret.
    /// - Parameter start: where a word may begin.
    func suspect(in text: ArraySlice<UInt8>, from start: Int) -> Int? {
        let place = text.withUnsafeBytes { SecretSieve.first(in: $0, from: start - text.startIndex, words, forms) }
        let found = place.map { $0 + text.startIndex }
        return Self.shortParameter(in: text[start..<(found ?? text.endIndex)]) ?? found
    }

    /// The position of a parameter `pw=`, whose name is too short for the sieve.
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

    /// Replaces known secrets and those with a typical form.
    mutating func cleared(_ text: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        var copied = 0
        var place = 0
        while place < text.count {
            let end = SecretShape.endOfWord(text, place)
            if let found = secret(in: text, at: place, end) {
                out += text[copied..<place]
                AliasMark.write(found.alias, to: &out)
                place += found.count
                copied = place
            } else {
                place = end
            }
        }
        return copied == 0 ? text : out + text[copied...]
    }

    /// The secret at this position; of known ones the longest.
    /// - Parameter end: the end of the word that starts here.
    private mutating func secret(in text: [UInt8], at place: Int, _ end: Int) -> (alias: SecretAlias, count: Int)? {
        if !steps.isSpent, words.mayBegin(text, place, end), let found = forms.find(in: text, at: place, &steps) {
            return found
        }
        guard let shape = SecretShape.find(in: text, at: place, end) else { return nil }
        return (alias(of: text[place..<place + shape.count], shape.kind), shape.count)
    }

    /// True if a secret is long and mixed enough to be recognised anywhere.
    private static func isTelling(_ bytes: [UInt8]) -> Bool {
        (shortest...KnownForms.longest).contains(bytes.count)
            && !bytes.allSatisfy { ASCII.isAlpha($0) || $0 == ASCII.space }
    }

    /// The secret as it is, and as written in URLs, forms and JSON.
    private static func forms(of bytes: [UInt8]) -> Set<[UInt8]> {
        if bytes.allSatisfy(ASCII.isUnreserved) { return [bytes] }
        var (encoded, partly, json) = ([UInt8](), [UInt8](), [UInt8]())
        func escape(_ byte: UInt8, _ text: inout [UInt8]) {
            text.append(0x25)
            text.append(PercentCoding.hexDigit(byte >> 4))
            text.append(PercentCoding.hexDigit(byte & 15))
        }
        for byte in bytes {
            if byte == 0x2F { json.append(0x5C) }
            json.append(byte)
            switch byte {
            case _ where ASCII.isUnreserved(byte):
                encoded.append(byte)
                partly.append(byte)
            // encodeURIComponent leaves these unescaped too
            case 0x21, 0x27, 0x28, 0x29, 0x2A:
                escape(byte, &encoded)
                partly.append(byte)
            default:
                escape(byte, &encoded)
                escape(byte, &partly)
            }
        }
        return [bytes, encoded, partly, json]
    }

    private static func hash(_ bytes: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
