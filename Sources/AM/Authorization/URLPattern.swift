internal import Addresses
internal import Formats
internal import HTTPCodec
internal import Interception

/// A glob for whole URLs, split once so that its host part matches hosts only. In `https://*.example.com/*` the first star cannot
/// match into the path, so another host cannot match by its path.
struct URLPattern: Sendable {
    /// The scheme and authority; nil for a glob without them (`*`, `*/api/*`), which is matched against the whole URL.
    private var origin: (scheme: [UInt8], authority: [UInt8])?
    /// The rest of the URL from its first slash, or all of it.
    private var rest: [UInt8]
    /// The parameters that its query requires.
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
            // a glob that ends in its authority covers the match of its last star, or the host's root
            rest = rest.isEmpty && authority.last == 0x2A ? [0x2A] : [0x2F] + rest
        }
        origin = (scheme, authority)
    }

    /// Whether the URL matches. Scheme and host ignore case. The path has to match in every reading of a server.
    func matches(_ url: URLParts) -> Bool {
        isOrigin(of: url)
            && PathReading.all(of: url.path) { reading in
                reading.endings(of: url.path).allSatisfy { fits(url, $0, reading) }
            }
    }

    /// Whether it may match some URL at that place.
    /// - Parameter scheme: nil for any.
    func mayCover(_ scheme: Target.Scheme?, _ host: String, port: UInt16) -> Bool {
        guard let origin else { return true }
        return [Target.Scheme.http, .https].contains { one in
            (scheme == nil || scheme == one) && Glob.matches(origin.scheme, Array(one.name.utf8), ignoringCase: true)
                && Glob.matches(origin.authority, URLParts.authority(one, host, port), ignoringCase: true)
        }
    }

    /// Whether it may match some URL at that port, on any host. Only the text after the last `*` can exclude a port.
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

    /// Whether the URL matches in some reading of a server; some ignore case. The path is matched without the query, apart from
    /// required parameters.
    func mayMatch(_ url: URLParts) -> Bool {
        isOrigin(of: url)
            && !PathReading.all(of: url.path) { reading in
                !reading.endings(of: url.path).contains {
                    fits(url, $0, reading, ignoringCase: true) || mayFit(url, $0, reading)
                }
            }
    }

    /// - Parameter path: the URL's path in this reading.
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

    /// - Parameter path: the URL's path in this reading.
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

/// A request's URL for matching: a default port counts as absent, an empty path as `/`.
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

    /// The text after an encoded question mark in the path.
    var hiddenQuery: [UInt8] {
        let plain = PercentCoding.decodeBytes(
            PercentCoding.decodeBytes(path, plusAsSpace: false), plusAsSpace: false)
        return Array(plain.drop { $0 != 0x3F }.dropFirst())
    }

    /// The part before the path.
    var start: [UInt8] { scheme + [0x3A, 0x2F, 0x2F] + authority }

    static func authority(_ scheme: Target.Scheme, _ host: String, _ port: UInt16) -> [UInt8] {
        var authority = Array(host.utf8)
        if authority.contains(ASCII.colon) { authority = [0x5B] + authority + [0x5D] }
        if port != scheme.defaultPort { authority += ":\(port)".utf8 }
        return authority
    }
}
