import Addresses
import Formats
import HTTPCodec
import Interception
import Passwords
import Testing

@testable import ProxyCore

@Suite("Reloads of the configuration")
struct AdoptionTests {
    private let here = ClientSource(address: IPAddress("192.0.2.1"))
    private let admitted = ClientPolicy(allow: ["192.0.2.0/24"].compactMap { AddressBlock($0).map { .block($0) } })
    private let nobody = ClientPolicy(allow: [])

    @Test func anIdleClientThatIsNotAdmittedIsLetGoOfAtOnce() {
        let talk = Conversation(source: here)
        talk.driver.adopt(Settings(), clients: admitted)
        #expect(!talk.driver.isOver)
        talk.driver.adopt(Settings(), clients: nobody)
        #expect(talk.driver.client == .closed && talk.driver.records.isEmpty)
    }

    @Test func oneInTheMiddleOfAHeadToo() {
        let talk = Conversation(source: here)
        talk.client("GET http://a.test/ HT")
        talk.driver.adopt(Settings(), clients: nobody)
        #expect(talk.driver.isOver && talk.driver.dials == 0)
    }

    @Test func oneWhoseExchangeIsUnderWayGetsItsAnswer() {
        let talk = Conversation(source: here)
        talk.client(get)
        talk.connects()
        talk.driver.adopt(Settings(), clients: nobody)
        talk.origin(ok)
        #expect(talk.clientGot().contains("Connection: close\r\n") && talk.driver.client == .finished)
    }

    /// The head that has not come whole is an exchange that has not begun.
    @Test func aHeadThatIsUnderWayIsJudgedByTheNewRules() {
        let hash = "$2y$05$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y"
        let talk = Conversation(source: here)
        talk.client("GET http://a.test/ HT")
        talk.driver.adopt(
            settings { $0.users = PasswordTable(htpasswd: "alice:\(hash)\n") { _, _ in } }, clients: admitted)
        talk.client("TP/1.1\r\nHost: a.test\r\n\r\n")
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 407 ") && talk.driver.dials == 0)
    }

    /// A CONNECT whose password is being checked has not begun its tunnel.
    @Test func aTunnelIsJudgedByRulesThatCameWhileThePasswordWasChecked() {
        func talk(_ new: Settings, _ clients: ClientPolicy) -> Conversation {
            let talk = Conversation(asking("a"), source: here)
            talk.client(
                "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n"
                    + "Proxy-Authorization: Basic \(Base64.encode("alice:x".utf8))\r\n\r\n")
            #expect(talk.driver.checks.count == 1)
            talk.driver.adopt(new, clients: clients)
            talk.driver.checked(.right)
            return talk
        }
        #expect(talk(asking("a"), admitted).driver.dialing?.host == "a.test")
        var fewer = asking("a")
        fewer.routes.connectPorts = [8443]
        for (new, clients) in [(asking("a"), nobody), (asking("b"), admitted), (fewer, admitted)] {
            let talk = talk(new, clients)
            #expect(talk.driver.isOver && talk.driver.dials == 0 && talk.clientGot() == "")
            #expect(talk.noted("the reloaded configuration"))
        }
    }

    /// One user, with a password of that letter.
    private func asking(_ letter: String) -> Settings {
        let hash = "$2y$05$\(letter)bcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y"
        return settings { $0.users = PasswordTable(htpasswd: "alice:\(hash)\n") { _, _ in } }
    }

    @Test func aBalancerThatIsNoneAnyMoreIsNotBelieved() {
        let balanced = ClientPolicy(
            allow: admitted.allow, balancers: ["10.0.0.1"].compactMap { AddressBlock($0).map { .block($0) } })
        for header in ["", "PROXY TCP4 192.0.2.1 10.0.0.9 40000 3128\r\n"] {
            let source = ClientSource(address: IPAddress("10.0.0.1"), balancer: balanced)
            let talk = Conversation(source: source)
            if !header.isEmpty { talk.client(header) }
            talk.driver.adopt(Settings(), clients: balanced)
            #expect(!talk.driver.isOver)
            talk.driver.adopt(Settings(), clients: admitted)
            #expect(talk.driver.isOver)
        }
    }

