internal import Formats

/// The members of a JSON object from a script, read strictly.
struct ScriptFields {
    private let members: [JSONValue.Member]
    private let owner: String

    init(_ text: ArraySlice<UInt8>, _ owner: String) throws(FrameFault) {
        let value: JSONValue
        do throws(JSONFault) {
            value = try JSONValue(parsing: text.span)
        } catch {
            throw FrameFault(words: "\(owner) is no JSON (byte \(error.offset))")
        }
        try self.init(value, owner)
    }

    init(_ value: JSONValue?, _ owner: String) throws(FrameFault) {
        guard let members = value?.members else { throw FrameFault(words: "\(owner) is no JSON object") }
        self.members = members
        self.owner = owner
    }

    subscript(_ name: String) -> JSONValue? { members.last { $0.name == name }?.value }

    func accept(_ names: [String]) throws(FrameFault) {
        for member in members where !names.contains(member.name) {
            let shown = String(member.name.unicodeScalars.prefix(40).filter { !$0.steers }.map(Character.init))
            throw FrameFault(
                words: "\(owner) has the unknown member \"\(shown)\"; known: \(names.joined(separator: ", "))")
        }
    }

    func text(_ name: String) throws(FrameFault) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.text else { throw FrameFault(words: "\(name) of \(owner) is no text") }
        return text
    }

    func integer(_ name: String) throws(FrameFault) -> Int? {
        guard let value = self[name] else { return nil }
        guard let number = value.integer else { throw FrameFault(words: "\(name) of \(owner) is no whole number") }
        return number
    }

    func list(_ name: String) throws(FrameFault) -> [JSONValue]? {
        guard let value = self[name] else { return nil }
        guard let items = value.items else { throw FrameFault(words: "\(name) of \(owner) is no list") }
        return items
    }

    func object(_ name: String) throws(FrameFault) -> ScriptFields? {
        guard let value = self[name] else { return nil }
        return try ScriptFields(value, name)
    }

    /// Texts by name.
    func texts(_ name: String) throws(FrameFault) -> [String: String]? {
        guard let members = try object(name)?.members else { return nil }
        var texts: [String: String] = [:]
        for member in members {
            guard let text = member.value.text else { throw FrameFault(words: "\(name) has a value that is no text") }
            texts[member.name] = text
        }
        return texts
    }

    /// Bytes in base64.
    func bytes(_ name: String) throws(FrameFault) -> [UInt8]? {
        guard let text = try text(name) else { return nil }
        guard let bytes = Base64.decode(text) else { throw FrameFault(words: "\(name) of \(owner) is no base64") }
        return bytes
    }
}
