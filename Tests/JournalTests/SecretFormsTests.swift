import Journal
import Testing

/// What programs write secrets in, each as it was seen to slip through once.
struct SecretFormsTests {
    private static let secret = "zQ17k7Xw9Lp2Vb4Tn6Rm8Y"

    /// Where it stands, the type of the body, and the text.
    // swift-format-ignore
    private static let forms: [(part: FlowPart, type: String, text: String)] = [
        (.requestBody, "application/json", "{\"password\": \"$ECRET\"}"),
        (.requestBody, "application/x-www-form-urlencoded", "{\"password\": \"$ECRET\"}"),
        (.requestBody, "application/x-www-form-urlencoded", "{\"authId\": \"x\", \"callbacks\": [{\"type\": \"PasswordCallback\", \"input\": [{\"name\": \"IDToken2\", \"value\": \"$ECRET\"}]}]}"),
        (.requestBody, "application/json", "{\"authId\": \"x\", \"callbacks\": [{\"type\": \"PasswordCallback\", \"input\": [{\"name\": \"IDToken2\", \"value\": \"$ECRET\"}]}]}"),
        (.requestBody, "application/json", "{\"callbacks\":[{\"type\":\"PasswordCallback\",\"input\":[{\"name\":\"IDToken2\",\"value\":\"$ECRET\"}]}],}"),
        (.requestBody, "application/json", "{\"body\": {\"callbacks\": [{\"type\": \"PasswordCallback\", \"input\": [{\"name\": \"IDToken2\", \"value\": \"$ECRET\"}]}]}}"),
        (.requestBody, "application/json", "[{\"callbacks\": [{\"type\": \"PasswordCallback\", \"input\": [{\"name\": \"IDToken2\", \"value\": \"$ECRET\"}]}]}]"),
        (.requestBody, "application/json", "{\"callbacks\":[{\"type\":\"PasswordCallback\",\"input\":[{\"name\":\"IDToken2\",\"value\":\"$ECRET\"}]}],\"callbacks\":[]}"),
        (.requestBody, "application/json", "{\"callbacks\":[],\"callbacks\":[{\"type\":\"PasswordCallback\",\"input\":[{\"name\":\"IDToken2\",\"value\":\"$ECRET\"}]}]}"),
        (.requestBody, "application/json", "{\"callbacks\":[{\"type\":\"NameCallback\",\"type\":\"PasswordCallback\",\"input\":[{\"name\":\"IDToken2\",\"value\":\"$ECRET\"}]}]}"),
        (.requestBody, "application/json", "{\"callbacks\":[{\"type\":\"PasswordCallback\",\"type\":\"NameCallback\",\"input\":[{\"name\":\"IDToken2\",\"value\":\"$ECRET\"}]}]}"),
        (.requestBody, "application/json", "{\"c\\u0061llbacks\":[{\"type\":\"Passw\\u006frdCallback\",\"input\":[{\"name\":\"IDToken2\",\"value\":\"$ECRET\"}]}]}"),
        (.requestBody, "application/json", "{\"callbacks\":[{\"type\":\"PasswordCallback\",\"input\":[{\"name\":\"IDToken2\",\"value\":[\"$ECRET\"]}]}]}"),
        (.requestBody, "application/json", "\u{FEFF}{\"callbacks\":[{\"type\":\"PasswordCallback\",\"input\":[{\"name\":\"IDToken2\",\"value\":\"$ECRET\"}]}]}"),
        (.requestBody, "application/json", "{\"payload\": \"{\\\"callbacks\\\": [{\\\"type\\\": \\\"PasswordCallback\\\", \\\"input\\\": [{\\\"name\\\": \\\"IDToken2\\\", \\\"value\\\": \\\"$ECRET\\\"}]}]}\"}"),
        (.requestBody, "application/json", "{\"payload\": \"{\\\"password\\\": \\\"$ECRET\\\"}\"}"),
        (.requestBody, "application/json", "{\"callbacks\": [{\"input\": [{\"name\": \"IDToken2\", \"value\": \"$ECRET\"}]}]}"),
        (.responseBody, "application/json", "{\"callbacks\": [{\"type\": \"TextOutputCallback\", \"output\": [{\"name\": \"message\", \"value\": \"otpauth://totp/a:b?secret=$ECRET&issuer=x\"}]}]}"),
        (.responseBody, "application/json", "{\"callbacks\": [{\"type\": \"HiddenValueCallback\", \"output\": [{\"name\": \"value\", \"value\": \"otpauth://totp/a:b?secret=$ECRET&issuer=x\"}, {\"name\": \"id\", \"value\": \"mfaDeviceRegistration\"}], \"input\": [{\"name\": \"IDToken1\", \"value\": \"mfaDeviceRegistration\"}]}]}"),
        (.responseBody, "application/json", "{\"recoveryCodes\": [\"$ECRET\"]}"),
        (.requestBody, "application/json", "{\"password\": [\"$ECRET\"]}"),
        (.requestBody, "application/json", "{\"password\": {\"value\": \"$ECRET\"}}"),
        (.requestBody, "text/plain", "{\"password\": \"$ECRET\"}"),
        (.requestBody, "text/plain", "{password: '$ECRET'}"),
        (.requestBody, "application/json", ")]}',\n{\"access_token\": \"$ECRET\"}"),
        (.requestBody, "image/png", "{\"password\": \"$ECRET\"}"),
        (.requestBody, "text/yaml", "password: $ECRET\n"),
        (.requestBody, "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n$ECRET\r\n--b--\r\n"),
        (.requestBody, "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=password\r\n\r\n$ECRET\r\n--b--\r\n"),
        (.requestBody, "multipart/form-data; boundary=b", "--b\nContent-Disposition: form-data; name=\"password\"\n\n$ECRET\n--b--\n"),
        (.requestBody, "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nx\r\n--$ECRET\r\n--b--\r\n"),
        (.requestBody, "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n{\"callbacks\":[{\"type\":\"PasswordCallback\",\"input\":[{\"name\":\"IDToken2\",\"value\":\"$ECRET\"}]}]}\r\n--b--\r\n"),
        (.requestBody, "application/x-www-form-urlencoded", "password[]=$ECRET"),
        (.requestBody, "application/x-www-form-urlencoded", "user%5Bpassword%5D=$ECRET"),
        (.requestBody, "application/x-www-form-urlencoded", "j_username=a&j_password=$ECRET"),
        (.requestBody, "application/x-www-form-urlencoded", "a=b;password=$ECRET"),
        (.requestBody, "application/x-www-form-urlencoded", "goto=https%3A%2F%2Fapp%2Fcb%3Fcode%3D$ECRET"),
        (.requestBody, "application/x-www-form-urlencoded", "password=$ECRET"),
        (.requestBody, "text/plain", "PASSWORD=$ECRET"),
        (.requestBody, "text/plain", "password= $ECRET"),
        (.requestBody, "text/plain", "a=1&password=ab,$ECRET&x=1"),
        (.requestBody, "", "a=1&password=ab;$ECRET&x=1"),
        (.requestBody, "text/xml", "<login><password>$ECRET</password></login>"),
        (.requestBody, "text/xml", "<wsse:Password Type=\"x\">$ECRET</wsse:Password>"),
        (.requestBody, "application/json", "{\"accessToken\": \"$ECRET\"}"),
        (.requestBody, "application/json", "{\"clientSecret\": \"$ECRET\"}"),
        (.responseBody, "application/json", "{\"successUrl\": \"https://app/cb?code=$ECRET&x=1\"}"),
        (.responseBody, "application/json", "{\"u\": \"https://app/cb#access_token=$ECRET&x=1\"}"),
        (.responseBody, "application/json", "{\"device_code\": \"abc\", \"user_code\": \"$ECRET\", \"verification_uri_complete\": \"https://as/device?user_code=$ECRET\"}"),
        (.responseBody, "application/json", "{\"u\": \"https://bob:$ECRET@app/cb\"}"),
        (.responseBody, "application/json", "{\"h\": \"Cookie: iPlanetDirectoryPro=$ECRET\"}"),
        (.responseBody, "application/json", "{\"headers\": [{\"name\": \"Authorization\", \"value\": \"Bearer $ECRET\"}]}"),
        (.responseBody, "application/json", "{\"headers\": {\"Authorization\": \"Bearer $ECRET\"}}"),
        (.responseBody, "application/json", "{\"cookies\": {\"iPlanetDirectoryPro\": \"$ECRET\"}}"),
        (.responseBody, "application/json", "[{\"name\": \"password\", \"value\": \"$ECRET\"}]"),
        (.responseBody, "text/html", "<form><input type=\"hidden\" value=\"$ECRET\" name=\"SAMLResponse\"></form>"),
        (.responseBody, "text/html", "<form><input name=SAMLResponse value=\"$ECRET\"></form>"),
        (.responseBody, "text/html", "<form><input name=code value=$ECRET></form>"),
        (.responseBody, "text/html", "<form><input name=\"SAMLResponse\" value=\"$ECRET\"></form>"),
        (.responseBody, "text/html", "<FORM><INPUT NAME=\"SAMLResponse\" VALUE=\"$ECRET\"></FORM>"),
        (.responseBody, "text/html", "<input name=\"SAMLResponse\" value = \"$ECRET\">"),
        (.responseBody, "text/html", "<input name=\"code\" title=\"a > b\" value=\"$ECRET\">"),
        (.responseBody, "text/html", "<input name=\"code\" class=\"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc\" value=\"$ECRET\">"),
        (.responseBody, "text/html", "<input name=\"code\" value-type=\"x\" value=\"$ECRET\">"),
        (.responseBody, "text/html", "<meta name=\"csrf-token\" content=\"$ECRET\">"),
        (.responseBody, "text/html", "<meta name=\"_csrf\" content=\"$ECRET\"/>"),
        (.responseBody, "text/html", "<a href=\"https://app/cb?a=1&amp;code=$ECRET\">"),
        (.responseBody, "text/html", "const access_token = `$ECRET`;"),
        (.responseBody, "text/html", "var x={access_token:'$ECRET'}"),
        (.responseBody, "text/event-stream", "data: {\"access_token\":\"$ECRET\"}\n\n"),
        (.responseBody, "text/event-stream", "data: {\"callbacks\":[{\"type\":\"PasswordCallback\",\"input\":[{\"name\":\"IDToken2\",\"value\":\"$ECRET\"}]}]}\n\n"),
        (.responseBody, "application/jwt", "eyJhbGciOiJub25lIn0.$ECRET."),
        (.responseBody, "application/jwt", "eyJhbGciOiJkaXIifQ..aaaaaaaa.$ECRET.bbbb"),
        (.responseBody, "text/plain", "eyJhbGciOiJub25lIn0.$ECRET"),
        (.responseBody, "text/plain", "see https://bob:$ECRET@host/"),
        (.responseBody, "text/plain", "Authorization: Bearer $ECRET\n"),
        (.responseBody, "application/json", "{\"password\":\"ab\\\"$ECRET\",}"),
        (.request, "", "Cookie: $ECRET\r\n"),
        (.request, "", "Cookie: lang=$ECRET\r\n"),
        (.request, "", "Cookie: iPlanetDirectoryPro=\"a;$ECRET\"\r\n"),
        (.request, "", "Authorization: Bearer\u{9}$ECRET\r\n"),
        (.request, "", "X-Authorization: Bearer $ECRET\r\n"),
        (.request, "", "X-Forwarded-Authorization: Bearer $ECRET\r\n"),
        (.request, "", "PRIVATE-TOKEN: $ECRET\r\n"),
        (.request, "", "X-Vault-Token: $ECRET\r\n"),
        (.request, "", "Sec-WebSocket-Protocol: bearer, $ECRET\r\n"),
        (.request, "", "X-Original-URL: /x?code=$ECRET\r\n"),
        (.request, "", "Referer: https://app/#/cb?access_token=$ECRET\r\n"),
        (.request, "", "Origin: https://a:$ECRET@b\r\n"),
        (.request, "", "X-J: {\"access_token\": \"$ECRET\"}\r\n"),
        (.request, "", "X-OpenAM-Password: $ECRET\r\n"),
        (.target, "", "/c?code=$ECRET"),
        (.target, "", "/c;jsessionid=$ECRET"),
        (.target, "", "/c?a=1;code=$ECRET"),
        (.target, "", "/c?goto=https%3A%2F%2Fapp%2Fcb%3Fcode%3D$ECRET"),
        (.target, "", "/c/am/json/sessions/$ECRET?_action=logout"),
        (.target, "", "/c?next=%23access_token%3D$ECRET"),
        (.target, "", "/c?+code=$ECRET"),
        (.target, "", "/c?c%256Fde=$ECRET"),
        (.target, "", "/c?code[]=$ECRET"),
        (.target, "", "/c?accessToken=$ECRET"),
        (.target, "", "/c?X-Amz-Signature=$ECRET"),
        (.response, "", "Location: https://app/cb#access_token=$ECRET\r\n"),
        (.response, "", "Location: https://app/#/cb?code=$ECRET\r\n"),
        (.response, "", "Location: //bob:$ECRET@app/\r\n"),
        (.response, "", "Location: https://$ECRET@app/\r\n"),
        (.response, "", "Location: https:\\\\bob:$ECRET@app/\r\n"),
        (.response, "", "Location: https://app/x;jsessionid=$ECRET\r\n"),
        (.response, "", "Link: <https://a/>; rel=x, <https://bob:$ECRET@b/?code=1>; rel=y\r\n"),
        (.response, "", "Set-Cookie: $ECRET; Path=/\r\n"),
        (.response, "", "X-Redirect-To: https://a/?code=$ECRET\r\n"),
        (.response, "", "Authentication-Info: nextnonce=\"x\", rspauth=\"$ECRET\"\r\n"),
        (.response, "", "Authorization: Bearer $ECRET\r\n"),
        (.response, "", "WWW-Authenticate: Bearer error_uri=\"https://a/?code=$ECRET\"\r\n"),
        (.responseBody, "text/html", "<script>for(i=0;i<n;i++){x={token:\"$ECRET\"}} if(a>b){}</script>"),
        (.responseBody, "text/html", "<div onclick=\"go({token:'$ECRET'})\">"),
        (.responseBody, "text/html", "<script>if (i<n && access_token==\"$ECRET\") { a = b > c }</script>"),
        (.responseBody, "text/html", "<input name=\"password\" value=\"$ECRET"),
        (.requestBody, "application/x-www-form-urlencoded", "a=1;password=x;$ECRET"),
        (.requestBody, "application/x-www-form-urlencoded", "password%20=$ECRET&p%252561ssword=x"),
        (.requestBody, "application/x-www-form-urlencoded", "p%252561ssword=$ECRET"),
        (.requestBody, "application/x-www-form-urlencoded", "goto=http%253A%252F%252Fh%252F%253Faccess_token%253D$ECRET"),
        (.target, "", "/?goto=http%3A%2F%2Fh%2Flogin%3Fgoto%3Dhttp%253A%252F%252Fh%252Fcb%253Faccess_token%253D$ECRET"),
        (.requestBody, "application/json", #"{"a":"{\"a\":\"{\\\"password\\\":\\\"$ECRET\\\"}\"}"}"#),
        (.responseBody, "text/xml", "<password><![CDATA[$ECRET]]></password>"),
        (.responseBody, "text/xml", "<password><!-- it --> $ECRET</password>"),
        (.responseBody, "text/html", "<textarea name=password>$ECRET</textarea>"),
        (.responseBody, "text/html", "<input \(String(repeating: "a=b ", count: 300))name=password value=$ECRET>"),
        (
            .requestBody, "multipart/form-data; boundary=b",
            "--b\r\nContent-Disposition: form-data;\r\n name=\"password\"\r\n\r\n$ECRET\r\n--b--\r\n"
        ),
        (.responseBody, "text/javascript", "x['password']='$ECRET'"),
        (.responseBody, "text/javascript", "x = {password:['$ECRET']}"),
        (.responseBody, "text/yaml", "password:\n  $ECRET\n"), (.responseBody, "text/yaml", "password: |\n  $ECRET\n"),
        (.responseBody, "text/plain", "password:$ECRET"),
        (.request, "", "X-Where: a@b //c:$ECRET@d\r\n"),
        (.requestBody, "application/x-www-form-urlencoded", "LARES=$ECRET"),
        (.requestBody, "application/x-www-form-urlencoded", "callback_0=demo&callback_1=$ECRET"),
        (.requestBody, "application/x-www-form-urlencoded", "callbacks=%5B%7B%22type%22%3A%22PasswordCallback%22%2C%22input%22%3A%5B%7B%22name%22%3A%22x%22%2C%22value%22%3A%22$ECRET%22%7D%5D%7D%5D"),
        (.requestBody, "application/json", "{\"securityAnswer\": \"$ECRET\"}"),
        (.requestBody, "application/json", "{\"Callbacks\":[{\"type\":\"PasswordCallback\",\"input\":[{\"name\":\"x\",\"value\":\"$ECRET\"}]}]}"),
        (.requestBody, "application/json", "{\"callbacks\":[{\"type\":\"FancyCallback\",\"input\":{\"name\":\"x\",\"value\":\"$ECRET\"}}]}"),
        (.requestBody, "application/json", "{\"type\":\"PasswordCallback\",\"input\":[{\"name\":\"x\",\"value\":\"$ECRET\"}]}"),
        (.requestBody, "application/json", "{\"callbacks\":[{\"type\":\"TextInputCallback\",\"output\":[{\"name\":\"prompt\",\"value\":\"Verification number\"}],\"input\":[{\"name\":\"x\",\"value\":\"$ECRET\"}]}]}"),
        (.requestBody, "application/json", "{\"callbacks\":[{\"type\":\"TextInputCallback\",\"output\":[{\"name\":\"prompt\",\"value\":\"Your mother's maiden name?\"}],\"input\":[{\"name\":\"x\",\"value\":\"$ECRET\"}]}]}"),
        (.requestBody, "application/json", "[{\"op\":\"add\",\"path\":\"/p%61ssword\",\"value\":\"$ECRET\"}]"),
        (.requestBody, "application/json", "[{\"op\":\"add\",\"path\":\"/pass~0word\",\"value\":\"$ECRET\"}]"),
        (.requestBody, "application/json", "{\"headers\": [{\"name\": \"Cookie\", \"value\": \"foo=$ECRET\"}]}"),
        (.requestBody, "application/json", "{\"headers\": [{\"name\": \"Set-Cookie\", \"value\": \"foo=$ECRET; Path=/\"}]}"),
        (.requestBody, "application/json", "{\"headers\": {\"Set-Cookie\": [\"foo=$ECRET; Path=/\"]}}"),
        (.requestBody, "application/json", "{\"headers\": {\"Cookie\": [\"a=b\", \"foo=$ECRET\"]}}"),
        (.requestBody, "text/plain", "p%61ssword=$ECRET"),
        (.requestBody, "text/plain", "say {\"p\\u0061ssword\":\"$ECRET\"}"),
        (.requestBody, "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name*=UTF-8''p%61ssword\r\n\r\n$ECRET\r\n--b--\r\n"),
        (.requestBody, "multipart/mixed; boundary=b", "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie: foo=$ECRET; Path=/\r\n\r\n--b--\r\n"),
        (.requestBody, "text/xml", "<saml:SubjectConfirmationData>$ECRET</saml:SubjectConfirmationData>"),
        (.responseBody, "text/xml", "<cas:proxyGrantingTicket>PGTIOU-$ECRET</cas:proxyGrantingTicket>"),
        (.responseBody, "text/plain", "token.id=$ECRET\nuserdetails.role=id=demo\n"),
        (.responseBody, "text/plain", "a session: Ab9-_xyz$ECRET*AAJTSQACMDEAAlNLABw*\n"),
        (.responseBody, "text/plain", "a session: Ab9-_xyz$ECRET..%252AAAJTSQACMDEAAlNLABw*\n"),
        (.responseBody, "text/html", "<input name='pass&#119;ord' value='$ECRET'>"),
        (.responseBody, "text/html", "<input name='p&#x61;ssword' value='$ECRET'>"),
        (.responseBody, "text/html", "<meta http-equiv='Set-Cookie' content='foo=$ECRET'>"),
        (.responseBody, "text/javascript", "window.k={kty:'RSA',d:'$ECRET'}"),
        (.responseBody, "text/javascript", "window.k={kty:'RSA', n:'x', dp: '$ECRET'}"),
        (.responseBody, "text/javascript", "localStorage.setItem('access_token','$ECRET')"),
        (.responseBody, "text/javascript", "s.setItem( \"tokenId\", \"$ECRET\")"),
        (.responseBody, "text/javascript", "password += '$ECRET'"), (.responseBody, "text/javascript", "password ||= '$ECRET'"),
        (.responseBody, "text/javascript", "password = a || '$ECRET'"),
        (.responseBody, "text/javascript", "password = a.b(c) ? 'x' : '$ECRET'"),
        (.request, "", "Cookie2: foo=\"$ECRET\"\r\n"),
        (.request, "", "X-Apikey: $ECRET\r\n"), (.request, "", "X-Access-Key: $ECRET\r\n"),
        (.request, "", "Sec-WebSocket-Protocol: graphql-ws, token.$ECRET\r\n"),
        (.request, "", "Sec-WebSocket-Protocol: bearer, x, $ECRET\r\n"),
        (.response, "", "Set-Cookie2: foo=\"$ECRET\"; Version=1\r\n"),
        (.response, "", "Set-Cookie: lang=en; Expires=Wed, 21 Oct 2015 07:28:00 GMT, foo=$ECRET; Path=/\r\n"),
        (.target, "", "/am/json/tokens/$ECRET"), (.target, "", "/am/json/sess%69ons/$ECRET?_action=logout"),
        (.target, "", "/am/identity/attributes?subjectid=$ECRET"), (.target, "", "/p?token.id=$ECRET"),
        (.target, "", "/cas/callback?pgtId=PGT-1-$ECRET&pgtIou=PGTIOU-1-x"),
        (.target, "", "/am/UI/Login?sunamcompositeadvice=%3CAdvices%3E%3CAttributeValuePair%3E%3CAttribute%20name%3D%22TransactionConditionAdvice%22%2F%3E%3CValue%3E$ECRET%3C%2FValue%3E"),
        (.target, "", "/p?$ECRET"), (.target, "", "/p?a=b&$ECRET"), (.target, "", "/p?a=b&$ECRET&c"),
    ]

    @Test("A secret is found in every form that programs use", arguments: forms.indices)
    func isFound(_ index: Int) throws {
        let form = Self.forms[index]
        var store = JournalStore(JournalStore.Settings(memory: 1 << 20, bodies: 8192)) { ("note", "\($0)") }
        var batch = FlowBatch()
        var packer = batch.begin([])
        packer.set(.id, 1)
        let text = form.text.replacing("$ECRET", with: Self.secret)
        let head = form.type.isEmpty ? "" : "Content-Type: \(form.type)\r\n"
        for part in [FlowPart.target, .request, .requestBody, .response, .responseBody] {
            if part == form.part {
                packer.set(part, text)
            } else if part == .request || part == .response {
                packer.set(part, head)
            }
        }
        batch.end(packer)
        let flow = try #require(store.take(batch, offset: 0).first)
        let kept = flow.text(form.part) ?? ""
        #expect(!kept.contains(Self.secret) && (kept.contains("#") || flow.flags.contains(.unread)), "\(kept)")
    }

    @Test("Grouped recovery codes are redacted, and no other words with hyphens")
    func groups() throws {
        var store = JournalStore(JournalStore.Settings(memory: 1 << 20, bodies: 8192)) { ("note", "\($0)") }
        var batch = FlowBatch()
        var packer = batch.begin([])
        packer.set(
            .responseBody,
            "<p class=\"col-md-12\">Recovery codes</p><ul id='list-items-2'><li>ab12-3c4d-e5f6</li><li>two-factor</li></ul>"
        )
        batch.end(packer)
        let flow = try #require(store.take(batch, offset: 0).first)
        #expect(
            flow.text(.responseBody)
                == "<p class=\"col-md-12\">Recovery codes</p><ul id='list-items-2'><li>one-time#1</li><li>two-factor</li></ul>"
        )
    }

