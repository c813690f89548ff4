import Configuration
import Operation
import Testing

@Suite("What a command is told of the environment")
struct CommandEnvironmentTests {
    private static let given = ["PASSWORD": "secret", "HOME": "/here", "MINE": "kept", "CREDENTIALS_DIRECTORY": "/c"]

    private func snapshot() throws -> Snapshot {
        let text = """
            version: 1
            interceptors:
              - { name: a, request: [{ set_header: { X-A: "${env.PASSWORD}${env.HOME}${credential.x}" } }] }
            """
        let loaded = ConfigurationLoader.load(
            text: text, file: "usher.yaml", environment: Self.given,
            readFile: { _ throws(FileFault) in FileContent(bytes: Array("x".utf8), isWorldReadable: false) })
        return try loaded.get()
    }

    @Test func whatTheConfigurationReadsStaysHere() throws {
        let snapshot = try snapshot()
        #expect(snapshot.variables == ["PASSWORD", "HOME", "CREDENTIALS_DIRECTORY"])
        let environment = CommandEnvironment(Self.given, for: snapshot, passing: [])
        #expect(environment.variables == ["HOME": "/here", "MINE": "kept"])
        #expect(environment.withheld == ["CREDENTIALS_DIRECTORY", "PASSWORD"])
    }

    @Test func whatIsAskedForIsPassedOn() throws {
        let environment = CommandEnvironment(Self.given, for: try snapshot(), passing: ["PASSWORD", "OTHER"])
        #expect(environment.variables["PASSWORD"] == "secret" && environment.withheld == ["CREDENTIALS_DIRECTORY"])
    }
}
