internal import Addresses
internal import Formats
internal import HTTPCodec
internal import Interception

/// A glob over a whole URL, taken apart once so that its host matches hosts alone: in `https://*.example.com/*` the
/// first star does not reach into the path, or another host could make itself protected by a path of that ending.
struct URLPattern: Sendable {
    /// Scheme and authority; nil for a glob that names neither (`*`, `*/api/*`) and is held against the whole URL.
    private var origin: (scheme: [UInt8], authority: [UInt8])?
    /// The rest of the URL from its first slash, or the whole of it.
    private var rest: [UInt8]
    /// What its query demands; nothing where it has none.
    private let demand: QueryDemand

    init(_ glob: String) {
        let bytes = Array(glob.utf8)
        demand = QueryDemand(bytes.drop { $0 != 0x3F }.dropFirst())
        guard let colon = bytes.firstIndex(of: ASCII.colon), bytes[(colon + 1)...].starts(with: [0x2F, 0x2F]) else {
            rest = bytes
            return
        }
        let scheme = Array(bytes[..<colon])
        let after = bytes[(colon + 3)...]
        let end = after.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? after.endIndex
        var authority = Array(HostName.normalized(authority: Self.text(Array(after[..<end]))).utf8)
        for (name, port) in [("http", ":80"), ("https", ":443")] where ASCII.equal(Self.text(scheme), name) {
            if authority.reversed().starts(with: port.utf8.reversed()) { authority.removeLast(port.utf8.count) }
        }
        rest = Array(after[end...])
        if rest.first != 0x2F {
            // a glob that ends in its authority covers what its last star covers, or the host's root
            rest = rest.isEmpty && authority.last == 0x2A ? [0x2A] : [0x2F] + rest
        }
        origin = (scheme, authority)
    }

    /// Scheme and host compare without regard to case. The path fits where it does in whichever way a server may read it.
    func matches(_ url: URLParts) -> Bool {
        isOrigin(of: url)
            && PathReading.all(of: url.path) { reading in
                reading.endings(of: url.path).allSatisfy { fits(url, $0, reading) }
            }
    }

    /// It may cover something at that place.
    /// - Parameter scheme: nil for any.
    func mayCover(_ scheme: Target.Scheme?, _ host: String, port: UInt16) -> Bool {
        guard let origin else { return true }
        return [Target.Scheme.http, .https].contains { one in
            (scheme == nil || scheme == one) && Glob.matches(origin.scheme, Array(one.name.utf8), ignoringCase: true)
                && Glob.matches(origin.authority, URLParts.authority(one, host, port), ignoringCase: true)
        }
    }

    /// It may cover something at that port, whatever the host is called: what the glob has behind its last `*` does not say otherwise.
    func mayCover(port: UInt16) -> Bool {
        guard let authority = origin?.authority else { return true }
        let tail = authority.split(separator: 0x2A, omittingEmptySubsequences: false).last ?? []
        let isOpen = tail.count < authority.count
        return [Target.Scheme.http, .https].contains { scheme in
            guard Glob.matches(origin?.scheme ?? [], Array(scheme.name.utf8), ignoringCase: true) else { return false }
            let written = port == scheme.defaultPort ? [] : Array(":\(port)".utf8)
            if isOpen, written.reversed().starts(with: tail.reversed()) { return true }
            let end = tail.lastIndex(of: ASCII.colon).map { tail[$0...].contains(0x5D) ? tail.endIndex : $0 }
            return tail[(end ?? tail.endIndex)...].elementsEqual(written)
        }
    }

    /// The request fits in one of the ways at least in which a server may read it; some do not tell upper from lower case.
    /// Path and query are apart: the path fits whatever the query is, but for the parameters that the glob demands.
    func mayMatch(_ url: URLParts) -> Bool {
        isOrigin(of: url)
            && !PathReading.all(of: url.path) { reading in
                !reading.endings(of: url.path).contains {
                    fits(url, $0, reading, ignoringCase: true) || mayFit(url, $0, reading)
                }
            }
    }

    /// - Parameter path: of the URL, in that reading.
    private func mayFit(_ url: URLParts, _ path: [UInt8], _ reading: PathReading) -> Bool {
        let glob = Array(rest.prefix { $0 != 0x3F })
        let start = origin == nil ? url.start : []
        let wanted = origin == nil ? reading.decoded(glob) : reading.applied(to: glob)
        return Glob.matches(wanted, start + path, ignoringCase: true)
            && demand.isMet(by: url.hiddenQuery + [0x26] + url.query.dropFirst())
    }

    private func isOrigin(of url: URLParts) -> Bool {
        guard let origin else { return true }
        return Glob.matches(origin.scheme, url.scheme, ignoringCase: true)
            && Glob.matches(origin.authority, url.authority, ignoringCase: true)
    }

    /// - Parameter path: of the URL, in that reading.
    private func fits(
        _ url: URLParts, _ path: [UInt8], _ reading: PathReading, ignoringCase: Bool = false
    ) -> Bool {
        guard origin != nil else {
            return Glob.matches(reading.decoded(rest), url.start + path + url.query, ignoringCase: ignoringCase)
        }
        let split = rest.firstIndex(of: 0x3F) ?? rest.endIndex
        let wanted = reading.applied(to: Array(rest[..<split]))
        return Glob.matches(wanted + rest[split...], path + url.query, ignoringCase: ignoringCase)
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// The URL of a request as patterns are held against it: a port that is the scheme's own counts as unwritten, an empty
/// path as `/`.
struct URLParts {
    var scheme: [UInt8]
    var authority: [UInt8]
    var path: [UInt8]
    /// With its question mark.
    var query: [UInt8]

    init(_ head: RequestHead) {
        let target = head.target
        scheme = Array(target.scheme.name.utf8)
        authority = Self.authority(target.scheme, head.host, target.port)
        path = Array(head.fields.bytes[target.path.indices])
        if path.first != 0x2F { path.insert(0x2F, at: 0) }
        query = Array(head.fields.bytes[target.pathAndQuery.indices].dropFirst(target.path.indices.count))
    }

    /// What stands behind a question mark that is encoded in the path.
    var hiddenQuery: [UInt8] {
        let plain = PercentCoding.decodeBytes(
            PercentCoding.decodeBytes(path, plusAsSpace: false), plusAsSpace: false)
        return Array(plain.drop { $0 != 0x3F }.dropFirst())
    }

    /// What stands before its path.
    var start: [UInt8] { scheme + [0x3A, 0x2F, 0x2F] + authority }

    static func authority(_ scheme: Target.Scheme, _ host: String, _ port: UInt16) -> [UInt8] {
        var authority = Array(host.utf8)
        if authority.contains(ASCII.colon) { authority = [0x5B] + authority + [0x5D] }
        if port != scheme.defaultPort { authority += ":\(port)".utf8 }
        return authority
    }
}
