/// The aliases in a text, for whoever has to fill them in.
public enum AliasList {
    /// - Returns: each alias, and what it is the value of where the text says so.
    public static func of(_ text: some Collection<UInt8>) -> [(alias: String, name: String)] {
        AliasScan(text).places.map { ($0.alias.text, $0.name) }
    }
}
