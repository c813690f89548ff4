/// `/plain/try`: a page to try the gateway in a browser. It signs in, fetches a URL and shows the response, or navigates to it.
/// The text after `#` runs at once: `#name=demo&password=changeit&method=GET&ask=/shop/x&tell=/plain/y&go=/shop/z`.
enum TryPage {
    static let text = """
        <!DOCTYPE html>
        <html lang="en"><meta charset="utf-8"><title>Try the sandbox</title>
        <form id="form">
        <p><label>User <input name="name" value="demo"></label>
        <label>Password <input name="password" type="password" value="changeit"></label>
        <button value="signIn">Sign in</button></p>
        <p><label>Method <input name="method" value="GET" size="6"></label>
        <label>Path <input name="ask" value="/shop/pay?amount=40" size="40"></label>
        <button value="fetch">Fetch</button> <button value="go">Go there</button></p>
        </form>
        <pre id="told"></pre>
        <script>
        const told = text => { document.getElementById('told').textContent += text + '\\n' }
        async function signIn(name, password) {
          const answer = await fetch('/am/json/realms/root/authenticate?ForceAuth=true', {
            method: 'POST', headers: {
              'X-OpenAM-Username': name, 'X-OpenAM-Password': password, 'Accept-API-Version': 'resource=2.1,protocol=1.0' } })
          told('signed in: ' + answer.status)
          return answer.ok
        }
        async function ask(method, path) {
          const reads = method === 'GET' || method === 'HEAD'
          const answer = await fetch(path, { method, body: reads ? undefined : 'a body' })
          const text = await answer.text()
          told(`${method} ${path}: ${answer.status}\\n${text}`)
          return { status: answer.status, text }
        }
        document.getElementById('form').addEventListener('submit', event => {
          event.preventDefault()
          const value = name => event.target.elements[name].value
          switch (event.submitter.value) {
          case 'signIn': return signIn(value('name'), value('password'))
          case 'fetch': return ask(value('method'), value('ask'))
          default: location.href = value('ask')
          }
        })
        const wanted = new URLSearchParams(location.hash.slice(1))
        async function run() {
          if (wanted.has('name')) await signIn(wanted.get('name'), wanted.get('password'))
          if (wanted.has('ask')) {
            const answer = await ask(wanted.get('method') ?? 'GET', wanted.get('ask'))
            if (wanted.has('tell')) await fetch(wanted.get('tell'), { method: 'POST', body: JSON.stringify(answer) })
          }
          if (wanted.has('go')) location.href = wanted.get('go')
        }
        run()
        </script></html>

        """
}
