public import Declaration
import Formats
public import HTTPCodec

/// `remove_header`. Names may be globs. A glob never matches Host or the fields that the proxy writes itself. Host by name is
/// refused, because every request needs it.
public struct RemoveHeader: RequestEdit, ResponseEdit {
    public static let name = "remove_header"
    public static let doc = "Removes headers by name or glob."
    public static let shape = Shape.namesOrGlobs

    public let names: [String]

    public init(_ names: [String]) { self.names = names }

    public init(_ value: Decoded, _ reader: RuleReader) {
        for item in value.list where item.text.map(HeaderRules.isWritable) == false {
            reader.findings.warning(
                item.position,
                "\(item.written) frames a message or concerns one connection, so Usher writes it itself and it is never removed; remove it here"
            )
        }
        for item in value.list where item.text.map({ ASCII.equal($0, "host") }) == true {
            reader.findings.error(
                item.position, "every request needs Host, so it cannot be removed; set_host changes it")
        }
        self.init(reader.names(value))
    }

    public func apply(to head: inout RequestHead) -> EditEffect { remove(from: &head.fields) }
    public func apply(to head: inout ResponseHead) -> EditEffect { remove(from: &head.fields) }

    private func remove(from fields: inout FieldTable) -> EditEffect {
        .changed(
            names.map { name in
                guard HeaderRules.isWritable(name) else { return HeaderEdit.ignored(name) }
                let count =
                    Glob.isGlob(name)
                    ? fields.removeAll { table, index in
                        let found = table.name(index)
                        return Glob.matches(name, found, ignoringCase: true) && HeaderRules.isWritable(found)
                            && table.slots[index].known != .host
                    } : fields.remove(named: name)
                return HeaderEdit.removed(count, "header \(name)")
            })
    }
}