    @Test("Secrets in UTF-16, and numbers with secret names, are redacted")
    func others() throws {
        let json = "{\"password\":\"\(Self.secret)\",\"otp\":918273645546}"
        let wide = json.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        for body in [Array(json.utf8), wide, [0xFF, 0xFE] + wide] {
            var store = JournalStore(JournalStore.Settings(memory: 1 << 20, bodies: 8192)) { ("note", "\($0)") }
            var batch = FlowBatch()
            var packer = batch.begin([])
            packer.set(.requestBody, body)
            batch.end(packer)
            let flow = try #require(store.take(batch, offset: 0).first)
            #expect(flow.text(.requestBody) == "{\"password\":\"password#1\",\"otp\":\"one-time#1\"}")
        }
    }

    @Test("Text without secrets stays unchanged")
    func harmless() throws {
        for text in [
            "{\"code\":401,\"reason\":\"Unauthorized\",\"message\":\"Access Denied\"}",
            "{\"state\":{\"items\":[\"a\"],\"page\":2},\"session\":{\"user\":\"bob\"}}",
            "{\"authId\":1,\"callbacks\":[{\"type\":\"NameCallback\",\"output\":[{\"name\":\"prompt\",\"value\":\"User Name\"}],\"input\":[{\"name\":\"IDToken1\",\"value\":\"demo\"}]}]}",
            "<p class=\"state\">the code: 404</p>", "me@example.com, https://example.com/a?b=c#d",
            "<p>100%, 50%abc &#169; &#97; recovery\\u0020</p>", "say('token', x); a = ['token', 'open']",
        ] {
            var store = JournalStore(JournalStore.Settings(memory: 1 << 20, bodies: 8192)) { ("note", "\($0)") }
            var batch = FlowBatch()
            var packer = batch.begin([])
            packer.set(.responseBody, text)
            batch.end(packer)
            let flow = try #require(store.take(batch, offset: 0).first)
            #expect(flow.text(.responseBody) == text)
        }
    }
}
