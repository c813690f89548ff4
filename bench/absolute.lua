-- wrk connects to the proxy and asks it for TARGET, a URL of the origin: absolute form, one head built once. With BODY, a file, it
-- posts that as JSON, in the content coding CODING if there is one; with COOKIE or SESSION, it sends that along
local message

function init()
    local headers = { ["Host"] = os.getenv("TARGET_HOST"), ["Accept"] = "*/*" }
    headers["Cookie"] = os.getenv("COOKIE")
    headers["Usher-Session"] = os.getenv("SESSION")
    local path = os.getenv("BODY")
    local body
    if path then
        local file = assert(io.open(path, "rb"))
        body = file:read("*a")
        file:close()
        headers["Content-Type"] = "application/json"
        headers["Content-Encoding"] = os.getenv("CODING")
    end
    message = wrk.format(body and "POST" or "GET", os.getenv("TARGET"), headers, body)
end

function request()
    return message
end
