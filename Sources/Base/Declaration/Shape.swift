/// The permitted form of a configuration value. The loader checks values against it, and the JSON Schema is generated from it.
public indirect enum Shape: Sendable {
    case text(TextFormat)
    /// Text with variables, `${…}`, that exchanges fill in.
    case template(TextFormat)
    /// The shape or `null`.
    case orNull(Shape)
    case boolean
    case integer(ClosedRange<Int>)
    /// A number or one word: `workers: auto`.
    case integerOr(String, ClosedRange<Int>)
    /// In milliseconds.
    case duration(ClosedRange<Int>)
    /// In bytes, or `unlimited` if that is accepted.
    case size(ClosedRange<Int>, orUnlimited: Bool)
    case choice([String])
    case list(Shape)
    /// A list, or one value as a list of one.
    case oneOrMany(Shape)
    case object(ObjectShape)
    /// Free names with values of one shape.
    case map(TextFormat, Shape)
    /// A text, duration, word or boolean; or an object.
    case either(Shape, ObjectShape)
    /// A value of `when`, or a list of them.
    case matcher(MatchKind)
    /// A secret that never becomes a String.
    case secret(SecretKind)
    /// Any value, as JSON.
    case json
}

extension Shape {
    /// True for addresses, names, numbers and options. Environment variables in such values are no secrets.
    public var isPublic: Bool {
        switch self {
        case .text(let format), .template(let format): format.isPublic
        case .orNull(let shape), .either(let shape, _): shape.isPublic
        case .secret, .json: false
        default: true
        }
    }
}

/// Secrets that are kept as bytes.
public enum SecretKind: Sendable {
    /// A private key: the path of its file, a reference, or PEM from the environment.
    case key
    /// A password; only a reference is accepted.
    case password
}

/// The kinds of values in `when`. Each has its own syntax.
public enum MatchKind: Sendable {
    case action, text, realm, scheme, host, port, by, path, method, status, contentType, error
}