    @Test func whatLeadsThroughATunnelIsWhatLeadsThereNow() throws {
        let proxy = UpstreamProxy(host: "up.test", port: 3128)
        let talk = Conversation()
        talk.client("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n")
        talk.connects()
        talk.client("GET / HTTP/1.1\r\nHost: a.test:80\r\n\r\n")
        talk.origin(ok)
        talk.driver.adopt(settings { $0.routes = RouteTable([.init(hosts: ["a.test"], proxy: proxy)]) })
        talk.client("GET / HTTP/1.1\r\nHost: a.test:80\r\n\r\n")
        #expect(talk.driver.dialing?.route == .tunnel(proxy))
    }

    // MARK: tunnels

    /// Whether its destination is allowed is judged when it is dialed.
    @Test func aTunnelInWhichNothingWasSaidIsMadeAgain() {
        let proxy = UpstreamProxy(host: "up.test", port: 3128)
        for said in ["", "GE"] {
            let talk = Conversation()
            talk.client("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
            talk.connects()
            talk.client(said)
            talk.driver.adopt(settings { $0.routes = RouteTable([.init(hosts: ["a.test"], proxy: proxy)]) })
            #expect(talk.driver.releases == [false] && talk.driver.dials == 2)
            #expect(talk.driver.dialing?.route == .tunnel(proxy))
            if said.isEmpty {
                talk.driver.dialFails(.forbidden("a.test"))
                #expect(talk.driver.client == .reset && talk.record.proxyError == "destination_ip_prohibited")
            } else {
                talk.connects()
                talk.client("HLO")
                #expect(talk.originGot() == "GEHLO" && talk.driver.isTunnel)
            }
        }
    }

    @Test func oneThatIsBeingConnectedToo() {
        let talk = Conversation()
        talk.client("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
        talk.driver.adopt(Settings())
        #expect(talk.driver.dials == 2 && talk.driver.dialing != nil)
        talk.driver.dialFails(.forbidden("a.test"))
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 403 "))
    }

    @Test func oneThatIsRelayedGoesOn() {
        let talk = Conversation()
        talk.client("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
        talk.connects()
        talk.client("\u{16}\u{3}\u{1}hello")
        talk.driver.adopt(Settings())
        #expect(talk.driver.dials == 1 && talk.driver.isTunnel && talk.driver.releases.isEmpty)
    }

    private let target = {
        var target = Origin(scheme: .https, host: "192.0.2.7", port: 443)
        target.serverName = "a.test"
        return target
    }()

    private func engine(_ change: (inout Settings) -> Void) -> Engine {
        Engine(
            settings {
                $0.interception.hosts = ["a.test"].compactMap { DestinationPattern($0) }
                change(&$0)
            })
    }

    @Test func aTunnelIsKeptWhereItMightBeOpenedNow() {
        let old = engine { _ in }
        #expect(engine { _ in }.keeps(target, isOpened: true, for: nil, since: old))
        #expect(!engine { $0.routes.connectPorts = [8443] }.keeps(target, isOpened: true, for: nil, since: old))
        #expect(engine { $0.routes.connectPorts = [443] }.keeps(target, isOpened: true, for: nil, since: old))
        let closed = engine { $0.interception.hosts = [] }
        #expect(!closed.keeps(target, isOpened: true, for: nil, since: old))
        #expect(closed.keeps(target, isOpened: false, for: nil, since: old))
    }

    @Test func whoOpenedItHasToBeAUserStill() {
        func users(_ lines: String) -> Engine {
            engine {
                $0.users = PasswordTable(htpasswd: lines) { line, fault in Issue.record("\(line): \(fault)") }
            }
        }
        let hash = "$2y$05$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y"
        let other = hash.replacing("00y", with: "00z")
        let (open, alice) = (engine { _ in }, users("alice:\(hash)\n"))
        func keeps(_ new: Engine, _ user: String?, _ old: Engine) -> Bool {
            new.keeps(target, isOpened: true, for: user, since: old)
        }
        #expect(!keeps(alice, nil, open))
        #expect(keeps(alice, "alice", alice) && keeps(users("bob:\(hash)\nalice:\(hash)\n"), "alice", alice))
        #expect(!keeps(users("bob:\(hash)\n"), "alice", alice))
        #expect(!keeps(users("alice:\(other)\n"), "alice", alice))
        #expect(keeps(open, "alice", alice))
    }
}
