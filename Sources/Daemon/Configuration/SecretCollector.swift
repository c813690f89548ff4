/// Collects the values of secrets during one load. A class, because every part of the loader adds to it; it is not used
/// afterwards.
final class SecretCollector {
    private(set) var texts: [String] = []
    private var missing: [String] = []

    func keep(_ text: String) {
        if !texts.contains(text) { texts.append(text) }
    }

    /// A stand-in for a missing secret. Each secret has its own, so that two are not mistaken for the same.
    /// - Parameter what: the secret, and why it is missing.
    /// - Returns: the stand-in, and whether this is the first reference to the secret.
    func standIn(for what: String) -> (text: String, isFirst: Bool) {
        let known = missing.firstIndex(of: what)
        if known == nil { missing.append(what) }
        let number = known ?? missing.count - 1
        func letter(_ value: Int) -> Character { Character(UnicodeScalar(UInt8(0x41 + value % 26))) }
        return ("STANDIN\(letter(number / 26))\(letter(number))", known == nil)
    }
}
