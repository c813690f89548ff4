internal import Formats

/// A journey: pages of questions, asked in order.
enum Tree: Equatable, Sendable {
    /// Name and password on one page. The default.
    case login
    /// Name, then password on a second page: a journey with more than one step.
    case stepUp
    /// What a transaction asks. Not startable by name.
    case transaction(SandboxOptions.Strategy)

    /// The tree of that name, as `authIndexValue` of a service gives it.
    init?(service: String) {
        switch service {
        case Tree.login.name: self = .login
        case Tree.stepUp.name: self = .stepUp
        default: return nil
        }
    }

    var name: String {
        switch self {
        case .login: "Login"
        case .stepUp: "StepUp"
        case .transaction: "TransactionAuthorization"
        }
    }

    var pages: [[Question]] {
        switch self {
        case .login, .transaction(.nameAndPassword): [[.name, .password]]
        case .stepUp: [[.name], [.password]]
        case .transaction(.password): [[.password]]
        case .transaction(.choice): [[.approval]]
        }
    }

    /// What a person reads above the questions.
    var header: String {
        switch self {
        case .login: "Sign in"
        case .stepUp: "Sign in again"
        case .transaction: "Approve this access"
        }
    }
}

/// One callback.
enum Question: Equatable, Sendable {
    case name, password, approval

    /// Labels of the approval's options; the first one approves.
    private static let options = ["Yes", "No"]

    var type: String {
        switch self {
        case .name: "NameCallback"
        case .password: "PasswordCallback"
        case .approval: "ChoiceCallback"
        }
    }

    /// The callback as JSON.
    /// - Parameter index: its place on the page, from 0; inputs count from 1.
    func callback(_ index: Int) -> JSONValue {
        func entry(_ name: String, _ value: JSONValue) -> JSONValue {
            .record(["name": .string(name), "value": value])
        }
        let output: [JSONValue]
        let initial: JSONValue
        switch self {
        case .name:
            output = [entry("prompt", .string("User Name"))]
            initial = .string("")
        case .password:
            output = [entry("prompt", .string("Password"))]
            initial = .string("")
        case .approval:
            output = [
                entry("prompt", .string("Approve?")), entry("choices", .strings(Self.options)),
                entry("defaultChoice", .integer(1)),
            ]
            initial = .integer(1)
        }
        return .record([
            "type": .string(type), "output": .array(output),
            "input": .array([entry("IDToken\(index + 1)", initial)]), "_id": .integer(index),
        ])
    }

    /// The answer in a callback that came back; nil where it has not this question's shape.
    func answer(in callback: JSONValue?, _ index: Int) -> Answer? {
        guard let callback, callback["type"]?.text == type, let input = callback["input"]?[0],
            input["name"]?.text == "IDToken\(index + 1)", let value = input["value"]
        else { return nil }
        switch self {
        case .name: return value.text.map { Answer.name($0) }
        case .password: return value.text.map { Answer.password($0) }
        case .approval:
            guard let choice = value.integer ?? value.text.flatMap(Int.init), Self.options.indices.contains(choice)
            else { return nil }
            return .approval(choice == 0)
        }
    }
}

enum Answer: Equatable, Sendable {
    case name(String)
    case password(String)
    case approval(Bool)
}
