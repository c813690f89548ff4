internal import Configuration
internal import Declaration
internal import Formats
internal import HTTPCodec

/// The keys of a sandbox document.
extension ObjectShape {
    static let sandboxDocument = ObjectShape(
        "sandbox_document",
        [
            Key("users", .list(.object(.sandboxUser)), "Users beside demo and user1, user2 and so on.", standard: "[]"),
            Key("clients", .list(.object(.sandboxClient)), "OAuth clients beside app and service.", standard: "[]"),
            Key(
                "policies", .list(.object(.sandboxPolicy)), "Policies. The first that matches a path counts.",
                standard: "[]"),
            Key("trees", .list(.object(.sandboxTree)), "Trees beside those that are built in.", standard: "[]"),
            Key("lockout", .object(.sandboxLockout), "The lockout of users after failures in a row."),
        ])

    static let sandboxUser = ObjectShape(
        "sandbox_user",
        [
            Key("name", .text(.name), "The user's name.", isRequired: true),
            Key("password", .text(.any), "The password.", isRequired: true),
            Key("realm", .text(.realm), "The realm. Without the key, every realm."),
            Key("totp", .text(.base32), "The secret of one-time passwords in Base32. Without the key, the shared one."),
        ])

    static let sandboxClient = ObjectShape(
        "sandbox_client",
        [
            Key("id", .text(.name), "The client_id.", isRequired: true),
            Key("secret", .text(.any), "The client_secret. Without the key, the client is public."),
            Key(
                "redirect_uris", .oneOrMany(.text(.redirectURI)), "Redirect URIs, beside this machine and app schemes."),
        ])

    static let sandboxPolicy = ObjectShape(
        "sandbox_policy",
        [
            Key("name", .text(.name), "The policy's name.", isRequired: true),
            Key("path", .text(.shopPath), "A path below /shop, or a glob over paths.", isRequired: true),
            Key("methods", .oneOrMany(.choice(Protection.methods)), "The allowed methods. Without the key, all."),
            Key(
                "requires", .oneOrMany(.object(.sandboxCondition)),
                "What is required, in this order. Without the key, nothing."),
        ])

    static let sandboxCondition = ObjectShape(
        "sandbox_condition",
        [
            Key("tree", .text(.name), "A session that has passed this tree."),
            Key("level", .integer(0...1000), "A session of this authentication level."),
            Key("realm", .text(.realm), "A session of this realm."),
            Key("fresh", .duration(1000...86_400_000), "A session that is no older."),
            Key(
                "transaction", .text(.name),
                "A transaction for each access: credentials, password, choice, or a tree that approves it."),
        ])

    static let sandboxLockout = ObjectShape(
        "sandbox_lockout",
        [
            Key("after", .integer(1...1000), "Failures in a row.", isRequired: true),
            Key("hold", .duration(1000...86_400_000), "The length of the lockout.", standard: "1m"),
        ])

    static let sandboxTree = ObjectShape(
        "sandbox_tree",
        [
            Key("name", .text(.name), "The tree's name.", isRequired: true),
            Key("header", .text(.any), "The header of its pages. Without the key, the name."),
            Key(
                "level", .integer(0...1000), "The authentication level of a session that has passed it.", standard: "0"),
            Key("pages", .list(.object(.sandboxPage)), "The pages, in this order.", isRequired: true),
        ])

    static let sandboxPage = ObjectShape(
        "sandbox_page",
        [
            Key("name", .text(.name), "A name for next and goto."),
            Key("callbacks", .list(.object(.sandboxCallback)), "What the page asks for."),
            Key("page", .choice(Tree.pages.map(\.key)), "A page that is built in, in place of callbacks."),
            Key(
                "on_failure", .choice(CallbackPage.Failure.allCases.map(\.rawValue)),
                "After wrong answers. fail: the tree fails. again: the page comes again. lock: the user is locked out.",
                standard: "fail"),
            Key(
                "tries", .integer(1...1000),
                "How often wrong answers may be given. Default: once, or without a limit for again."),
            Key("polls", .integer(1...1000), "How often a PollingWaitCallback comes.", standard: "1"),
            Key("next", .text(.name), "The page that follows, or end. Without the key, the next one."),
        ])

    static let sandboxCallback = ObjectShape(
        "sandbox_callback",
        [
            Key("type", .text(.callbackType), "The callback's type.", isRequired: true),
            Key("prompt", .text(.any), "The prompt."), Key("message", .text(.any), "The message."),
            Key("choices", .list(.text(.any)), "The choices, or the options of a ConfirmationCallback."),
            Key("default", .integer(0...1000), "The index of the choice that is selected first.", standard: "0"),
            Key("wait", .duration(1...60_000), "The time until the next poll.", standard: "1s"),
            Key("output", .map(.name, .json), "Further values of the output."),
            Key(
                "input", .choice(CallbackPage.Input.allCases.map(\.rawValue)),
                "The input. Without the key, that of the type, or text."),
            Key(
                "check", .choice(CallbackPage.Check.words),
                "user: a name. password: that user's. totp: a code of that user."),
            Key(
                "answer", .oneOrMany(.text(.any)),
                "The right answers: exact, a glob, or ~ and a regular expression. Choices are texts, booleans true or false."
            ),
            Key("goto", .map(.any, .text(.name)), "The page after a choice, or end, by the choice's text."),
        ])
}

extension TextFormat {
    fileprivate static let callbackType = TextFormat(
        "the type of a callback, such as NameCallback", pattern: "^[A-Z][A-Za-z]*Callback$", isPublic: true
    ) { text in
        text.hasSuffix("Callback") && text.utf8.allSatisfy(ASCII.isAlpha)
    }

    fileprivate static let base32 = TextFormat("a secret in Base32, of 10 bytes at least", isQuotable: false) { text in
        (Base32.decode(text)?.count ?? 0) >= 10
    }

    fileprivate static let redirectURI = TextFormat("an absolute URL without a fragment", isPublic: true) {
        RedirectURI.isUsable($0)
    }

    fileprivate static let shopPath = TextFormat(
        "a path below /shop, such as /shop/pay/*", pattern: "^/shop(/|$)", isPublic: true
    ) { $0 == "/shop" || $0.hasPrefix("/shop/") }
}
