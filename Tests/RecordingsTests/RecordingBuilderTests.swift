import Formats
import Journal
import Testing

@testable import Recordings

/// What a recording takes from stored flows.
struct RecordingBuilderTests {
    private static func flow(
        _ number: Int, _ target: String, status: Int = 200, request: String = "", response: String = "",
        fields: String = "", scheme: Int = 2
    ) -> PackedFlow? {
        var packer = FlowPacker()
        for (name, value) in [
            (FlowNumber.id, number), (.sequence, number), (.began, 1_795_000_000_000 - number), (.status, status),
            (.scheme, scheme), (.port, 443),
        ] { packer.set(name, value) }
        packer.set(.method, "POST")
        packer.set(.authority, "am.example.com")
        packer.set(.target, target)
        packer.set(.request, "Host: am.example.com\r\nX-Kept: 1\r\nAccept-Encoding: gzip\r\n")
        packer.set(.requestBody, request)
        packer.set(.response, fields + "Date: Sat, 21 Nov 2026 09:25:00 GMT\r\n")
        packer.set(.responseBody, response)
        return PackedFlow(packer.finish())
    }

    private static func recording(_ flows: PackedFlow?...) -> (recording: Recording, remarks: [String]) {
        RecordingBuilder.recording("a", of: flows.compactMap { $0 }, now: 1_795_000_001)
    }

    @Test("Exchanges are in the order of their requests, with the lowest numbers for aliases")
    func order() throws {
        let made = Self.recording(
            Self.flow(1, "/b?code=code#9", response: #"{"id_token":"token#12"}"#),
            Self.flow(2, "/a", response: #"{"code":"code#9"}"#))
        let exchanges = made.recording.exchanges
        #expect(exchanges.map(\.name) == ["001-post-a", "002-post-b"])
        #expect(exchanges.map(\.url) == ["https://am.example.com/a", "https://am.example.com/b?code=code#1"])
        #expect(exchanges[1].request.fields.map(\.name) == ["X-Kept"])
        #expect(exchanges[1].response.fields.isEmpty)
        #expect(made.recording.values == [SecretAlias(.code, 1): .opaque, SecretAlias(.token, 1): .id_token])
        #expect(made.remarks.isEmpty)
    }

    @Test("What differs by chance and came from no response is volatile")
    func volatile() {
        let random = "x_TTuS5h72xKz2sEamADHiCh8iusJHuJ3rN2oTFuO3A"
        let made = Self.recording(
            Self.flow(1, "/c?id=4e2f3a1c-6f1d-4e0b-9a51-0c6a8d2f7b11"),
            Self.flow(2, "/b?code_challenge=\(random)&t=1795000000000&page=2&date=2026-11-21T09:25:00Z"),
            Self.flow(3, "/a", response: #"{"id":"4e2f3a1c-6f1d-4e0b-9a51-0c6a8d2f7b11"}"#))
        #expect(made.recording.volatile == ["query.code_challenge", "query.t", "query.date"])
    }

    @Test("What cannot be played is left out with a remark")
    func remarks() {
        let made = Self.recording(
            Self.flow(1, "", scheme: 0), Self.flow(2, "/a", status: 101), Self.flow(3, "/a", status: 0))
        #expect(made.recording.exchanges.isEmpty && made.remarks.count == 3)
    }
}
