/// A request's body that goes to the origin slower than it comes.
final class PacedRequest {
    var bytes: PacedBytes
    /// All of it has come.
    var isWhole: Bool

    init(rate: Int, _ bytes: [UInt8], isWhole: Bool, now: Int) {
        self.bytes = PacedBytes(rate: rate, bytes, now: now)
        self.isWhole = isWhole
    }
}
