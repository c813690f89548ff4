// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "my-usher",
    dependencies: [.package(name: "usher", path: "../..")],
    targets: [
        .executableTarget(name: "MyUsher", dependencies: [.product(name: "Usher", package: "usher")])
    ]
)
