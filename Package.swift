// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

func module(_ name: String, in group: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(group)/\(name)", swiftSettings: strict)
}

func library(_ name: String, _ pkgConfig: String? = nil, from package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "usher",
    products: [
        .executable(name: "usher", targets: ["UsherCommand"]),
        .library(name: "Usher", targets: ["Usher"]),
        .library(name: "Sandbox", targets: ["Sandbox"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: [
        library("CLibevent", "libevent_core", from: "libevent-dev"),
        library("COpenSSL", "openssl", from: "libssl-dev"),
        library("CAres", "libcares", from: "libc-ares-dev"),
        library("CPCRE2", "libpcre2-8", from: "libpcre2-dev"),
        library("CZlib", "zlib", from: "zlib1g-dev"),
        library("CBrotli", "libbrotlidec libbrotlienc", from: "libbrotli-dev"),
        library("CZstd", "libzstd", from: "libzstd-dev"),
        library("CSQLite", "sqlite3", from: "libsqlite3-dev"),
        library("CNghttp2", "libnghttp2", from: "libnghttp2-dev"),
        library("CCrypt", from: "libcrypt-dev"),
        library("CIDN2", from: "libidn2-dev"),
        library("CYAML", "yaml-0.1", from: "libyaml-dev"),
        .systemLibrary(name: "CLinux", path: "Sources/C/CLinux"),

        module("Formats", in: "Base"),
        module("Addresses", in: "Base", ["Formats"]),
        module("HTTPCodec", in: "HTTP", ["Formats", "Addresses"]),
        module("HTTP1", in: "HTTP", ["Formats", "HTTPCodec"]),
        module("HTTP2", in: "HTTP", ["Formats", "HTTPCodec", "CNghttp2"]),
        module("TLSEngine", in: "TLS", ["Formats", "Addresses", "COpenSSL"]),
        module("Passwords", in: "Base", ["Formats", "Addresses", "CCrypt"]),
        module("ContentCoding", in: "HTTP", ["Formats", "HTTPCodec", "CZlib", "CBrotli", "CZstd"]),
        module("Declaration", in: "Base", ["Formats", "Addresses", "HTTPCodec"]),
        module("Interceptors", in: "Rules", ["Formats", "HTTPCodec"]),
        module("Scripts", in: "Rules", ["Formats", "Interceptors"]),
        module(
            "Interception", in: "Rules",
            ["Formats", "Addresses", "HTTPCodec", "ContentCoding", "Declaration", "Interceptors", "Scripts", "CPCRE2"]),
        module(
            "Journal", in: "Records",
            ["Formats", "Addresses", "HTTPCodec", "ContentCoding", "Declaration", "Interception"]),
        module(
            "Expectations", in: "Records",
            ["Formats", "HTTPCodec", "Interception", "Journal"]),
        module("Recordings", in: "Records", ["Formats", "HTTPCodec", "TLSEngine", "Journal"]),
        module("Metrics", in: "Records", ["Formats", "HTTPCodec", "Interception"]),
        module("Authorization", in: "AM", ["Formats", "Addresses", "HTTPCodec", "TLSEngine", "Interception"]),
        module(
            "ProxyCore", in: "Proxy",
            [
                "Formats", "Addresses", "HTTPCodec", "HTTP1", "HTTP2", "TLSEngine", "Passwords", "Interception",
                "Journal",
                "Authorization",
            ]),

        module(
            "Control", in: "Daemon",
            [
                "Formats", "Addresses", "HTTPCodec", "HTTP1", "Declaration", "Interception", "Journal", "Recordings",
                "Authorization", "ProxyCore",
            ]),

        module("EventLoop", in: "Loop", ["CLibevent"]),
        module("Names", in: "Loop", ["EventLoop", "CAres"]),
        module(
            "ProxyDriver", in: "Proxy",
            [
                "Formats", "Addresses", "HTTPCodec", "HTTP1", "HTTP2", "TLSEngine", "Passwords", "Interception",
                "Journal",
                "Metrics", "Authorization", "ProxyCore", "EventLoop", "Names",
            ]),

        module("Spill", in: "Records", ["Formats", "ContentCoding", "Journal", "CSQLite"]),
        module("Observation", in: "Records", ["Formats", "HTTPCodec", "Interception", "Journal"]),
        module(
            "Configuration", in: "Daemon",
            [
                "Formats", "Addresses", "HTTPCodec", "TLSEngine", "Passwords", "Declaration", "Interceptors", "Scripts",
                "Interception", "Journal", "Expectations", "Recordings", "Authorization", "ProxyCore", "CIDN2", "CYAML",
            ]),
        module(
            "Sandbox", in: "Program",
            [
                "Formats", "HTTPCodec", "HTTP1", "TLSEngine", "Declaration", "Interception", "EventLoop",
                "Configuration",
            ]),
        module(
            "Operation", in: "Daemon",
            [
                "Formats", "Addresses", "HTTPCodec", "HTTP1", "TLSEngine", "ContentCoding", "Scripts", "Interception",
                "Journal", "Expectations", "Recordings", "Authorization", "Metrics", "ProxyCore", "Control",
                "EventLoop", "Names",
                "ProxyDriver", "Observation", "Configuration", "Spill", "CLinux",
            ]),
        module(
            "Commands", in: "Program",
            [
                "Formats", "HTTPCodec", "TLSEngine", "Interceptors", "Expectations", "Recordings", "Configuration",
                "Operation", "Sandbox",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        module("Usher", in: "Program", ["Interceptors", "Commands"]),
        .executableTarget(
            name: "UsherCommand", dependencies: ["Usher"], path: "Sources/Program/UsherCommand", swiftSettings: strict),
        .executableTarget(
            name: "usher-instructions",
            dependencies: [
                "Formats", "HTTPCodec", "HTTP1", "Interception", "Journal", "Expectations", "Metrics", "Authorization",
                "ProxyCore", "Observation",
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
        tests("ScriptsTests", ["Scripts", "Interceptors", "Formats"]),
        tests("MetricsTests", ["Metrics", "HTTPCodec", "Interception"]),
        tests("JournalTests", ["Journal", "Formats", "HTTPCodec", "Interception", "ContentCoding"]),
        tests("ExpectationsTests", ["Expectations", "Formats", "HTTPCodec", "Interception", "Journal"]),
        tests("RecordingsTests", ["Recordings", "Journal", "Formats", "TLSEngine"]),
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
        tests(
            "SandboxTests",
            ["Sandbox", "Formats", "HTTPCodec", "HTTP1", "TLSEngine", "EventLoop", "Configuration", "TestSockets"]),
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
                "Configuration", "Expectations", "ProxyCore", "TLSEngine", "Passwords", "Authorization", "Interception",
                "Interceptors", "Recordings", "Declaration", "HTTPCodec", "Formats", "Addresses",
            ],
            exclude: ["bad"], swiftSettings: strict),
    ]
)
