/// Gathers, over one load, what references were filled in with. A class, for every part of the loader adds to it; it never
/// leaves the load that made it.
final class SecretCollector {
    private(set) var texts: [String] = []

    func keep(_ text: String) {
        if !texts.contains(text) { texts.append(text) }
    }
}
