#!/bin/sh
# A script in jq. A frame is the length of a JSON text, a line feed, the text and a line feed: jq reads both, and writes both.
exec jq -rn --unbuffered '
  def frame: tojson | "\(utf8bytelength)\n\(.)";

  ({hello: {protocol: 1, phases: ["request"]}} | frame),
  (inputs | objects
    | if .phase == "request"
      then {id, request: {headers: (.request.headers + [["X-Tag", .action.type]])}}
      else {id}
      end
    | frame)
' <&3 >&3
