/// The aliases in a text, to be filled in.
public enum AliasList {
    /// - Returns: each alias with the name of its value, if the text gives one.
    public static func of(_ text: some Collection<UInt8>) -> [(alias: String, name: String)] {
        AliasScan(text).places.map { ($0.alias.text, $0.name) }
    }
}
