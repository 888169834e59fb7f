// Command clients reads calls from standard input, one JSON array per line, makes them with hearth.go, and prints the
// results. With the argument "follow" it prints each event of the account.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"interop/hearth"
)

func show(value any, err error) {
	if refusal, is := err.(*hearth.Error); is {
		value = map[string]any{"error": refusal}
	} else if err != nil {
		panic(err)
	}
	line, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

func main() {
	ctx, client := context.Background(), hearth.Client{}
	if len(os.Args) > 1 {
		panic(client.Follow(ctx, "work", func(event hearth.Event) error { show(event, nil); return nil }))
	}
	var last hearth.Token
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var words []string
		if err := json.Unmarshal(lines.Bytes(), &words); err != nil {
			panic(err)
		}
		switch words[0] {
		case "token":
			token, err := client.GetToken(ctx, "work", words[1], 0)
			last = token
			show(map[string]any{
				"token": token.AccessToken, "authorization": token.Authorization(), "fingerprint": token.Fingerprint,
				"printed": fmt.Sprintf("%v %+v %#v", token, token, token),
			}, err)
		case "request":
			answer, err := client.Request(ctx, "work", words[1], words[2], []byte(words[3]), nil)
			show(map[string]any{"status": answer.Status, "body": string(answer.Body)}, err)
		case "report":
			show(nil, client.ReportUnauthorized(ctx, "work", last, ""))
		}
	}
}
