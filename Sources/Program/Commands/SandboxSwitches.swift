import ArgumentParser
import Configuration
import HTTPCodec
import Operation
import Sandbox

/// Options of `usher sandbox` about its users and its behaviour.
struct SandboxSwitches: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "A document with users, clients, policies and trees beside those that are built in (YAML or JSON).",
            valueName: "file"))
    var journeys: String?

    @Flag(name: .customLong("admin"), help: "Let /sandbox/admin/ read and change that document.")
    var hasAdmin = false

    @Option(
        name: .long, help: ArgumentHelp("The number of users: user1, user2 and so on.", valueName: "number"))
    var users = 9

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A further user, or another password of a user; with a realm, only in that realm. Repeatable.",
            valueName: "name:password[@/realm]"))
    var user: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("A realm besides / and /alpha. Repeatable.", valueName: "/realm"))
    var realm: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What a transaction asks for: credentials, password, choice, or the callbacks of a tree "
                + "(\(Trees.names.joined(separator: ", "))).", valueName: "what"))
    var transaction = "credentials"

    @Option(name: .long, help: ArgumentHelp("The lifetime of a session.", valueName: "time"))
    var sessionLife = "2h"

    @Option(name: .long, help: ArgumentHelp("The lifetime of an idle session.", valueName: "time"))
    var sessionIdle = "30m"

    @Option(name: .long, help: ArgumentHelp("The lifetime of a transaction.", valueName: "time"))
    var transactionLife = "3m"

    @Option(name: .long, help: ArgumentHelp("The lifetime of an access token.", valueName: "time"))
    var tokenLife = "1h"

    @Option(name: .long, help: ArgumentHelp("The lifetime of a refresh token.", valueName: "time"))
    var refreshLife = "168h"

    @Option(
        name: .long,
        help: ArgumentHelp("Lock a user out after this many wrong answers in a row; 0 is never.", valueName: "number"))
    var lockout = 0

    @Option(name: .long, help: ArgumentHelp("The length of a lockout.", valueName: "time"))
    var lockoutHold = "1m"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "DPoP (RFC 9449): offered, required, or nonce, which requires a nonce in each proof.",
            valueName: "how"))
    var dpop = "offered"

    @Flag(name: .long, help: "Let authorize ask for consent. By default consent is implied.")
    var consent = false

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp(
            "A redirect URI besides this machine and app schemes. Repeatable.", valueName: "url"))
    var redirectURI: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A fault for every request. ?_fault=NAME sets one for a single request. The front page describes each. "
                + "Repeatable: "
                + SandboxFault.Name.allCases.map(\.rawValue).joined(separator: ", "), valueName: "name[=value]"))
    var fault: [String] = []

    @Option(
        name: .customLong("push-url"),
        help: ArgumentHelp(
            "The http URL that receives pushes to devices. Without --push-proxy, its host must be an IP address.",
            valueName: "url"))
    var pushURL: String?

    @Option(
        name: .customLong("push-proxy"),
        help: ArgumentHelp("The proxy for these pushes, such as Usher.", valueName: "address:port"))
    var pushProxy: String?

    private func pushTarget() throws -> SandboxOptions.PushTarget? {
        guard let pushURL else {
            if pushProxy != nil { throw CommandExit.usage("--push-proxy requires --push-url") }
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
                throw CommandExit.usage("--user \(text): there is no such realm; add it with --realm")
            }
            return user
        }
        if let journeys { options.document = try document(journeys, realms: options.realms) }
        options.hasAdmin = hasAdmin
        guard options.approve(by: transaction) else {
            throw CommandExit.usage(
                "--transaction \(transaction): expected credentials, password, choice or one of "
                    + options.trees.joined(separator: ", "))
        }
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

    private func document(_ path: String, realms: [String]) throws -> SandboxDocument {
        switch SandboxDocument.load(path: path, realms: realms, environment: ProcessEnvironment.all) {
        case .success(let document): return document
        case .failure(let faults):
            for fault in faults.diagnostics { Console.plain(fault.description) }
            throw ExitCode(2)
        }
    }

    private func seconds(_ text: String, of name: String) throws -> Int {
        guard let seconds = DurationText.seconds(text) else {
            throw CommandExit.usage("--\(name) \(text): expected whole seconds such as 90s, 5m or 2h")
        }
        return seconds
    }
}
