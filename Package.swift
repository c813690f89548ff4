// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "usher",
    products: [
        .executable(name: "usher", targets: ["UsherCommand"]),
        .library(name: "Usher", targets: ["Usher"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        .systemLibrary(name: "CLibevent", pkgConfig: "libevent_core", providers: [.apt(["libevent-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CAres", pkgConfig: "libcares", providers: [.apt(["libc-ares-dev"])]),
        .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
        .systemLibrary(name: "CCrypt", providers: [.apt(["libcrypt-dev"])]),
        .systemLibrary(name: "CIDN2", providers: [.apt(["libidn2-dev"])]),
        .systemLibrary(name: "CLinux"),

        room("HTTPCodec"),
        room("HTTP1", ["HTTPCodec"]),
        room("TLSEngine", ["HTTPCodec", "COpenSSL"]),
        room("Declaration", ["HTTPCodec"]),
        room("Interception", ["HTTPCodec", "Declaration", "CPCRE2"]),
        room("Authorization", ["HTTPCodec", "Interception"]),
        room("ProxyCore", ["HTTPCodec", "HTTP1", "TLSEngine", "Interception", "Authorization"]),

        room("EventLoop", ["CLibevent", "CAres", "CCrypt", "CLinux"]),
        room("ProxyDriver", ["HTTPCodec", "HTTP1", "TLSEngine", "Interception", "ProxyCore", "EventLoop"]),

        room("Observation", ["HTTPCodec", "Interception"]),
        room(
            "Configuration",
            [
                "HTTPCodec", "TLSEngine", "Declaration", "Interception", "Authorization", "ProxyCore", "CIDN2",
                .product(name: "Yams", package: "Yams"),
            ]),
        room("Sandbox", ["HTTPCodec", "HTTP1", "TLSEngine", "EventLoop"]),
        room(
            "Usher",
            [
                "HTTPCodec", "HTTP1", "TLSEngine", "Interception", "Authorization", "ProxyCore", "EventLoop",
                "ProxyDriver", "Observation", "Configuration",
            ]),
        .executableTarget(
            name: "UsherCommand",
            dependencies: [
                "HTTPCodec", "TLSEngine", "Configuration", "Usher", "Sandbox",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "usher-instructions", dependencies: ["HTTPCodec", "HTTP1", "Interception", "ProxyCore"],
            path: "bench/instructions", swiftSettings: strict),

        tests("InterceptionTests", ["Interception", "Declaration", "HTTPCodec"]),
        tests("ObservationTests", ["Observation", "HTTPCodec", "Interception"]),
        tests("HouseTests", []),
        tests("HTTPCodecTests", ["HTTPCodec"]),
        tests("HTTP1Tests", ["HTTP1", "HTTPCodec"]),
        tests("TLSEngineTests", ["TLSEngine", "HTTPCodec", "COpenSSL"]),
        tests("AuthorizationTests", ["HTTPCodec", "Interception", "Authorization"]),
        tests(
            "ProxyCoreTests",
            ["ProxyCore", "HTTPCodec", "HTTP1", "TLSEngine", "Interception", "Authorization", "Observation"]),
        .target(name: "TestSockets", path: "Tests/TestSockets", swiftSettings: strict),
        tests("EventLoopTests", ["EventLoop", "TestSockets"]),
        tests(
            "ProxyDriverTests",
            [
                "ProxyDriver", "HTTPCodec", "TLSEngine", "ProxyCore", "Interception", "EventLoop", "COpenSSL",
                "TestSockets",
            ]),
        tests("SandboxTests", ["Sandbox", "HTTPCodec", "HTTP1", "TLSEngine", "EventLoop", "TestSockets"]),
        tests(
            "UsherTests",
            [
                "Usher", "Observation", "Configuration", "ProxyCore", "Interception", "Authorization", "TLSEngine",
                "HTTPCodec",
            ]),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: [
                "Configuration", "ProxyCore", "TLSEngine", "Authorization", "Interception", "Declaration", "HTTPCodec",
            ],
            exclude: ["bad"], swiftSettings: strict),
    ]
)
