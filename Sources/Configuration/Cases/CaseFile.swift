public import Formats
public import Interception
public import ProxyCore

/// What `usher test` is to try: one file of cases.
public struct CaseFile: Sendable {
    public var path: String
    /// The files of the configuration that the cases are about; empty where the file names none.
    public var configuration: [String]
    /// Variables for that configuration, beside those of the process.
    public var environment: [String: String]
    public var cases: [TestCase]
    /// What references in it were filled in with.
    public var secrets: [String]
}

/// Where something stands in a file of cases.
public struct CasePlace: Sendable, CustomStringConvertible {
    public var file: String
    public var line: Int
    public var column: Int

    public var description: String { "\(file):\(line):\(column)" }
}

/// What stands somewhere.
public struct Placed<Value: Sendable>: Sendable {
    public var place: CasePlace
    public var value: Value
}

/// One request, what origins answer, and what is expected to come of it.
public struct TestCase: Sendable {
    public var name: String
    public var place: CasePlace
    /// An HTTP message or a curl command.
    public var request: Placed<[UInt8]>
    public var origin: Origin
    /// Requests that came just before it, and are not over.
    public var others: Int
    public var action: Placed<String>?
    public var tree: Placed<String>?
    public var realm: Placed<String>?
    public var session: Placed<String>?
    /// All that apply, in any order.
    public var applied: Placed<[String]>?
    public var notApplied: Placed<[String]>?
    /// Milliseconds that go by with waits, from the request to the end of its answer.
    public var took: Placed<Int>?
    /// Everything that goes to origins, in order; empty where nothing may.
    public var sent: Placed<[MessageExpectation]>?
    public var received: Placed<Reception>?
    public var connection: Placed<DryRun.ConnectionEnd>?

    public enum Reception: Sendable {
        case none
        case message(MessageExpectation)
    }

    public enum Origin: Sendable {
        case silent
        case always(Placed<Answer>)
        case script([Placed<Answer>])
    }

    public enum Answer: Sendable {
        /// An HTTP message as somebody wrote it down.
        case written([UInt8])
        /// Bytes of the wire.
        case message([UInt8])
        case fails(Failure)
    }

    public enum Failure: String, CaseIterable, Sendable {
        case connect, dns, incomplete, malformed, refused, reset, timeout, tls
    }
}

/// What a message is expected to be like; what is not mentioned may be anything.
public struct MessageExpectation: Sendable {
    public var place: CasePlace
    public var method: Placed<String>?
    public var url: Placed<ExpectedText>?
    public var status: Placed<Int>?
    public var headers: [(name: String, expected: Placed<Lines>)] = []
    public var body: Placed<ExpectedText>?
    /// False where it ends before its time.
    public var isWhole: Placed<Bool>?
    public var json: [(pointer: JSONPointer, expected: Placed<JSONValue>)] = []
    public var absentJSON: [Placed<JSONPointer>] = []

    /// The lines of one field.
    public enum Lines: Sendable {
        case absent
        /// One of them is this.
        case one(ExpectedText)
        /// They are these.
        case all([ExpectedText])
    }
}

/// A text that is expected: itself, a glob, or `~` and a regular expression.
public struct ExpectedText: Sendable {
    public var written: String
    public var matcher: TextMatcher
}
