internal import Formats

@testable internal import HTTPCodec

/// Edits of JSON: what is found after one is what was put there, everything else means what it meant, and what is not JSON is
/// left alone. The first byte chooses the place.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSONText(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = FuzzInput(start, count), let choice = input.bytes.first else { return 0 }
    let places = ["", "/a", "/a/b", "/0", "/-", "/a/0/b", "/a~1b", "/x/y/z"]
    guard let pointer = JSONPointer(places[Int(choice) % places.count]) else {
        require(false, "these are pointers")
        return 0
    }
    let bytes = Array(input.bytes.dropFirst())
    let text = JSONText(bytes)
    let value = try? JSONValue(parsing: bytes)
    let found = try? text.values(at: pointer)
    require(value == nil || found != nil, "what can be read can be searched")

    var edited = text
    do throws(JSONEditFault) {
        try edited.set(pointer, to: Array("\"set\"".utf8), bound: 1 << 20)
        require(found != nil, "what is not JSON is not edited")
        let after = (try? edited.values(at: pointer)) ?? []
        let isNewItem = pointer.description == "/-" && bytes.contains(0x5B)
        require(isNewItem || !after.isEmpty && after.allSatisfy { $0 == .string("set") }, "what was set is found")
        require(value == nil || (try? JSONValue(parsing: edited.bytes)) != nil, "an edit leaves JSON")
        var again = edited
        if !isNewItem { try again.set(pointer, to: Array("\"set\"".utf8), bound: 1 << 20) }
        require(again.bytes == edited.bytes, "the same edit again changes nothing")
    } catch {
        require(edited.bytes == bytes, "an edit that cannot be made changes nothing")
    }

    var removed = text
    do throws(JSONEditFault) {
        let times = try removed.remove(pointer)
        let isArray = pointer.description.contains("0")
        let after = try? removed.values(at: pointer)
        require(after != nil && (isArray || after?.isEmpty == true), "what was removed is gone")
        require(times > 0 || removed.bytes == bytes, "where nothing was found nothing changes")
        require(value == nil || (try? JSONValue(parsing: removed.bytes)) != nil, "a removal leaves JSON")
    } catch {
        require(removed.bytes == bytes, "a removal that cannot be made changes nothing")
    }
    return 0
}
