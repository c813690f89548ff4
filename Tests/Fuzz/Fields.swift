internal import Formats

@testable internal import HTTPCodec

/// The fields of a head as text, to compare two heads by.
func fieldText(_ fields: FieldTable) -> [String] {
    fields.slots.map { "\(fields.bytes[$0.name.indices])=\(fields.bytes[$0.value.indices])=\($0.known.rawValue)" }
}

/// The bytes of a head's fields as a proxy would send them on.
func writeFields(_ fields: FieldTable, to out: inout [UInt8]) {
    for slot in fields.slots {
        out += fields.bytes[slot.name.indices]
        out += [ASCII.colon, ASCII.space]
        out += fields.bytes[slot.value.indices]
        out += [ASCII.cr, ASCII.lf]
    }
    out += [ASCII.cr, ASCII.lf]
}
