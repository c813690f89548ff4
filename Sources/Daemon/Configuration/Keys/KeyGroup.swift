internal import Declaration
internal import Formats

/// The keys of an object, each with the property of `Value` that it sets. The initial values of the properties are the defaults.
struct KeyGroup<Value: Sendable>: Sendable {
    typealias Path<Part> = any WritableKeyPath<Value, Part> & Sendable

    /// A key, its default and what it sets.
    struct Entry: Sendable {
        fileprivate var key: Key
        fileprivate var standard: @Sendable (Value) -> String?
        fileprivate var set: @Sendable (Decoded, inout Value) -> Void
    }

    let keys: [Key]
    private let initial: Value
    private let entries: [Entry]

    init(_ initial: Value, _ entries: Entry...) {
        self.initial = initial
        self.entries = entries
        keys = entries.map { entry in
            var key = entry.key
            if let standard = entry.standard(initial) { key.standard = standard }
            return key
        }
    }

    /// The values of the keys, and the defaults of those that are absent.
    func value(_ fields: Fields?) -> Value {
        var value = initial
        set(fields, in: &value)
        return value
    }

    func shape(_ name: String) -> ObjectShape { ObjectShape(name, keys) }

    func set(_ fields: Fields?, in value: inout Value) {
        for field in fields?.all ?? [] { entries.first { $0.key.name == field.name }?.set(field.value, &value) }
    }
}

extension KeyGroup.Entry {
    private init<Part: Sendable>(
        _ key: Key, _ path: KeyGroup.Path<Part>, _ read: @escaping @Sendable (Decoded) -> Part?,
        _ spell: @escaping @Sendable (Part) -> String?
    ) {
        self.key = key
        standard = { spell($0[keyPath: path]) }
        set = { written, value in
            if let part = read(written) { value[keyPath: path] = part }
        }
    }

    /// A key that its builder reads.
    static func key(_ key: Key) -> Self { Self(key: key, standard: { _ in nil }, set: { _, _ in }) }

    static func key(
        _ name: String, _ shape: Shape, _ doc: String, standard: String? = nil, isRequired: Bool = false
    ) -> Self {
        key(Key(name, shape, doc, standard: standard, isRequired: isRequired))
    }

    /// A key whose value `read` converts; its nil leaves the initial value.
    static func key<Part: Sendable>(
        _ name: String, _ path: KeyGroup.Path<Part>, _ shape: Shape, _ doc: String, standard: String? = nil,
        isRequired: Bool = false, _ read: @escaping @Sendable (Decoded) -> Part?
    ) -> Self {
        Self(Key(name, shape, doc, standard: standard, isRequired: isRequired), path, read, { _ in nil })
    }

    static func flag(_ name: String, _ path: KeyGroup.Path<Bool>, _ doc: String) -> Self {
        Self(Key(name, .boolean, doc), path, { $0.flag }, { "\($0)" })
    }

    static func number(_ name: String, _ path: KeyGroup.Path<Int>, _ shape: Shape, _ doc: String) -> Self {
        Self(Key(name, shape, doc), path, { $0.number }, { shape.spelled($0) })
    }

    static func number(_ name: String, _ path: KeyGroup.Path<Int?>, _ shape: Shape, _ doc: String) -> Self {
        Self(Key(name, shape, doc), path, { $0.number }, { $0.map(shape.spelled) })
    }

    static func choice<Word: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ path: KeyGroup.Path<Word>, _ doc: String
    ) -> Self {
        Self(
            Key(name, .choice(Word.allCases.map(\.rawValue)), doc), path,
            { $0.text.flatMap(Word.init) }, { spelled($0.rawValue) })
    }

    static func text(_ name: String, _ path: KeyGroup.Path<String>, _ format: TextFormat, _ doc: String) -> Self {
        Self(Key(name, .text(format), doc), path, { $0.text }, { spelled($0) })
    }

    static func text(_ name: String, _ path: KeyGroup.Path<String?>, _ format: TextFormat, _ doc: String) -> Self {
        Self(Key(name, .text(format), doc), path, { $0.text }, { $0.map(spelled) })
    }

    static func texts(_ name: String, _ path: KeyGroup.Path<[String]>, _ format: TextFormat, _ doc: String) -> Self {
        Self(
            Key(name, .oneOrMany(.text(format)), doc), path, { $0.list.compactMap(\.text) },
            { "[\($0.map { JSONValue.string($0).serialized }.joined(separator: ", "))]" })
    }

    /// The text in quotes if YAML would read something else.
    private static func spelled(_ text: String) -> String {
        let value = JSONValue.string(text)
        return Schema.json(text) == value ? text : value.serialized
    }
}

extension Shape {
    /// A number with the unit of this shape.
    fileprivate func spelled(_ number: Int) -> String {
        switch self {
        case .duration: number == 0 ? "0s" : Units.duration(number)
        case .size: Units.size(number)
        default: "\(number)"
        }
    }
}
