"""Sends a request again after 503, and says how often."""

from usher_scripts import Action, Request, Response, Retry, Script

script = Script()


@script.request
def count(request: Request, action: Action) -> None:
    request.headers["X-Attempt"] = request.state.get("attempt", "1")


@script.response
def again(response: Response, request: Request, action: Action) -> Retry | None:
    attempt = int(response.state.get("attempt", "1"))
    if response.status != 503 or attempt == 3:
        return None
    response.state["attempt"] = str(attempt + 1)
    return Retry(after=0.2)


script.run()
