import Formats

/// Options of `Connection` that name other fields (RFC 9110 §7.6.1).
extension FieldTable {
    /// Options in all `Connection` fields of a message. More are a fault: each is held against every field.
    static let maxConnectionOptions = 64

    /// Removes the fields that `Connection` names, since they are meant for this hop alone. It runs once, after the head
    /// has come, so that rules see what travels on and their edits stay. `FieldName.mayBeNamed` excludes some fields.
    ///
    /// Allocates nothing if `Connection` contains only `close` or `keep-alive`.
    /// - Throws: `tooManyConnectionOptions`.
    public mutating func removeConnectionFields() throws(HTTPFault) {
        guard mayHold(.connection) else { return }
        for index in slots.indices where slots[index].known == .connection {
            let value = slots[index].value
            if !isWord(value, "keep-alive"), !isWord(value, "close") { return try removeNominated() }
        }
    }

    private mutating func removeNominated() throws(HTTPFault) {
        var options: [ByteRange] = []
        for slot in slots where slot.known == .connection {
            forEachListItem(slot.value) { option in
                if options.count <= Self.maxConnectionOptions { options.append(option) }
            }
            if options.count > Self.maxConnectionOptions {
                throw HTTPFault(.tooManyConnectionOptions, at: slot.value.lower)
            }
        }
        removeAll { table, index in
            let slot = table.slots[index]
            return slot.known.mayBeNamed && options.contains { table.equal($0, slot.name) }
                && !Self.initiating.contains { table.isNamed(index, $0) }
        }
    }

    /// Fields that identify the page behind a request. Without them a page's request would look like a program's.
    private static let initiating = ["Origin", "Referer", "Sec-Fetch-Site"]

    /// Whether an entry of `Via` has that host or pseudonym (RFC 9110 §7.6.3).
    public func viaNames(_ pseudonym: String) -> Bool {
        guard mayHold(.via) else { return false }
        var found = false
        for slot in slots where slot.known == .via {
            forEachListItem(slot.value) { entry in
                // protocol, white space, name, and perhaps a comment
                guard let name = word(1, of: entry) else { return }
                if equal(name, pseudonym) { found = true }
            }
        }
        return found
    }

    /// Returns a word of the range by its number; words are separated by white space.
    private func word(_ number: Int, of range: ByteRange) -> ByteRange? {
        var left = number
        var start = range.lower
        while start < range.upper {
            while start < range.upper, isBlank(bytes[start]) { start &+= 1 }
            var end = start
            while end < range.upper, !isBlank(bytes[end]) { end &+= 1 }
            if left == 0 { return start < end ? ByteRange(start: start, end: end) : nil }
            left -= 1
            start = end
        }
        return nil
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == ASCII.space || byte == ASCII.tab }

    /// Compares two places of the buffer without regard to ASCII case.
    private func equal(_ left: ByteRange, _ right: ByteRange) -> Bool {
        guard left.count == right.count else { return false }
        for offset in 0..<Int(left.count)
        where ASCII.lower(bytes[left.lower &+ offset]) != ASCII.lower(bytes[right.lower &+ offset]) {
            return false
        }
        return true
    }
}

extension RequestHead {
    /// Whether the client waits for status 100 before it sends its body (RFC 9110 §10.1.1). False in HTTP/1.0.
    public var expectsContinue: Bool {
        version != .http10 && fields.mayHold(.expect)
            && fields.slots.contains { $0.known == .expect && fields.listContains($0.value, "100-continue") }
    }
}
