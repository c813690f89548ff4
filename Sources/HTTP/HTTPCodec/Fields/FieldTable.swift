import Formats

/// One field line: where its name and value stand.
public struct FieldSlot: Sendable {
    public var name: ByteRange
    public var value: ByteRange
    public var known: FieldName
}

/// The fields of a message: a buffer with the bytes as received, and a table of offsets. Order, letter case and repetition
/// are kept. An edit appends bytes and redirects the slot, so an unedited head is never copied field by field.
public struct FieldTable: Sendable {
    public internal(set) var bytes: [UInt8] = []
    public private(set) var slots: [FieldSlot] = []
    /// Marks of all fields, including removed ones. A field without a mark is absent.
    public private(set) var marks = FieldMarks()

    public init() {}

    public var count: Int { slots.count }
    public var isEmpty: Bool { slots.isEmpty }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        slots.removeAll(keepingCapacity: true)
        marks = FieldMarks()
    }

    /// Adds fields whose bytes are in the buffer, or will be when the head has been read.
    /// - Parameters:
    ///   - count: the most fields to add; never negative.
    ///   - body: sets the slot and the mark of each field.
    @inline(__always)
    mutating func fill(
        _ count: Int, _ body: (inout OutputSpan<FieldSlot>, inout FieldMarks) throws(HTTPFault) -> Void
    ) throws(HTTPFault) {
        var marks = marks
        defer { self.marks = marks }
        try slots.append(addingCapacity: count) { slots throws(HTTPFault) in try body(&slots, &marks) }
    }

    // MARK: reading

    public func text(_ range: ByteRange) -> String {
        String(decoding: bytes[range.indices], as: UTF8.self)
    }

    public func name(_ index: Int) -> String { text(slots[index].name) }
    public func value(_ index: Int) -> String { text(slots[index].value) }

    /// The index of the first field of that name.
    public func first(_ name: FieldName) -> Int? {
        guard marks.mayHold(name) else { return nil }
        for index in slots.indices where slots[index].known == name { return index }
        return nil
    }

    public func contains(_ name: FieldName) -> Bool { first(name) != nil }

    /// The index of the only field with this name; nil when there are none or several.
    public func only(_ name: FieldName) -> Int? {
        guard let index = first(name), !slots[(index + 1)...].contains(where: { $0.known == name }) else { return nil }
        return index
    }

    /// False where no field has that name, without a look at any.
    @inline(__always)
    func mayHold(_ name: FieldName) -> Bool { marks.mayHold(name) }

    /// The index of the first field of that name at or after `start`.
    public func first(named name: some StringProtocol, from start: Int = 0) -> Int? {
        guard marks.mayHold(FieldMarks(named: name)) else { return nil }
        var index = start
        while index < slots.count {
            if isNamed(index, name) { return index }
            index += 1
        }
        return nil
    }

    public func isNamed(_ index: Int, _ name: some StringProtocol) -> Bool {
        equal(slots[index].name, name)
    }

    /// Compares bytes of the buffer with text, without regard to ASCII case.
    public func equal(_ range: ByteRange, _ text: some StringProtocol) -> Bool {
        guard range.count == UInt32(truncatingIfNeeded: text.utf8.count) else { return false }
        // nearly every text has its bytes side by side, and is compared much faster so
        return text.utf8.withContiguousStorageIfAvailable { bytes.span.holds(text: $0.span, at: range.lower) }
            ?? equal(range, text.utf8)
    }

    private func equal(_ range: ByteRange, _ text: some Sequence<UInt8>) -> Bool {
        var position = range.lower
        for byte in text {
            if ASCII.lower(bytes[position]) != ASCII.lower(byte) { return false }
            position += 1
        }
        return true
    }

    /// Whether both ranges contain the same bytes.
    func same(_ left: ByteRange, _ right: ByteRange) -> Bool {
        guard left.count == right.count else { return false }
        return bytes.span.holds(left.lower, right.lower, count: Int(left.count))
    }

    /// Whether a range equals that word, ignoring ASCII case (see `Span.holds`).
    func isWord(_ range: ByteRange, _ word: StaticString) -> Bool {
        range.count == UInt32(truncatingIfNeeded: word.utf8CodeUnitCount) && bytes.span.holds(word, at: range.lower)
    }

    /// The value of the first field of that name.
    public subscript(_ name: some StringProtocol) -> String? {
        first(named: name).map(value)
    }

    public func values(named name: some StringProtocol) -> [String] {
        slots.indices.filter { isNamed($0, name) }.map(value)
    }

    /// All fields as text, in order: for logs, explanations and tests, never for the hot path.
    public var lines: [(name: String, value: String)] {
        slots.indices.map { (name($0), value($0)) }
    }

    // MARK: editing

    mutating func store(_ text: some StringProtocol) -> ByteRange {
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        return ByteRange(start: start, end: bytes.count)
    }

    /// Adds a field with all of its line, as a head of HTTP/1 has it, so that it leaves as it is.
    @discardableResult
    mutating func append(line name: Span<UInt8>, _ value: Span<UInt8>) -> FieldName {
        let start = bytes.count
        bytes.append(addingCapacity: name.count &+ value.count &+ 4) { out in
            out.append(name)
            out.append(literal: ": ")
            out.append(value)
            out.append(literal: "\r\n")
        }
        let colon = start &+ name.count
        let known = FieldName.identify(bytes.span, start, colon)
        let range = ByteRange(start: colon &+ 2, end: colon &+ 2 &+ value.count)
        slots.append(FieldSlot(name: ByteRange(start: start, end: colon), value: range, known: known))
        marks.insert(known, count: name.count, first: name.isEmpty ? 0 : name[0])
        return known
    }

    /// Inserts a field before all others. Its bytes must be in the buffer.
    mutating func insertFirst(_ slot: FieldSlot) {
        slots.insert(slot, at: 0)
        marks.insert(slot.known, count: Int(slot.name.count), first: bytes[slot.name.lower])
    }

    /// Adds a field beside others of its name. The caller vouches for name and value (see `FieldSyntax`).
    public mutating func add(_ name: some StringProtocol, _ value: some StringProtocol) {
        let nameRange = store(name)
        let known = FieldName.identify(bytes.span, nameRange.lower, nameRange.upper)
        let first = nameRange.isEmpty ? 0 : bytes[nameRange.lower]
        slots.append(FieldSlot(name: nameRange, value: store(value), known: known))
        marks.insert(known, count: Int(nameRange.count), first: first)
    }

    /// Inserts a field before the one at that index.
    public mutating func add(_ name: some StringProtocol, _ value: some StringProtocol, at index: Int) {
        add(name, value)
        slots.insert(slots.removeLast(), at: index)
    }

    /// Gives the first field of that name a new value and removes the others; adds it where there is none.
    public mutating func set(_ name: some StringProtocol, _ value: some StringProtocol) {
        guard let index = first(named: name) else { return add(name, value) }
        setValue(index, value)
        var other = first(named: name, from: index + 1)
        while let found = other {
            slots.remove(at: found)
            other = first(named: name, from: found)
        }
    }

    public mutating func setValue(_ index: Int, _ value: some StringProtocol) {
        setValue(index, store(value))
    }

    mutating func setValue(_ index: Int, _ range: ByteRange) {
        slots[index].value = range
    }

    public mutating func remove(at index: Int) {
        slots.remove(at: index)
    }

    /// Removes every field of that name; says how many there were.
    @discardableResult
    public mutating func remove(named name: some StringProtocol) -> Int {
        removeAll { table, index in table.isNamed(index, name) }
    }

    @discardableResult
    public mutating func removeAll(where matches: (borrowing FieldTable, Int) -> Bool) -> Int {
        let before = slots.count
        var index = 0
        while index < slots.count {
            if matches(self, index) { slots.remove(at: index) } else { index += 1 }
        }
        return before - slots.count
    }
}

/// Checks fields that are written, as a guard against injected lines.
public enum FieldSyntax {
    public static func isName(_ name: some StringProtocol) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy(ASCII.isToken)
    }

    public static func isValue(_ value: some StringProtocol) -> Bool {
        value.utf8.allSatisfy(ASCII.isFieldValue)
    }
}
