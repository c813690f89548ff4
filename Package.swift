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
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: [
        .systemLibrary(name: "CLibevent", pkgConfig: "libevent_core", providers: [.apt(["libevent-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CAres", pkgConfig: "libcares", providers: [.apt(["libc-ares-dev"])]),
        .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlidec libbrotlienc", providers: [.apt(["libbrotli-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CCrypt", providers: [.apt(["libcrypt-dev"])]),
        .systemLibrary(name: "CIDN2", providers: [.apt(["libidn2-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CLinux"),

        room("Formats"),
        room("Addresses", ["Formats"]),
        room("HTTPCodec", ["Formats", "Addresses"]),
        room("HTTP1", ["Formats", "HTTPCodec"]),
        room("HTTP2", ["Formats", "HTTPCodec", "CNghttp2"]),
        room("TLSEngine", ["Formats", "Addresses", "COpenSSL"]),
        room("Passwords", ["Formats", "Addresses", "CCrypt"]),
        room("ContentCoding", ["Formats", "HTTPCodec", "CZlib", "CBrotli", "CZstd"]),
        room("Declaration", ["Formats", "Addresses", "HTTPCodec"]),
        room("Interceptors", ["Formats", "HTTPCodec"]),
        room(
            "Interception",
            ["Formats", "Addresses", "HTTPCodec", "ContentCoding", "Declaration", "Interceptors", "CPCRE2"]),
        room("Journal", ["Formats", "Addresses", "HTTPCodec", "ContentCoding", "Declaration", "Interception"]),
        room("Metrics", ["Formats", "HTTPCodec", "Interception"]),
        room("Authorization", ["Formats", "Addresses", "HTTPCodec", "TLSEngine", "Interception"]),
        room(
            "ProxyCore",
            [
                "Formats", "Addresses", "HTTPCodec", "HTTP1", "HTTP2", "TLSEngine", "Passwords", "Interception",
                "Journal",
                "Authorization",
            ]),

        room(
            "Control",
            ["Formats", "Addresses", "HTTPCodec", "HTTP1", "Interception", "Journal", "Authorization", "ProxyCore"]),

        room("EventLoop", ["CLibevent"]),
        room("Names", ["EventLoop", "CAres"]),
        room(
            "ProxyDriver",
            [
                "Formats", "Addresses", "HTTPCodec", "HTTP1", "HTTP2", "TLSEngine", "Passwords", "Interception",
                "Journal",
                "Metrics", "Authorization", "ProxyCore", "EventLoop", "Names",
            ]),

        room("Spill", ["Formats", "ContentCoding", "Journal", "CSQLite"]),
        room("Observation", ["Formats", "HTTPCodec", "Interception", "Journal"]),
        room(
            "Configuration",
            [
                "Formats", "Addresses", "HTTPCodec", "TLSEngine", "Passwords", "Declaration", "Interceptors",
                "Interception", "Journal", "Authorization", "ProxyCore", "CIDN2", "CYAML",
            ]),
        room("Sandbox", ["Formats", "HTTPCodec", "HTTP1", "TLSEngine", "EventLoop"]),
        room(
            "Operation",
            [
                "Formats", "Addresses", "HTTPCodec", "HTTP1", "TLSEngine", "ContentCoding", "Interception", "Journal",
                "Authorization", "Metrics", "ProxyCore", "Control", "EventLoop", "Names", "ProxyDriver", "Observation",
                "Configuration", "Spill", "CLinux",
            ]),
        room(
            "Commands",
            [
                "Formats", "HTTPCodec", "TLSEngine", "Interceptors", "Configuration", "Operation", "Sandbox",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        room("Usher", ["Interceptors", "Commands"]),
        .executableTarget(name: "UsherCommand", dependencies: ["Usher"], swiftSettings: strict),
        .executableTarget(
            name: "usher-instructions",
            dependencies: [
                "Formats", "HTTPCodec", "HTTP1", "Interception", "Journal", "Metrics", "Authorization", "ProxyCore",
                "Observation",
            ],
            path: "bench/instructions", swiftSettings: strict),

        tests("HouseTests", []),
        .target(name: "TestInputs", path: "Tests/TestInputs", swiftSettings: strict),
        .target(name: "TestSockets", path: "Tests/TestSockets", swiftSettings: strict),
        tests("FormatsTests", ["Formats", "TestInputs"]),
        tests("AddressesTests", ["Addresses"]),
        tests("HTTPCodecTests", ["HTTPCodec", "Formats", "Addresses", "TestInputs"]),
        tests("HTTP1Tests", ["HTTP1", "HTTPCodec"]),
        tests("HTTP2Tests", ["HTTP2", "HTTPCodec", "Formats", "CNghttp2"]),
        tests("TLSEngineTests", ["TLSEngine", "Formats", "Addresses", "COpenSSL", "TestInputs"]),
        tests("PasswordsTests", ["Passwords", "Addresses"]),
        tests("ContentCodingTests", ["ContentCoding", "HTTPCodec", "Formats"]),
        tests(
            "InterceptionTests",
            ["Interception", "Interceptors", "ContentCoding", "Declaration", "HTTPCodec", "Formats", "Addresses"]),
        tests("InterceptorsTests", ["Interceptors"]),
        tests("MetricsTests", ["Metrics", "HTTPCodec", "Interception"]),
        tests("JournalTests", ["Journal", "Formats", "HTTPCodec", "Interception", "ContentCoding"]),
        tests("SpillTests", ["Spill", "Journal"]),
        tests(
            "AuthorizationTests", ["HTTPCodec", "Formats", "Addresses", "TLSEngine", "Interception", "Authorization"]),
        tests(
            "ProxyCoreTests",
            [
                "ProxyCore", "Formats", "Addresses", "HTTPCodec", "HTTP1", "HTTP2", "TLSEngine", "Passwords",
                "Interception",
                "Journal",
                "ContentCoding", "Authorization", "Observation", "Declaration", "Interceptors",
            ]),
        tests("ControlTests", ["Control", "Formats", "HTTPCodec", "Journal", "Authorization", "ProxyCore"]),
        tests("EventLoopTests", ["EventLoop", "Names", "TestSockets"]),
        tests(
            "ProxyDriverTests",
            [
                "ProxyDriver", "Formats", "Addresses", "HTTPCodec", "HTTP1", "HTTP2", "TLSEngine", "Passwords",
                "ProxyCore",
                "Interception", "Interceptors", "Authorization", "EventLoop", "Journal", "Metrics", "Names",
                "COpenSSL", "TestSockets",
            ]),
        tests("ObservationTests", ["Observation", "Formats", "HTTPCodec", "Interception"]),
        tests("SandboxTests", ["Sandbox", "Formats", "HTTPCodec", "HTTP1", "TLSEngine", "EventLoop", "TestSockets"]),
        tests(
            "OperationTests",
            [
                "Operation", "Metrics", "Observation", "Configuration", "ProxyCore", "ProxyDriver", "Interception",
                "Authorization",
                "TLSEngine",
                "HTTPCodec", "Formats", "Addresses", "EventLoop", "Control", "Journal",
            ]),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: [
                "Configuration", "ProxyCore", "TLSEngine", "Passwords", "Authorization", "Interception", "Interceptors",
                "Declaration", "HTTPCodec", "Formats", "Addresses",
            ],
            exclude: ["bad"], swiftSettings: strict),
    ]
)
