// Command chatbackend is a chat backend with a long-term memory, in about a
// hundred lines. It makes the two calls that every backend makes:
//
//	message -> POST /v1/context -> prompt -> model -> answer -> POST /v1/turns
//
// Start a server and this program in two terminals:
//
//	go run ./cmd/hippocampus serve --dev
//	go run ./examples/chatbackend --user ada
//
// Each line of the standard input is a message of the user. In place of a
// language model, reply shows the prompt that a model would be given.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:8080", "the server's address")
	user := flag.String("user", "ada", "the user whose memories are used")
	flag.Parse()
	memory := client{url: *url, key: os.Getenv("HIPPOCAMPUS_KEY")}
	if err := chat(context.Background(), memory, *user, os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// chat answers every line of in until it ends.
func chat(ctx context.Context, memory client, user string, in io.Reader, out io.Writer) error {
	conversation := fmt.Sprintf("%s-%d", user, time.Now().UnixMilli())
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		said := lines.Text()
		known, err := memory.context(ctx, user, said)
		if err != nil {
			return fmt.Errorf("ask for the context: %w", err)
		}
		answer := reply(known, said)
		fmt.Fprintln(out, answer)
		if err := memory.report(ctx, user, conversation, said, answer); err != nil {
			return fmt.Errorf("report the turn: %w", err)
		}
	}
	return lines.Err()
}

// reply stands for a call of a language model with the context as its system message.
func reply(known, said string) string {
	return fmt.Sprintf("prompt:\n%s\nuser: %s", known, said)
}

// client calls a Hippocampus server.
type client struct {
	url string
	key string // API key; empty for a server that runs with --dev
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// context returns what the server remembers about the message, as text for a prompt.
func (c client) context(ctx context.Context, user, said string) (string, error) {
	var answer struct {
		Text string `json:"text"`
	}
	err := c.post(ctx, "/v1/context", map[string]any{"user_id": user, "query": said, "max_chars": 1000}, &answer)
	return answer.Text, err
}

// report gives the server both messages of a turn, which is durable when report returns.
func (c client) report(ctx context.Context, user, conversation, said, answer string) error {
	return c.post(ctx, "/v1/turns", map[string]any{
		"user_id": user, "conversation_id": conversation,
		"messages": []message{{"user", said}, {"assistant", answer}},
	}, nil)
}

// post sends one JSON object and decodes the answer into result, if result is not nil.
func (c client) post(ctx context.Context, path string, body, result any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s: %s", response.Status, answer) // a problem document that says what to do
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer, result)
}
