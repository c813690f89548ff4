public import Formats

extension AuthorizationPolicy {
    /// One entry of `answers`.
    public struct CallbackAnswer: Sendable {
        /// The content to fill in.
        public enum Response: Equatable, Sendable {
            case value(String)
            /// Selects the choice with this label.
            case choose(String)
            /// Keeps AM's default.
            case preset
            case oneTime(OneTimePassword)
            case device(DeviceProfile)
            /// A security question and its answer. A nil question selects the first that is offered.
            case security(question: String?, answer: String)
            /// Sets inputs by name.
            case inputs([NamedText])
            /// The parameters that the user's browser would return with. They go into the next call.
            case redirect([NamedText])
            /// Presses a button of a waiting page after this many milliseconds of waiting.
            case leave(label: String, after: Int)
            /// Asks a person.
            case ask
        }

        /// The callback's type, such as `NameCallback`.
        public var callback: String
        /// A glob for the prompt, ignoring case; nil matches every prompt.
        public var prompt: String?
        public var scope: AnswerScope
        public var response: Response

        public init(
            callback: String, prompt: String? = nil, scope: AnswerScope = AnswerScope(), response: Response
        ) {
            self.callback = callback
            self.prompt = prompt
            self.scope = scope
            self.response = response
        }

        /// True if this answer takes every callback that `other` takes. A glob covers another glob if it matches the other's own
        /// text, because only a star can match the other's star.
        public func covers(_ other: CallbackAnswer) -> Bool {
            callback == other.callback && AnswerScope.covers(prompt, other.prompt) && scope.covers(other.scope)
        }
    }
}

/// A name and its text.
public struct NamedText: Equatable, Sendable {
    public var name: String
    public var text: String

    public init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }
}

/// The data for a DeviceProfileCallback. Only the parts that the callback asks for are sent.
public struct DeviceProfile: Equatable, Sendable {
    public var identifier: String
    public var metadata: JSONValue?
    public var location: JSONValue?

    public init(identifier: String, metadata: JSONValue? = nil, location: JSONValue? = nil) {
        self.identifier = identifier
        self.metadata = metadata
        self.location = location
    }

    func text(metadata wantsMetadata: Bool, location wantsLocation: Bool) -> String {
        var profile: JSONValue = ["identifier": .string(identifier)]
        if wantsMetadata { profile["metadata"] = metadata }
        if wantsLocation { profile["location"] = location }
        return profile.serialized
    }
}
