public import Addresses
internal import Formats

/// Where a flow's client is.
extension PackedFlow {
    /// Its address; nil for calls that no client waits for.
    public var address: IPAddress? {
        addressRange.flatMap { IPAddress(String(decoding: bytes[$0], as: UTF8.self)) }
    }

    /// Where that stands in `bytes`, without port and brackets: `127.0.0.1:49152`, `[::1]:49152`.
    var addressRange: Range<Int>? {
        var address = range(of: .client)
        while let last = address.last, ASCII.isDigit(bytes[last]) { address.removeLast() }
        guard let colon = address.last, bytes[colon] == ASCII.colon else { return nil }
        address.removeLast()
        guard let first = address.first, let last = address.last, bytes[first] == 0x5B, bytes[last] == 0x5D else {
            return address
        }
        return first + 1..<last
    }
}
