import ArgumentParser
import Configuration
import HTTPCodec
import Sandbox

/// Options of `usher sandbox` about its users and its behaviour.
struct SandboxSwitches: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("How many users there are of user1, user2 and so on.", valueName: "number"))
    var users = 9

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A further user, or another password of one; in that realm alone where one is named. May be repeated.",
            valueName: "name:password[@/realm]"))
    var user: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("A realm besides / and /alpha; may be repeated.", valueName: "/realm"))
    var realm: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What a transaction asks: credentials, password, choice, or what a tree asks "
                + "(\(Trees.names.joined(separator: ", "))).", valueName: "what"))
    var transaction = "credentials"

    @Option(name: .long, help: ArgumentHelp("How long a session lives.", valueName: "time"))
    var sessionLife = "2h"

    @Option(name: .long, help: ArgumentHelp("How long a session lives that nobody uses.", valueName: "time"))
    var sessionIdle = "30m"

    @Option(name: .long, help: ArgumentHelp("How long a transaction may be approved and used.", valueName: "time"))
    var transactionLife = "3m"

    @Option(name: .long, help: ArgumentHelp("How long an access token is good for.", valueName: "time"))
    var tokenLife = "1h"

    @Option(name: .long, help: ArgumentHelp("How long a refresh token is good for.", valueName: "time"))
    var refreshLife = "168h"

    @Option(
        name: .long,
        help: ArgumentHelp("Lock a user out after so many wrong answers in a row; 0 never does.", valueName: "number"))
    var lockout = 0

    @Option(name: .long, help: ArgumentHelp("For how long.", valueName: "time"))
    var lockoutHold = "1m"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How tokens are bound to keys (RFC 9449): offered, required, or nonce, where each proof has to carry one.",
            valueName: "how"))
    var dpop = "offered"

    @Flag(name: .long, help: "Let authorize ask for consent; else it is implied.")
    var consent = false

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp(
            "Where codes may be sent to besides this machine and schemes of apps; may be repeated.", valueName: "url"))
    var redirectURI: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Something that goes wrong for every request; may be repeated. One request does it for itself by "
                + "?_fault=NAME. The front page says what each does. "
                + SandboxFault.Name.allCases.map(\.rawValue).joined(separator: ", "), valueName: "name[=value]"))
    var fault: [String] = []

    @Option(
        name: .customLong("push-url"),
        help: ArgumentHelp(
            "Where pushes to devices are delivered, an http URL; its host is an address, unless a proxy is named.",
            valueName: "url"))
    var pushURL: String?

    @Option(
        name: .customLong("push-proxy"),
        help: ArgumentHelp("The proxy that they go through, such as Usher.", valueName: "address:port"))
    var pushProxy: String?

    private func pushTarget() throws -> SandboxOptions.PushTarget? {
        guard let pushURL else {
            if pushProxy != nil { throw CommandExit.usage("--push-proxy goes with --push-url") }
            return nil
        }
        guard let head = try? RequestHead(method: "POST", url: pushURL), head.target.scheme == .http else {
            throw CommandExit.usage("--push-url \(pushURL): expected an http URL")
        }
        guard let pushProxy else {
            return .init(url: pushURL, host: head.host, port: head.target.port, isProxy: false)
        }
        guard let proxy = Listener(pushProxy) else {
            throw CommandExit.usage("--push-proxy \(pushProxy): expected 127.0.0.1:3128 or [::1]:3128")
        }
        return .init(url: pushURL, host: proxy.host, port: proxy.port, isProxy: true)
    }

    func options() throws -> SandboxOptions {
        var options = SandboxOptions()
        guard 0...100_000 ~= users else { throw CommandExit.usage("--users \(users): expected 0 to 100000") }
        options.directory.numbered = users
        options.realms += try realm.map { name in
            guard name.hasPrefix("/"), name.count > 1, !name.hasSuffix("/") else {
                throw CommandExit.usage("--realm \(name): expected a path such as /beta")
            }
            return name
        }
        options.directory.others = try user.map { text in
            guard let user = Directory.User(text) else {
                throw CommandExit.usage("--user \(text): expected NAME:PASSWORD or NAME:PASSWORD@/REALM")
            }
            guard user.realm.map(options.realms.contains) ?? true else {
                throw CommandExit.usage("--user \(text): there is no such realm; name it with --realm")
            }
            return user
        }
        guard let strategy = SandboxOptions.Strategy(transaction) else {
            throw CommandExit.usage(
                "--transaction \(transaction): expected credentials, password, choice or one of "
                    + Trees.names.joined(separator: ", "))
        }
        options.strategy = strategy
        options.lives.session = try seconds(sessionLife, of: "session-life")
        options.lives.sessionIdle = try seconds(sessionIdle, of: "session-idle")
        options.lives.transaction = try seconds(transactionLife, of: "transaction-life")
        options.lives.accessToken = try seconds(tokenLife, of: "token-life")
        options.lives.refreshToken = try seconds(refreshLife, of: "refresh-life")
        options.lives.lockout = try seconds(lockoutHold, of: "lockout-hold")
        guard lockout >= 0 else { throw CommandExit.usage("--lockout \(lockout): expected 0 or more") }
        options.lockout = lockout
        guard let proofs = SandboxOptions.ProofOfPossession(rawValue: dpop) else {
            throw CommandExit.usage(
                "--dpop \(dpop): expected "
                    + SandboxOptions.ProofOfPossession.allCases.map(\.rawValue).joined(separator: ", "))
        }
        options.proofs = proofs
        options.faults = try fault.map { text in
            guard let fault = SandboxFault(text) else {
                throw CommandExit.usage(
                    "--fault \(text): expected one of "
                        + SandboxFault.Name.allCases.map(\.rawValue).joined(separator: ", "))
            }
            return fault
        }
        options.asksConsent = consent
        options.pushTarget = try pushTarget()
        options.redirectURIs = redirectURI
        return options
    }

    private func seconds(_ text: String, of name: String) throws -> Int {
        guard let seconds = DurationText.seconds(text) else {
            throw CommandExit.usage("--\(name) \(text): expected whole seconds such as 90s, 5m or 2h")
        }
        return seconds
    }
}
