internal import Formats
internal import HTTPCodec

/// Changes the bytes of a response's body.
struct ChangedBody: ResponseEdit, BodyEdit, InnerEdit {
    static let sparesCalls = true

    private let note: String
    private let change: @Sendable (inout [UInt8]) -> Void

    init(_ note: String, _ change: @escaping @Sendable (inout [UInt8]) -> Void) {
        self.note = note
        self.change = change
    }

    func apply(to body: inout EditedBody) throws(BodyFault) -> [String] {
        var bytes = try body.bytes()
        change(&bytes)
        try body.replace(with: bytes)
        return [note]
    }
}

/// Changes the JSON of a response's body.
struct ChangedJSON: ResponseEdit, BodyEdit, InnerEdit {
    static let sparesCalls = true

    private let note: String
    private let change: @Sendable (inout JSONValue) -> Void

    init(_ note: String, _ change: @escaping @Sendable (inout JSONValue) -> Void) {
        self.note = note
        self.change = change
    }

    func concerns(_ type: MediaType?) -> Bool { JSONEdit.concerns(type) }

    func apply(to body: inout EditedBody) throws(BodyFault) -> [String] {
        guard let old = try? JSONValue(parsing: try body.bytes()) else { throw .unusable("is not JSON") }
        var value = old
        change(&value)
        guard value != old else { return [] }
        try body.replace(with: Array(value.serialized.utf8))
        return [note]
    }
}
