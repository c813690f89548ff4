import Formats
import Testing

@testable import Sandbox

@Suite struct TreeTests {
    @Test func aPollIsOverWhenItWasAskedOftenEnough() throws {
        var world = World()
        var step = try world.reply(try world.begin(tree: "Poll"), World.credentials)
        for _ in 0..<3 {
            #expect(try world.types(step) == ["PollingWaitCallback"])
            #expect(try world.output(step, "waitTime")?.text == "200")
            #expect(try world.json(step)["callbacks"]?[0]?["input"] == nil)
            step = try world.reply(step, [[]])
        }
        #expect(try world.isSuccess(step))
    }

    @Test func aMailedLinkGoesOnWithAJourney() throws {
        var world = World()
        let step = try world.reply(try world.begin(tree: "Mail"), World.credentials)
        #expect(try world.types(step) == ["SuspendedTextOutputCallback"])
        let mail = try #require(step.mails.first)
        #expect(mail.hasPrefix("mail to demo: http://am.localhost:8080/am/XUI/?realm=%2F&suspendedId="))
        let id = try #require(mail.split(separator: "=").last)
        // waiting at the page is not following the link
        #expect(try world.types(try world.reply(step, [[]])) == ["SuspendedTextOutputCallback"])
        let done = try world.start("suspendedId=\(id)")
        #expect(try world.isSuccess(done))
        let again = try world.start("suspendedId=\(id)")
        #expect(again.status == 401)
        #expect(try world.json(again)["message"]?.text?.contains("SuspendedAuthSessionException") == true)
        #expect(try world.start("suspendedId=\(id)", realm: "/alpha").status == 401)
    }

