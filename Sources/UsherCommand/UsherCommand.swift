@main enum UsherCommand { static func main() {} }
