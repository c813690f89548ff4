internal import Formats

@testable internal import HTTPCodec

/// JSON: what is read is written as JSON that reads the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = FuzzInput(start, count) else { return 0 }
    guard let value = try? JSONValue(parsing: input.bytes) else { return 0 }
    let text = value.serialized
    guard let again = try? JSONValue(parsing: text) else {
        require(false, "written JSON is JSON")
        return 0
    }
    require(again == value, "written JSON reads the same")
    require(again.serialized == text, "writing is stable")
    return 0
}
