/// Text in HTML and XML.
public enum MarkupText {
    /// Replaces markup characters by character references, for content and quoted attributes.
    /// - Parameter more: further ASCII characters to replace.
    public static func escaped(_ text: some StringProtocol, and more: String = "") -> String {
        var out: [UInt8] = []
        out.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case 0x26: out += "&amp;".utf8
            case 0x3C: out += "&lt;".utf8
            case 0x3E: out += "&gt;".utf8
            case 0x22: out += "&quot;".utf8
            case 0x27: out += "&#39;".utf8
            case _ where more.utf8.contains(byte): out += "&#\(byte);".utf8
            default: out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
