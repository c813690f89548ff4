/// What a value of the configuration may be. The loader checks by it and the JSON Schema is written from it.
public indirect enum Shape: Sendable {
    case text(TextFormat)
    /// A text in which places may stand that are filled in for each exchange.
    case template(TextFormat)
    /// Or `null`.
    case orNull(Shape)
    case boolean
    case integer(ClosedRange<Int>)
    /// A number, or the one word beside it: `workers: auto`.
    case integerOr(String, ClosedRange<Int>)
    /// In milliseconds.
    case duration(ClosedRange<Int>)
    /// In bytes. `unlimited` may be written where it is accepted.
    case size(ClosedRange<Int>, orUnlimited: Bool)
    case choice([String])
    case list(Shape)
    /// A list, or one value that stands for a list of one.
    case oneOrMany(Shape)
    case object(ObjectShape)
    /// Free names with values of one shape.
    case map(TextFormat, Shape)
    /// A duration, or the keys of an object.
    case durationOr(ClosedRange<Int>, ObjectShape)
    /// `true` or `false`, or the keys of an object.
    case booleanOr(ObjectShape)
    /// One of these words, or one of the keys of an object.
    case choiceOr([String], ObjectShape)
    /// One value, or the keys of an object.
    case textOr(TextFormat, ObjectShape)
    /// One value of `when`, or a list of them.
    case matcher(MatchKind)
    /// A secret that never becomes text.
    case secret(SecretKind)
    /// Anything; becomes JSON.
    case json
}

extension Shape {
    /// An address, a name, a number or an option: what the environment has for it is no secret.
    public var isPublic: Bool {
        switch self {
        case .text(let format), .template(let format): format.isPublic
        case .orNull(let shape): shape.isPublic
        case .secret, .json: false
        default: true
        }
    }
}

/// Secrets that are kept as bytes.
public enum SecretKind: Sendable {
    /// A private key: the path of its file, a reference, or PEM out of the environment.
    case key
    /// A password: a reference alone.
    case password
}

/// Names of values in `when`, each with its own way of being written.
public enum MatchKind: Sendable {
    case action, text, realm, scheme, host, port, by, path, method, status, contentType, error
}
