// go run client.go PROXY-PORT ORIGIN [RESOURCE COOKIE]: the exchanges of test_real_clients.py with Go's own client; then all bytes
// there are, posted to RESOURCE, and what it answers.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
)

func check(good bool, what string) {
	if !good {
		panic(what)
	}
}

func read(answer *http.Response, err error) []byte {
	check(err == nil && answer.StatusCode == 200, fmt.Sprint(err))
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	check(err == nil, fmt.Sprint(err))
	return body
}

func main() {
	proxy, _ := url.Parse("http://127.0.0.1:" + os.Args[1])
	origin := os.Args[2]
	client := &http.Client{Transport: &http.Transport{
		// Go leaves a proxy out for names of this machine unless it is told which one to take
		Proxy: func(*http.Request) (*url.URL, error) { return proxy, nil },
	}}
	for turn := 0; turn < 20; turn++ {
		check(string(read(client.Get(origin+"/get"))) == "hello", "get")
	}
	body := bytes.Repeat([]byte("g"), 100000)
	// one with a length, one in chunks
	for _, reader := range []io.Reader{bytes.NewReader(body), io.MultiReader(bytes.NewReader(body))} {
		check(bytes.Equal(read(client.Post(origin+"/echo", "text/plain", reader)), body), "echo")
	}
	check(len(read(client.Get(origin+"/chunked"))) == 200000, "chunked")
	fmt.Println("ok")
	if len(os.Args) > 3 {
		all := make([]byte, 256)
		for value := range all {
			all[value] = byte(value)
		}
		asked, err := http.NewRequest("POST", os.Args[3], bytes.NewReader(all))
		check(err == nil, fmt.Sprint(err))
		asked.Header.Set("Cookie", os.Args[4])
		fmt.Println(string(read(client.Do(asked))))
	}
}