    @Test func aTransactionMayBeApprovedByMail() throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access("/shop/with/mail/x", session: token))
        let begun = try world.begin(CompositeAdvice(CompositeAdvice.transaction, id), session: token)
        let step = try world.reply(begun, World.credentials, session: token)
        let link = try #require(step.mails.first?.split(separator: "=").last)
        #expect(try world.access("/shop/with/mail/x", session: token, id: id).status == 401)
        #expect(try world.json(try world.start("suspendedId=\(link)"))["tokenId"]?.text == token)
        #expect(try world.access("/shop/with/mail/x", session: token, id: id).status == 200)
    }

    @Test func nobodyIsMailedWhoIsNotThere() throws {
        var world = World()
        let step = try world.reply(try world.begin(tree: "Mail"), [[.string("nobody\nx")], [.string("x")]])
        #expect(try world.types(step) == ["SuspendedTextOutputCallback"])
        #expect(step.mails.isEmpty)
    }

    @Test func aCodeIsGoodOnce() throws {
        var world = World()
        func ask() throws -> SandboxResponse { try world.reply(try world.begin(tree: "Totp"), World.credentials) }
        let code = OneTimePassword.code(Directory.secret, counter: world.now / 30)
        let step = try ask()
        #expect(try world.types(step) == ["NameCallback", "ConfirmationCallback"])
        #expect(try world.isSuccess(try world.reply(step, [[.string(code)], [.integer(0)]])))
        #expect(try world.reply(try ask(), [[.string(code)], [.integer(0)]]).status == 401)
        #expect(try world.reply(try ask(), [[.string("000000")], [.integer(0)]]).status == 401)
        let next = OneTimePassword.code(Directory.secret, counter: world.now / 30 + 1)
        #expect(try world.isSuccess(try world.reply(try ask(), [[.string(next)], [.integer(0)]])))
        world.now += 600
        #expect(try world.reply(try ask(), [[.string(next)], [.integer(0)]]).status == 401)
    }

    /// RFC 6238, appendix B; six of the eight digits.
    @Test(arguments: [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (20_000_000_000, "353130")])
    func codesAreThoseOfTheStandard(_ now: Int, _ code: String) {
        #expect(OneTimePassword.code(Directory.secret, counter: now / 30) == code)
        #expect(OneTimePassword.counter(code, Directory.secret, now: now) == now / 30)
    }

    @Test func aProfileIsAskedForPageByPage() throws {
        var world = World()
        var step = try world.reply(try world.begin(tree: "Profile"), World.credentials)
        #expect(try world.types(step) == ["TermsAndConditionsCallback", "ConsentMappingCallback"])
        step = try world.reply(step, [[.bool(true)], [.bool(true)]])
        #expect(try world.types(step) == ["KbaCreateCallback"])
        step = try world.reply(step, [[.string("Pet?"), .string("")]])
        #expect(try world.types(step) == ["KbaCreateCallback"])
        step = try world.reply(step, [[.string("Pet?"), .string("Rex")]])
        #expect(try world.output(step, "name")?.text == "mail")
        step = try world.reply(step, [[.string("nowhere"), .bool(false)]])
        #expect(try world.output(step, "failedPolicies")?[0]?.text?.contains("VALID_EMAIL_ADDRESS_FORMAT") == true)
        step = try world.reply(step, [[.string("a@b.example"), .bool(false)]])
        #expect(try world.types(step) == ["ValidatedCreatePasswordCallback"])
        #expect(try world.output(step, "failedPolicies") == .array([]))
        step = try world.reply(step, [[.string("short"), .bool(false)]])
        #expect(try world.output(step, "failedPolicies")?.items?.count == 2)
        step = try world.reply(step, [[.string("long enough 1"), .bool(true)]])
        #expect(try world.types(step) == ["ValidatedCreatePasswordCallback"])
        #expect(try world.isSuccess(try world.reply(step, [[.string("long enough 1"), .bool(false)]])))
    }

    @Test func whatIsNotAgreedToEnds() throws {
        var world = World()
        let step = try world.reply(try world.begin(tree: "Profile"), World.credentials)
        #expect(try world.reply(step, [[.bool(true)], [.bool(false)]]).status == 401)
    }

    @Test func aDeviceProfileIsTextThatHoldsJSON() throws {
        var world = World()
        for (profile, status) in [("{\"identifier\":\"x\"}", 200), ("x", 401), ("{}", 401)] {
            let step = try world.reply(try world.begin(tree: "Device"), World.credentials)
            #expect(try world.reply(step, [[.string(profile)]]).status == status)
        }
    }

    @Test func providersElsewhere() throws {
        var world = World()
        let local = try world.reply(try world.begin(tree: "Social"), [[.string("localAuthentication")]])
        #expect(try world.isSuccess(try world.reply(local, World.credentials)))
        #expect(try world.reply(try world.begin(tree: "Social"), [[.string("acme")]]).status == 401)
        #expect(try world.reply(try world.begin(tree: "Redirect"), [[]]).status == 401)
    }

    @Test func callbacksOfAnotherShapeAreRefused() throws {
        var world = World()
        let choice = try world.begin(tree: "Choice", session: try world.signIn())
        #expect(try world.reply(choice, [[.integer(2)]]).status == 400)
        #expect(try world.reply(choice, [[.bool(true)]]).status == 400)
        #expect(try world.isSuccess(try world.reply(choice, [[.string("0")]])))
        let device = try world.reply(try world.begin(tree: "Device"), World.credentials)
        #expect(try world.reply(device, [[.integer(1)]]).status == 400)
    }

    @Test func aUserIsLockedOutForAWhile() throws {
        var options = SandboxOptions()
        options.lockout = 3
        options.lives.lockout = 60
        var world = World(options)
        for _ in 0..<2 { #expect(try world.errorCode(try world.answer(try world.start(), password: "x")) == "107") }
        // a success ends the count
        _ = try world.signIn()
        for _ in 0..<3 { #expect(try world.errorCode(try world.answer(try world.start(), password: "x")) == "107") }
        #expect(try world.errorCode(try world.answer(try world.start(), password: "x")) == "112")
        #expect(try world.errorCode(try world.answer(try world.start())) == "112")
        _ = try world.signIn("user1")
        _ = try world.signIn(realm: "/alpha")
        world.now += 60
        _ = try world.signIn()
    }

    @Test func peopleOfOnesOwn() throws {
        var options = SandboxOptions()
        options.directory.numbered = 50
        options.directory.others = ["dana:secret@/alpha", "demo:other", "eve:a:b@c"].compactMap { Directory.User($0) }
        var world = World(options)
        func status(_ name: String, _ password: String, _ realm: String = "/") throws -> Int {
            try world.answer(try world.start(realm: realm), name: name, password: password, realm: realm).status
        }
        #expect(try status("user50", "changeit") == 200)
        #expect(try status("user51", "changeit") == 401)
        #expect(try status("user050", "changeit") == 401)
        #expect(try status("dana", "secret") == 401)
        #expect(try status("dana", "secret", "/alpha") == 200)
        #expect(try status("demo", "other") == 200)
        #expect(try status("demo", "changeit") == 401)
        #expect(try status("eve", "a:b@c") == 200)
        for text in ["dana", "dana:", ":x", "dana:@/alpha"] { #expect(Directory.User(text) == nil) }
    }
}
