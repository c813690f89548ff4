/// What a value of the configuration may be. The loader checks by it and the JSON Schema is written from it.
indirect enum Shape: Sendable {
    case text(TextFormat)
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
    case object(ObjectName)
    /// Free names with values of one shape.
    case map(TextFormat, Shape)
    /// One value, or the keys of an object.
    case textOr(TextFormat, ObjectName)
    /// One value of `when`, or a list of them.
    case matcher(MatchKind)
    /// A secret that never becomes text.
    case secret(SecretKind)
    /// Anything; becomes JSON.
    case json
}

extension Shape {
    /// An address, a name, a number or an option: what the environment has for it is no secret.
    var isPublic: Bool {
        switch self {
        case .text(let format): format.isPublic
        case .secret, .json: false
        default: true
        }
    }
}

/// One key of an object.
struct Key: Sendable {
    var name: String
    var shape: Shape
    /// One sentence, for editors.
    var doc: String
    /// The default as it would be written, nil where there is none.
    var standard: String?
    var isRequired = false

    init(_ name: String, _ shape: Shape, _ doc: String, standard: String? = nil, isRequired: Bool = false) {
        self.name = name
        self.shape = shape
        self.doc = doc
        self.standard = standard
        self.isRequired = isRequired
    }
}

/// The objects of the configuration, by the name that the JSON Schema gives them.
enum ObjectName: String, CaseIterable, Sendable {
    case root, clients, basic, names, destinations, via, tls, authority = "ca", upstreamTLS = "upstream_tls"
    case upstreamHost = "upstream_host", clientCertificate = "client_certificate", listenerIdentity = "listener"
    case server, paths, action, interceptor, condition
    case requestEdit = "request_edit", responseEdit = "response_edit", cookie, answer = "local_answer", abort
    case authorization, resource, present, stepUpLimits = "step_up_limits", rounds, lockout
    case callbackAnswer = "callback_answer"
    case limits, timeouts, log

    /// The keys that this build understands.
    var keys: [Key] {
        switch self {
        case .root: KeyTable.root
        case .clients: KeyTable.clients
        case .basic: KeyTable.basic
        case .names: KeyTable.names
        case .destinations: KeyTable.destinations
        case .via: KeyTable.via
        case .tls: KeyTable.tls
        case .authority: KeyTable.authority
        case .upstreamTLS: KeyTable.upstreamTLS
        case .upstreamHost: KeyTable.upstreamHost
        case .clientCertificate: KeyTable.clientCertificate
        case .listenerIdentity: KeyTable.listenerIdentity
        case .server: KeyTable.server
        case .paths: KeyTable.paths
        case .limits: KeyTable.limits
        case .timeouts: KeyTable.timeouts
        case .log: KeyTable.log
        case .action: KeyTable.action
        case .interceptor: KeyTable.interceptor
        case .condition: KeyTable.condition
        case .requestEdit: KeyTable.requestEdit
        case .responseEdit: KeyTable.responseEdit
        case .cookie: KeyTable.cookie
        case .answer: KeyTable.answer
        case .abort: KeyTable.abort
        case .authorization: KeyTable.authorization
        case .resource: KeyTable.resource
        case .present: KeyTable.present
        case .stepUpLimits: KeyTable.stepUpLimits
        case .rounds: KeyTable.rounds
        case .lockout: KeyTable.lockout
        case .callbackAnswer: KeyTable.callbackAnswer
        }
    }
}

/// Secrets that are kept as bytes.
enum SecretKind: Sendable {
    /// A private key: the path of its file, a reference, or PEM out of the environment.
    case key
    /// A password: a reference alone.
    case password
}

/// Names of values in `when`, each with its own way of being written.
enum MatchKind: Sendable {
    case action, text, realm, scheme, host, port, path, method, status, contentType
}
