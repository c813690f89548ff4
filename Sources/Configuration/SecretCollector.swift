/// Gathers, over one load, what references were filled in with. A class, for every part of the loader adds to it; it never
/// leaves the load that made it.
final class SecretCollector {
    private(set) var texts: [String] = []
    private var missing: [String] = []

    func keep(_ text: String) {
        if !texts.contains(text) { texts.append(text) }
    }

    /// What stands in for a secret that is missing: for each another text, so that two of them are not taken for one.
    /// - Parameter what: which one, and why.
    /// - Returns: also whether it is the first place that asks for it.
    func standIn(for what: String) -> (text: String, isFirst: Bool) {
        let known = missing.firstIndex(of: what)
        if known == nil { missing.append(what) }
        let number = known ?? missing.count - 1
        func letter(_ value: Int) -> Character { Character(UnicodeScalar(UInt8(0x41 + value % 26))) }
        return ("STANDIN\(letter(number / 26))\(letter(number))", known == nil)
    }
}
