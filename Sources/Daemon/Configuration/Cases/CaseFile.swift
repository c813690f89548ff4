public import Formats
public import Interception
public import ProxyCore

/// A file of cases for `usher test`.
public struct CaseFile: Sendable {
    public var path: String
    /// The configuration files to test; empty if the file names none.
    public var configuration: [String]
    /// Environment variables for the configuration, in addition to those of the process.
    public var environment: [String: String]
    public var cases: [TestCase]
    /// The values of secrets that references in the file were replaced by.
    public var secrets: [String]
}

/// A position in a file of cases.
public struct CasePlace: Sendable, CustomStringConvertible {
    public var file: String
    public var line: Int
    public var column: Int

    public var description: String { "\(file):\(line):\(column)" }
}

/// A value with its position.
public struct Placed<Value: Sendable>: Sendable {
    public var place: CasePlace
    public var value: Value
}

/// A request, the responses of origins, and the expected results.
public struct TestCase: Sendable {
    public var name: String
    public var place: CasePlace
    /// An HTTP message or a curl command.
    public var request: Placed<[UInt8]>
    public var origin: Origin
    /// The number of concurrent requests that arrived just before.
    public var others: Int
    public var action: Placed<String>?
    public var tree: Placed<String>?
    public var realm: Placed<String>?
    public var session: Placed<String>?
    /// The interceptors that apply, in any order.
    public var applied: Placed<[String]>?
    public var notApplied: Placed<[String]>?
    /// The milliseconds spent waiting, from the request to the end of the response.
    public var took: Placed<Int>?
    /// All requests sent to origins, in order; empty if none may be sent.
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
        /// An HTTP message as text.
        case written([UInt8])
        /// The bytes of an HTTP message.
        case message([UInt8])
        case fails(Failure)
    }

    public enum Failure: String, CaseIterable, Sendable {
        case connect, dns, incomplete, malformed, refused, reset, timeout, tls
    }
}

/// The expected properties of a message. Properties that are not given are not checked.
public struct MessageExpectation: Sendable {
    public var place: CasePlace
    public var method: Placed<String>?
    public var url: Placed<ExpectedText>?
    public var status: Placed<Int>?
    public var headers: [(name: String, expected: Placed<Lines>)] = []
    public var body: Placed<ExpectedText>?
    /// False if the message is truncated.
    public var isWhole: Placed<Bool>?
    public var json: [(pointer: JSONPointer, expected: Placed<JSONValue>)] = []
    public var absentJSON: [Placed<JSONPointer>] = []

    /// The expected values of one field.
    public enum Lines: Sendable {
        case absent
        /// One of the lines has this value.
        case one(ExpectedText)
        /// The lines have exactly these values.
        case all([ExpectedText])
    }
}

/// An expected text: a literal, a glob, or `~` and a regular expression.
public struct ExpectedText: Sendable {
    public var written: String
    public var matcher: TextMatcher
}
