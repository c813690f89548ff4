public import Addresses
internal import Formats

/// The address of a flow's client.
extension PackedFlow {
    /// The address; nil for calls without a client.
    public var address: IPAddress? {
        addressRange.flatMap { IPAddress(String(decoding: bytes[$0], as: UTF8.self)) }
    }

    /// Its range in `bytes` without port and brackets: `127.0.0.1:49152`, `[::1]:49152`.
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
