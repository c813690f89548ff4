internal import Addresses
internal import Interception
public import TLSEngine

/// Compares entries with each other, for the checks of a configuration.
extension DestinationPattern {
    /// This entry matches everything that the other matches. False if that cannot be decided.
    public func covers(_ other: DestinationPattern) -> Bool {
        guard port == nil || port == other.port else { return false }
        switch (subject, other.subject) {
        // a glob that matches another glob as text matches all of its hosts
        case (.host(let glob), .host(let text)): return Glob.matches(glob, text)
        case (.host("*"), _): return true
        case (.host(let glob), .block(let block)): return block.isSingle && Glob.matches(glob, block.base.description)
        case (.block(let block), .block(let inner)): return block.contains(inner)
        case (.block(let block), .group(let group)): return group.blocks.allSatisfy(block.contains)
        case (.group(let group), .block(let block)): return group.contains(block)
        case (.group(let group), .group(let other)): return group == other
        case (.host, .group), (.block, .host), (.group, .host): return false
        }
    }

    /// The narrowest entry of `tls.ca.constrain_to` that permits every host of this one: `staging.example.com` for
    /// `*.staging.example.com:443`. Nil if no single entry does.
    public var constraint: String? {
        switch subject {
        case .host(let glob):
            guard let star = glob.lastIndex(of: "*") else { return glob }
            // only whole labels count: *ging.example.com also matches hosts under example.com
            guard let dot = glob[star...].firstIndex(of: ".") else { return nil }
            let domain = glob[glob.index(after: dot)...]
            return domain.isEmpty ? nil : String(domain)
        case .block(let block):
            return block.isSingle ? block.base.description : "\(block.base)/\(block.prefix)"
        case .group: return nil
        }
    }

    /// A CA that is limited to these names may issue certificates for every host of this entry.
    public func isPermitted(by constraints: NameConstraints) -> Bool {
        switch subject {
        case .host: return constraint.map(constraints.permits) ?? false
        case .block(let block): return Self.holds(constraints, block)
        case .group(let group): return group.blocks.allSatisfy { Self.holds(constraints, $0) }
        }
    }

    private static func holds(_ constraints: NameConstraints, _ block: AddressBlock) -> Bool {
        constraints.entries.contains { AddressBlock($0)?.contains(block) == true }
    }
}
