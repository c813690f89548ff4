public import Addresses
internal import Formats
internal import Interception

/// One entry of `destinations.allow` or `destinations.deny`: `*`, a host or host glob, `host:port`, an address, a CIDR
/// block or a group's name.
public struct DestinationPattern: Equatable, Sendable, CustomStringConvertible {
    enum Subject: Equatable, Sendable {
        /// A normalized host, or a glob over one.
        case host(String)
        case block(AddressBlock)
        case group(AddressGroup)
    }

    let subject: Subject
    /// The port; nil for every port.
    let port: UInt16?
    /// The entry as written in the configuration.
    public let description: String

    /// Nil if the text has none of these forms.
    public init?(_ text: String) {
        description = text
        if let group = AddressGroup(rawValue: text) {
            subject = .group(group)
            port = nil
            return
        }
        if let block = AddressBlock(text) {
            subject = .block(block)
            port = nil
            return
        }
        guard let (host, port) = Self.split(text), !host.isEmpty else { return nil }
        self.port = port
        if let address = IPAddress(host) {
            subject = .block(AddressBlock(address))
        } else {
            // excludes texts that no host name can be
            guard host.utf8.allSatisfy({ ASCII.isUnreserved($0) || $0 == 0x2A }), !IPAddress.isLookalike(host)
            else { return nil }
            subject = .host(HostName.normalized(host))
        }
    }

    /// Splits `host`, `host:port`, `[v6]` and `[v6]:port`.
    private static func split(_ text: String) -> (host: String, port: UInt16?)? {
        var host = text[...]
        var port: UInt16?
        if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
            let digits = text[text.index(after: colon)...]
            guard digits.utf8.allSatisfy(ASCII.isDigit), let number = UInt16(digits), number > 0 else { return nil }
            port = number
            host = text[..<colon]
        }
        if host.hasPrefix("[") {
            guard host.hasSuffix("]"), let address = IPAddress(host.dropFirst().dropLast()), address.family == .v6
            else { return nil }
            return (String(host.dropFirst().dropLast()), port)
        }
        return host.contains(":") ? nil : (String(host), port)
    }

    /// The entry matches the requested name, not the address that it resolves to.
    var judgesName: Bool { if case .host = subject { true } else { false } }

    /// The entry matches the host.
    /// - Parameters:
    ///   - host: lower case, an address without brackets.
    ///   - address: the host as an address, if it is one.
    public func covers(_ host: String, port: UInt16, address: IPAddress?) -> Bool {
        rank(host: host, port: port, address: address) != nil
    }

    /// How closely the entry matches; nil if it does not. `address` is nil before resolution.
    func rank(host: String, port: UInt16, address: IPAddress?) -> Specificity? {
        guard self.port == nil || self.port == port else { return nil }
        switch subject {
        case .host(let pattern):
            return Glob.matches(pattern, host) ? specificity : nil
        case .block(let block):
            guard let address, block.contains(address) else { return nil }
            return Specificity(block, hasPort: self.port != nil)
        case .group(let group):
            guard let address else { return nil }
            return group.blocks.filter { $0.contains(address) }.map { Specificity($0, hasPort: false) }.max()
        }
    }

    /// The closest match that the entry can have.
    var specificity: Specificity? {
        switch subject {
        case .host(let pattern): Specificity(host: pattern, hasPort: port != nil)
        case .block(let block): Specificity(block, hasPort: port != nil)
        case .group(let group): group.blocks.map { Specificity($0, hasPort: false) }.max()
        }
    }
}

/// Decides between two matching entries. A single host or address beats a block, a longer prefix a shorter one, and any block a
/// host glob, as a name's owner chooses its address. A longer glob beats a shorter one. Among equals, one with a port wins.
struct Specificity: Comparable, Sendable {
    private enum Level: Int { case glob, block, single }

    private let level: Level
    private let detail: Int
    private let hasPort: Bool

    init(host pattern: String, hasPort: Bool) {
        level = Glob.isGlob(pattern) ? .glob : .single
        detail = level == .glob ? pattern.utf8.count { $0 != 0x2A } : 0
        self.hasPort = hasPort
    }

    init(_ block: AddressBlock, hasPort: Bool) {
        level = block.isSingle ? .single : .block
        detail = block.isSingle ? 0 : block.prefix
        self.hasPort = hasPort
    }

    private var key: (Int, Int, Int) { (level.rawValue, detail, hasPort ? 1 : 0) }

    static func < (left: Specificity, right: Specificity) -> Bool { left.key < right.key }
}
