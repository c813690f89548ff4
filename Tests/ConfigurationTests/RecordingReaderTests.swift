import Recordings
import Testing

@testable import Configuration

/// Reads recordings that are written, edited and broken.
struct RecordingReaderTests {
    static let index = """
        version: 1
        name: shop
        recorded: 2026-11-21T09:25:00Z
        values: { "session#1": session }
        exchanges: [001-login]
        """
    static let login = """
        at: 2026-11-21T09:25:00Z
        request:
          method: POST
          url: https://am.example.com/am/json/authenticate
          headers: { Accept: [a, b] }
          form: { a b: "code#1 #" }
        response:
          status: 200
          json: { tokenId: session#1, note: "$${x}" }
        """

    private static func load(_ files: [String: String]) -> Result<Recording, ConfigurationFaults> {
        RecordingReader.load("shop/") { path throws(FileFault) in
            guard let text = files[path] else { throw .missing }
            return FileContent(bytes: Array(text.utf8))
        }
    }

    private static func faults(index: String = index, login: String = login) -> [String] {
        switch load(["shop/recording.yaml": index, "shop/001-login.yaml": login]) {
        case .success: []
        case .failure(let faults): faults.diagnostics.map(\.description)
        }
    }

    @Test("A recording is read as it was written")
    func whole() throws {
        let recording = try Self.load(["shop/recording.yaml": Self.index, "shop/001-login.yaml": Self.login]).get()
        let exchange = try #require(recording.exchanges.first)
        #expect(String(decoding: exchange.request.body, as: UTF8.self) == "a%20b=code#1%20#")
        #expect(String(decoding: exchange.response.body, as: UTF8.self) == #"{"tokenId":"session#1","note":"${x}"}"#)
        #expect(exchange.request.fields.map(\.value) == ["a", "b"])
        var files: [String: String] = [:]
        for file in RecordingFiles(recording).all {
            files["shop/\(file.name)"] = String(decoding: file.bytes, as: UTF8.self)
        }
        let again = try Self.load(files).get()
        #expect(again.exchanges.map(\.request.body) == recording.exchanges.map(\.request.body))
        #expect(again.exchanges.map(\.response.body) == recording.exchanges.map(\.response.body))
        #expect(again.values == recording.values)
    }

    @Test("A recording of another version is named")
    func version() {
        let faults = Self.faults(index: Self.index.replacing("version: 1", with: "version: 2"))
        #expect(
            faults == [
                "shop/recording.yaml:1:10: error: the recording has version 2, and this usher reads 1; record it again"
            ])
    }

    @Test(
        "A broken file is named with the place",
        arguments: [
            ("status: 200", "status: 2", "shop/001-login.yaml:8:11: error: "),
            (
                "json:", "jsn:",
                "shop/001-login.yaml:9:3: error: unknown key \"jsn\" in response; did you mean \"json\"?"
            ),
            ("url: https:", "url: x", "shop/001-login.yaml:4:8: error: url expects a whole URL"),
            ("form:", "file: nothing\n  json:", "shop/001-login.yaml:3:3: error: a message has one body"),
        ])
    func broken(_ old: String, _ new: String, _ message: String) {
        let faults = Self.faults(login: Self.login.replacing(old, with: new))
        #expect(faults.count == 1 && faults[0].hasPrefix(message), "\(faults)")
    }

    @Test("A missing exchange, and an alias that nothing has")
    func index() {
        #expect(
            Self.faults(index: Self.index.replacing("001-login", with: "002-login")) == [
                "shop/002-login.yaml:1:1: error: the file does not exist"
            ])
        #expect(
            Self.faults(index: Self.index.replacing("session#1", with: "session#2")) == [
                "shop/recording.yaml:4:11: error: no exchange has the alias \"session#2\"; did you mean \"session#1\"?"
            ])
        #expect(Self.faults(index: Self.index.replacing("001-login", with: "../x")).count == 1)
    }
}
