-- wrk asks the proxy for what BODIES and PAGE name: mostly plain requests, some with a body of known length, some chunked
local mix = {}
local turn = 0

function init()
    local page, bodies, host = os.getenv("PAGE"), os.getenv("BODIES"), os.getenv("TARGET_HOST")
    local body = string.rep("0123456789abcdef", 64)
    local chunked = string.format("%x\r\n%s\r\n5;a=b\r\nhello\r\n0\r\n\r\n", #body, body)
    local plain = wrk.format("GET", page, { ["Host"] = host, ["Accept"] = "*/*" })
    local zipped = wrk.format("GET", page, { ["Host"] = host, ["Accept-Encoding"] = "gzip" })
    local post = wrk.format("POST", bodies, { ["Host"] = host, ["Content-Length"] = #body }, body)
    local pieces = "POST " .. bodies .. " HTTP/1.1\r\nHost: " .. host .. "\r\nTransfer-Encoding: chunked\r\n\r\n" .. chunked
    mix = { plain, plain, plain, plain, plain, zipped, post, post, pieces, pieces }
end

function request()
    turn = turn % #mix + 1
    return mix[turn]
end
