#if DEBUG
    import EventLoop
    import Glibc
    import Testing

    @testable import ProxyDriver

    /// Each scenario with its first system call of a kind failing, then its second, until none is left to fail.
    @Suite(.serialized) struct FaultTests {
        enum Scenario: CaseIterable { case get, post, tunnel }

        private static let faults: [(FaultPlan.Call, Int32)] = [
            (.recv, ECONNRESET), (.recv, EAGAIN), (.send, EPIPE), (.send, EAGAIN), (.socket, EMFILE),
            (.connect, ENOBUFS), (.accept, EMFILE), (.eventAdd, ENOSPC),
        ]

        @Test(arguments: Scenario.allCases)
        func everyFailureEndsInAnAnswerOrAClose(_ scenario: Scenario) throws {
            let origin = try TestOrigin.echo()
            for (call, code) in Self.faults {
                var hasFired = true
                var number = 0
                while hasFired, number < 100 {
                    number += 1
                    let plan = FaultPlan(call, number: number, code: code)
                    let proxy = try TestProxy(prepare: { $0.loop.faults = plan })
                    try run(scenario, proxy, origin, number: number, plan)
                    hasFired = plan.hasFired
                    // whatever happened to that one, the next is served
                    if hasFired { try get(proxy, origin, "\(scenario), \(call) \(number), \(code)") }
                    proxy.drain()
                    proxy.join()
                }
                #expect(number > 1 || call == .eventAdd, "no \(call) in \(scenario)")
                #expect(number < 100)
            }
        }

        /// Without an answer the connection ended: nothing hangs.
        private func isOver(_ client: Wire, _ head: String) -> Bool { head.isEmpty && client.isAtEnd() }

        private func get(_ proxy: TestProxy, _ origin: TestOrigin, _ comment: String) throws {
            let client = try proxy.client()
            client.send("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
            #expect(client.readAnswer().body == "ok", "\(comment)")
        }

        private func run(
            _ scenario: Scenario, _ proxy: TestProxy, _ origin: TestOrigin, number: Int, _ plan: FaultPlan
        ) throws {
            let client = try proxy.client()
            let authority = origin.authority
            let comment: Comment = "\(scenario), \(plan.call) \(number), \(plan.code)"
            switch scenario {
            case .get:
                client.send("GET http://\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
                let answer = client.readAnswer()
                #expect(
                    isOver(client, answer.head) || answer.body == "ok" || answer.head.contains("Proxy-Status:"), comment
                )
            case .post:
                let body = String(repeating: "0123456789abcdef", count: 20_000)
                client.send(
                    "POST http://\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                        + body)
                let answer = client.readAnswer()
                #expect(
                    isOver(client, answer.head) || answer.head.contains("Proxy-Status:") || answer.body == body
                        || (body.hasPrefix(answer.body) && client.isAtEnd()), comment)
            case .tunnel:
                client.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
                let head = client.readHead()
                guard head.hasPrefix("HTTP/1.1 200 ") else {
                    #expect(isOver(client, head) || head.contains("Proxy-Status:"), comment)
                    return
                }
                // no method that this proxy knows: relayed unopened
                client.send("BREW / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
                let answer = client.readAnswer()
                #expect(isOver(client, answer.head) || answer.body == "abc", comment)
            }
        }
    }
#endif
