public import Addresses
import Formats

/// Users and password hashes from an htpasswd file, as `htpasswd -B` writes it. Only bcrypt is accepted; other schemes are
/// fast to guess.
public struct PasswordTable: Equatable, Sendable {
    /// A fault in a line. It contains no text of the line.
    public enum Fault: Equatable, Error, Sendable {
        /// The line is not `user:hash`.
        case malformed
        /// The hash has another scheme than bcrypt, with this name.
        case scheme(String)
        case repeated(line: Int)
        /// The cost is so high that a check would take seconds.
        case tooCostly(Int)
    }

    /// Accepted costs of bcrypt. One more doubles the time; 15 takes a second or two.
    static let costs = 4...15

    private var hashes: [String: String] = [:]
    /// Hashes that stand in for those of unknown users, one for each known user. A check for an unknown name takes as long
    /// as one for some known user, and always as long.
    private let decoys: [String]

    public var count: Int { hashes.count }
    /// The lowest cost among the hashes; nil if there are none.
    public var lowestCost: Int? { hashes.values.compactMap(Self.cost).min() }

    /// Parses `user:hash` lines; empty lines and those that begin with `#` are ignored.
    /// - Parameter fault: called for each refused line, with its number from 1.
    public init(htpasswd text: some StringProtocol, fault: (Int, Fault) -> Void) {
        var lines: [String: Int] = [:]
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            guard line.contains(where: { $0 != " " && $0 != "\t" }), !line.hasPrefix("#") else { continue }
            do throws(Fault) {
                let (user, hash) = try Self.entry(line)
                if let first = lines[user] { throw .repeated(line: first) }
                lines[user] = index + 1
                hashes[user] = hash
            } catch {
                fault(index + 1, error)
            }
        }
        decoys = hashes.values.map { String($0.prefix(7)) + String(repeating: ".", count: 53) }.sorted()
    }

    private static func entry(_ line: some StringProtocol) throws(Fault) -> (user: String, hash: String) {
        guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { throw .malformed }
        let hash = String(line[line.index(after: colon)...])
        guard let cost = cost(hash) else { throw .scheme(scheme(hash)) }
        guard costs.contains(cost) else { throw .tooCostly(cost) }
        return (String(line[..<colon]), hash)
    }

    /// The cost of a bcrypt hash (`$2y$05$` and 53 characters); nil for anything else.
    private static func cost(_ hash: String) -> Int? {
        let bytes = Array(hash.utf8)
        guard bytes.count == 60, ["$2y$", "$2b$", "$2a$"].contains(String(hash.prefix(4))), bytes[6] == 0x24,
            ASCII.isDigit(bytes[4]), ASCII.isDigit(bytes[5]),
            bytes[7...].allSatisfy({ ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == 0x2E || $0 == 0x2F })
        else { return nil }
        let cost = Int(bytes[4] - 0x30) * 10 + Int(bytes[5] - 0x30)
        return (4...31).contains(cost) ? cost : nil
    }

    private static func scheme(_ hash: String) -> String {
        let known = [
            ("$2", "bcrypt, but damaged"), ("$apr1$", "MD5 of Apache"), ("$1$", "MD5"), ("{SHA}", "SHA-1"),
            ("{SSHA}", "salted SHA-1"), ("$5$", "SHA-256"), ("$6$", "SHA-512"), ("$y$", "yescrypt"),
            ("$argon2", "Argon2"),
        ]
        return known.first { hash.hasPrefix($0.0) }?.1 ?? "plain text or crypt"
    }

    /// The hash to check a user's password against; nil if there are no users.
    public func hash(of user: String) -> (text: String, isDecoy: Bool)? {
        if let hash = hashes[user] { return (hash, false) }
        guard !decoys.isEmpty else { return nil }
        return (decoys[Int(UInt(bitPattern: user.hashValue) % UInt(decoys.count))], true)
    }
}

/// A password check, which runs outside the core because it is slow.
public struct PasswordCheck: Sendable {
    /// The flow of the waiting request (`ExchangeRecord.flow`).
    public var flow: UInt64
    public var user: String
    public var password: [UInt8]
    public var hash: String
    /// True for an unknown user: the check takes its time and fails.
    public var isDecoy: Bool
    /// The client that a wrong guess is counted against.
    public var client: IPAddress?

    public init(flow: UInt64, user: String, password: [UInt8], hash: String, isDecoy: Bool, client: IPAddress?) {
        self.flow = flow
        self.user = user
        self.password = password
        self.hash = hash
        self.isDecoy = isDecoy
        self.client = client
    }
}

/// The result of a password check.
public enum PasswordVerdict: Equatable, Sendable {
    case right, wrong
    /// That network or user made too many wrong guesses; the next is allowed after so many milliseconds.
    case tooMany(wait: Int)
    /// The queue of checks is full.
    case busy
}
