/// A request's body that goes to the origin at a limited rate.
final class PacedRequest {
    var bytes: PacedBytes
    /// The whole body has come.
    var isWhole: Bool

    init(rate: Int, _ bytes: [UInt8], isWhole: Bool, now: Int) {
        self.bytes = PacedBytes(rate: rate, bytes, now: now)
        self.isWhole = isWhole
    }
}
