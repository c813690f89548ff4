internal import Formats

/// A place in JSON: what the names on the way to it say of its value.
struct JSONPlace {
    /// The part that a name plays beside others.
    enum Role {
        case type, input, output, value
        /// Names the `value` beside it, directly or by a path.
        case caller, path
        /// The type of a JWK (RFC 7517), and a member of it that may be private.
        case keyType, privateMember
        /// The ids of transactions.
        case transaction
        case other
    }

    /// A hash of all names and numbers. Places with the same path are judged together.
    var path = 0
    /// The role of the last name that is no number.
    var role = Role.other
    /// The path of the object with that name.
    var owner = 0
    /// True for an item, and for a member whose name is a number.
    var isItem = false
    /// True below `callbacks`.
    var isListed = false
    /// The path of the object whose `output` this is.
    var outputOwner: Int?
    /// True for the ids of transactions, also in a list or an object.
    var isTransaction = false
    /// The meaning by the names, and the one that holds for everything inside too.
    var named: SecretMeaning?
    var namedBelow: SecretMeaning?
    /// The meaning by other members of an object on the way.
    var told: SecretMeaning?
    /// True for a `value` whose object is cut off.
    var isCut = false
    /// The kind of an answer to a callback, with an inner nil for no secret; nil for other places.
    var answer: SecretKind??

    /// What its value is; nil if it is no secret.
    var meaning: SecretMeaning? {
        isTransaction ? .secret(.transaction) : told ?? (isCut ? .secret(.secret) : named)
    }

    /// The whole text.
    init() {}

    init(item number: Int, in parent: JSONPlace) {
        self = parent
        path = (parent.path ^ (number &+ 1)) &* 0x9E37_79B9_7F4A_7C1
        isItem = true
    }

    init(member name: ArraySlice<UInt8>, in parent: JSONPlace) {
        self = parent
        var hasher = Hasher()
        hasher.combine(parent.path)
        name.prefix(Self.longestName).withUnsafeBytes { hasher.combine(bytes: $0) }
        path = hasher.finalize()
        isItem = name.allSatisfy(ASCII.isDigit)
        guard !isItem else { return }
        role = Self.role(of: name)
        owner = parent.path
        isTransaction = role == .transaction || parent.role == .transaction
        if role == .output { outputOwner = owner }
        if name.count == Self.list.count, name.elementsEqual(Self.list, by: { ASCII.lower($0) == $1 }) {
            isListed = true
        }
    }

    /// The part of a name that tells it apart.
    static let longestName = 64
    private static let list = Array("callbacks".utf8)
    private static let transaction = MessageRedactor.transactionAdvice
    private static let roles: [(name: UInt64, role: Role)] = {
        let others: [(String, Role)] = [
            ("type", .type), ("input", .input), ("output", .output), ("value", .value), ("name", .caller),
            ("key", .caller), ("id", .caller), ("field", .path), ("path", .path), ("kty", .keyType),
        ]
        return (others + SecretNames.privateMembers.map { ($0, .privateMember) }).map { (packed($0.0.utf8), $0.1) }
    }()

    private static func packed(_ name: some Sequence<UInt8>) -> UInt64 { name.reduce(0) { $0 << 8 | UInt64($1) } }

    private static func role(of name: ArraySlice<UInt8>) -> Role {
        guard name.count <= 6 else { return name.elementsEqual(transaction) ? .transaction : .other }
        let packed = packed(name)
        return roles.first { $0.name == packed }?.role ?? .other
    }
}

/// The way from the beginning of a JSON text to where it is being read.
struct JSONWay {
    private(set) var places = [JSONPlace()]

    var last: JSONPlace { places[places.count - 1] }

    /// Goes on to a member or an item, or back.
    /// - Parameter judge: adds to a member what is known of it.
    /// - Returns: the value that was met, and whether it is a string.
    mutating func follow(
        _ step: JSONText.Step, _ judge: (inout JSONPlace, ArraySlice<UInt8>, _ parent: JSONPlace) -> Void
    ) -> (value: ArraySlice<UInt8>, isText: Bool)? {
        switch step {
        case .member(let name):
            var place = JSONPlace(member: name, in: last)
            judge(&place, name, last)
            places.append(place)
        case .item(let number): places.append(JSONPlace(item: number, in: last))
        case .end: places.removeLast()
        case .text(let value): return (value, true)
        case .number(let value): return (value, false)
        }
        return nil
    }
}
