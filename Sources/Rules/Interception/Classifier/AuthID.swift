internal import Formats

/// The `authId` of an authenticate call: the handle of a running tree (docs/protocol.md#trees-and-types).
enum AuthID {
    /// The non-empty string member `authId` of a JSON object.
    static func find(in body: [UInt8]) -> String? {
        guard let text = (try? JSONValue.member("authId", of: body.span))??.text, !text.isEmpty else { return nil }
        return text
    }

    /// The payload in the claims of AM's JWT; nil if it is no such JWT. The signature is not checked, because the result is only
    /// a label for rules.
    static func payload(_ authId: String) -> ActionPayload? {
        let parts = authId.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(Substring(parts[1])),
            let claims = try? JSONValue(parsing: bytes)
        else {
            return nil
        }
        if let type = claims["authIndexType"]?.text, !type.isEmpty {
            return ActionPayload(tree: claims["authIndexValue"]?.text.map(unescape), type: type)
        }
        // a JWT without index claims belongs to the default tree, if the claims that AM always writes are present
        guard claims["otk"] != nil || claims["sessionId"] != nil || claims["realm"] != nil else { return nil }
        return ActionPayload(tree: nil, type: "service")
    }

    /// Decodes the Java string escapes in AM's claims. Other backslashes stay.
    static func unescape(_ text: String) -> String {
        guard text.utf8.contains(0x5C) else { return text }
        var units: [UInt16] = []
        var rest = text.utf16[...]
        while let unit = rest.popFirst() {
            guard unit == 0x5C, let next = rest.first else {
                units.append(unit)
                continue
            }
            if let plain = simpleEscapes[next] {
                units.append(plain)
                rest = rest.dropFirst()
            } else if next == 0x75, let value = hex4(rest.dropFirst().prefix(4)) {
                units.append(value)
                rest = rest.dropFirst(5)
            } else {
                units.append(unit)
            }
        }
        return String(decoding: units, as: UTF16.self)
    }

    private static let simpleEscapes: [UInt16: UInt16] = [
        0x22: 0x22, 0x27: 0x27, 0x2F: 0x2F, 0x5C: 0x5C, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09,
    ]

    private static func hex4(_ digits: Substring.UTF16View) -> UInt16? {
        guard digits.count == 4 else { return nil }
        var value: UInt16 = 0
        for digit in digits {
            guard digit < 128, let part = ASCII.hexValue(UInt8(digit)) else { return nil }
            value = value << 4 | UInt16(part)
        }
        return value
    }
}
