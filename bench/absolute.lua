-- wrk connects to the proxy and asks it for TARGET, a URL of the origin: absolute form, one head built once
local head

function init()
    head = wrk.format("GET", os.getenv("TARGET"), { ["Host"] = os.getenv("TARGET_HOST"), ["Accept"] = "*/*" })
end

function request()
    return head
end
