// Package hearth is a single-file client of hearthd, without dependencies, for Go 1.18 and later. Copy it into your program.
//
//	var client hearth.Client
//	token, err := client.GetToken(ctx, "work", "https://api.example.com/me", 0)
//	answer, err := client.Request(ctx, "work", "GET", "https://api.example.com/me", nil, nil)
//	err = client.Follow(ctx, "work", func(event hearth.Event) error { … })
package hearth

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"net"
	"os"
	"syscall"
	"time"
)

// Error is the failure of a call, with a sentence for the user.
type Error struct {
	Message string `json:"message"`
	Code    int    `json:"code"` // 0 if the daemon did not answer
	Data    struct {
		Kind      string `json:"kind"`      // such as "locked" or "reauthRequired"; "programs.md" lists all kinds
		Retryable bool   `json:"retryable"` // whether the same call may succeed later without user action
		Action    string `json:"action"`    // what the user can do: "signIn", "unlock", "wait", "fixConfiguration", or ""
	} `json:"data"`
}

func (e *Error) Error() string { return e.Message }

func failure(retryable bool, format string, values ...any) error {
	e := &Error{Message: fmt.Sprintf(format, values...)}
	e.Data.Retryable = retryable
	return e
}

// Token is an access token. It prints only its fingerprint.
type Token struct {
	AccessToken string     `json:"accessToken"` // send it immediately; do not store it
	TokenType   string     `json:"tokenType"`
	Fingerprint string     `json:"fingerprint"` // identifies the token in logs and for ReportUnauthorized
	ExpiresAt   *time.Time `json:"expiresAt"`   // nil if unknown
}

// Authorization returns the value for the Authorization header.
func (t Token) Authorization() string          { return t.TokenType + " " + t.AccessToken }
func (t Token) Format(state fmt.State, _ rune) { fmt.Fprintf(state, "token %s", t.Fingerprint) }

// Answer is an API's answer.
type Answer struct {
	Status    int            `json:"status"`
	Headers   map[string]any `json:"headers"` // each value is a string, or []any for a repeated header
	Body      []byte         `json:"bodyBase64"`
	FromCache bool           `json:"fromCache"` // whether the response is cached; only if the call sets "cache"
}

// Event is a change. The first event is a "snapshot" of the current state.
type Event struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// Client calls the user's daemon, with a connection for each call. Any number of goroutines can use it.
type Client struct {
	Path string // the socket, if it is not at its default path
}

type params struct {
	Account            string            `json:"account,omitempty"`
	URL                string            `json:"url,omitempty"`
	MinValiditySeconds int               `json:"minValiditySeconds,omitempty"`
	Fingerprint        string            `json:"fingerprint,omitempty"`
	WWWAuthenticate    string            `json:"wwwAuthenticate,omitempty"`
	Method             string            `json:"method,omitempty"`
	Headers            map[string]string `json:"headers,omitempty"`
	BodyBase64         []byte            `json:"bodyBase64,omitempty"`
}

// GetToken returns a token. If the current one expires within a minute, or within minValidity if that is not 0, Hearth
// refreshes it first. If url is not "", the call fails unless the account's api_origins contain the URL's origin.
func (c *Client) GetToken(ctx context.Context, account, url string, minValidity time.Duration) (Token, error) {
	var token Token
	given := params{Account: account, URL: url, MinValiditySeconds: int(minValidity.Seconds())}
	err := c.Call(ctx, "session.getToken", given, &token)
	return token, err
}

// ReportUnauthorized reports an API's 401. Call GetToken afterwards. wwwAuthenticate is its WWW-Authenticate header.
func (c *Client) ReportUnauthorized(ctx context.Context, account string, token Token, wwwAuthenticate string) error {
	given := params{Account: account, Fingerprint: token.Fingerprint, WWWAuthenticate: wwwAuthenticate}
	return c.Call(ctx, "session.reportUnauthorized", given, new(any))
}

// Request sends a request through Hearth, which adds the account's token. This program never sees the token.
func (c *Client) Request(
	ctx context.Context, account, method, url string, body []byte, headers map[string]string,
) (Answer, error) {
	var answer struct {
		Answer
		Text string `json:"body"`
	}
	given := params{Account: account, Method: method, URL: url, Headers: headers, BodyBase64: body}
	err := c.Call(ctx, "http.request", given, &answer)
	if answer.Text != "" {
		answer.Body = []byte(answer.Text)
	}
	return answer.Answer, err
}

// Follow calls each for every event of an account, or of all accounts if account is "". If the daemon restarts, Follow
// connects again and starts with another snapshot. It returns when ctx ends, each fails or the daemon refuses the call.
func (c *Client) Follow(ctx context.Context, account string, each func(Event) error) error {
	for {
		var first struct{ Snapshot json.RawMessage }
		err := c.call(ctx, "events.subscribe", params{Account: account}, &first, func(event Event) error {
			if event.Method == "" {
				event = Event{"snapshot", first.Snapshot}
			}
			return each(event)
		})
		if refusal, is := err.(*Error); !is || !refusal.Data.Retryable {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(200+rand.Intn(1000)) * time.Millisecond):
		}
	}
}

// Call calls any method that "programs.md" describes and decodes its result. params is a struct or a map.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	return c.call(ctx, method, params, result, nil)
}

func (c *Client) call(ctx context.Context, method string, params, result any, each func(Event) error) error {
	conn, err := c.connect()
	if err != nil {
		return err
	}
	during, end := context.WithCancel(ctx)
	defer end()
	go func() { <-during.Done(); conn.Close() }()
	request := map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
	if err := json.NewEncoder(conn).Encode(request); err != nil {
		return failure(true, "Cannot send the call: %v.", err)
	}
	for lines := json.NewDecoder(conn); ; {
		var message struct {
			Event
			Result json.RawMessage
			Error  *Error
		}
		err := lines.Decode(&message)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil, message.Method == "events.closed": // the next snapshot includes the missed events
			return failure(true, "The daemon has stopped: %v.", err)
		case message.Error != nil:
			return message.Error
		case message.Result != nil:
			err = json.Unmarshal(message.Result, result)
		}
		if err == nil && each != nil {
			err = each(message.Event)
		}
		if err != nil || each == nil {
			return err
		}
	}
}

func (c *Client) connect() (*net.UnixConn, error) {
	path := c.Path
	if path == "" {
		path = os.Getenv("HEARTH_SOCKET")
	}
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); path == "" && runtime != "" {
		path = runtime + "/hearth/rpc.sock"
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, failure(true, "No daemon answers: %v. Start hearthd.", err)
	}
	var peer *syscall.Ucred
	if raw, err := conn.SyscallConn(); err == nil {
		raw.Control(func(descriptor uintptr) {
			peer, _ = syscall.GetsockoptUcred(int(descriptor), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		})
	}
	if peer == nil || int(peer.Uid) != os.Getuid() {
		conn.Close()
		return nil, failure(false, "The daemon on the socket runs as another user.")
	}
	return conn, nil
}
