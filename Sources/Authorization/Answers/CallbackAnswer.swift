public import Formats

extension AuthorizationPolicy {
    /// One entry of `answers`.
    public struct CallbackAnswer: Sendable {
        /// What is filled in.
        public enum Response: Equatable, Sendable {
            case value(String)
            /// The label of a choice.
            case choose(String)
            /// What AM has set already.
            case preset
            case oneTime(OneTimePassword)
            case device(DeviceProfile)
            /// A security question, nil for the first that is offered, and its answer.
            case security(question: String?, answer: String)
            /// Inputs by their names.
            case inputs([NamedText])
            /// What the user's browser would come back with, as parameters of the next call.
            case redirect([NamedText])
            /// A button of a page that waits, and after how many milliseconds of waiting it is pressed.
            case leave(label: String, after: Int)
            /// A person is asked.
            case ask
        }

        /// The callback's type: `NameCallback`.
        public var callback: String
        /// A glob over the prompt; nil matches every prompt. Case does not matter.
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

        /// True where every callback that `other` would answer is taken by this one. A glob takes all that another glob
        /// takes where it matches that glob's own text: a star of the second can then only be met by a star of the first.
        public func covers(_ other: CallbackAnswer) -> Bool {
            callback == other.callback && AnswerScope.covers(prompt, other.prompt) && scope.covers(other.scope)
        }
    }
}

/// A name with its text.
public struct NamedText: Equatable, Sendable {
    public var name: String
    public var text: String

    public init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }
}

/// What a DeviceProfileCallback is told: as much of it as the callback asks for.
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
        var profile = JSONValue.object([.init("identifier", .string(identifier))])
        if wantsMetadata { profile["metadata"] = metadata }
        if wantsLocation { profile["location"] = location }
        return profile.serialized
    }
}
