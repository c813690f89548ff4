import Usher

@main
struct MyUsher {
    static func main() {
        UsherProgram.main([
            "force-auth": ForceAuth(), "fresh-token": FreshToken(), "no-address": NoAddress(), "tea": Tea(),
            "throws": Throws(), "stuck": Stuck(), "twice": Twice(),
        ])
    }
}
