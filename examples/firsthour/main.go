// Command firsthour plays a script of conversations and questions against a server, and prints
// what a user gets. docs/first-hour.md shows its output.
//
//	script -> POST /v1/turns, /v1/recall, /v1/context -> lines of text
//
// Each line of a script is a word and a text:
//
//	user NAME       whose turns and questions follow
//	say TEXT        a message of the user
//	answer TEXT     the assistant's answer, which ends the turn
//	ask TEXT        a query without options
//	context TEXT    a context of 2,000 tokens for a query
//	# TEXT          a heading
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	url := flag.String("url", cmp.Or(os.Getenv("HIPPOCAMPUS_URL"), "http://127.0.0.1:8080"), "the server's address")
	flag.Parse()
	p := player{url: *url, key: os.Getenv("HIPPOCAMPUS_KEY"), out: os.Stdout}
	if err := p.play(context.Background(), os.Stdin); err != nil {
		log.Fatal(err)
	}
}

// player plays a script.
type player struct {
	url, key   string
	out        io.Writer
	user, said string
}

func (p *player) play(ctx context.Context, script io.Reader) error {
	lines := bufio.NewScanner(script)
	for lines.Scan() {
		word, text, _ := strings.Cut(lines.Text(), " ")
		if err := p.step(ctx, word, text); err != nil {
			return fmt.Errorf("%s %s: %w", word, text, err)
		}
	}
	return lines.Err()
}

func (p *player) step(ctx context.Context, word, text string) error {
	switch word {
	case "user":
		p.user = text
	case "say":
		p.said = text
	case "answer":
		return p.report(ctx, text)
	case "ask":
		return p.ask(ctx, text)
	case "context":
		return p.context(ctx, text)
	case "#":
		fmt.Fprintf(p.out, "\n# %s\n", text)
	case "":
	default:
		return fmt.Errorf("%q is no word of a script", word)
	}
	return nil
}

// report reports a turn and prints the verdicts about it.
func (p *player) report(ctx context.Context, answer string) error {
	var turn struct {
		Candidates []struct {
			Content, Verdict, Reason string
			Importance               float64
		}
	}
	err := p.post(ctx, "/v1/turns", map[string]any{
		"user_id": p.user, "conversation_id": p.user + " talks", "wait": true,
		"messages": []map[string]string{{"role": "user", "content": p.said}, {"role": "assistant", "content": answer}},
	}, &turn)
	fmt.Fprintf(p.out, "TURN %s\n", p.said)
	for _, c := range turn.Candidates {
		fmt.Fprintf(p.out, "     %s %.2f | %s | %s\n", c.Verdict, c.Importance, c.Content, c.Reason)
	}
	return err
}

// ask prints the first two memories of a recall.
func (p *player) ask(ctx context.Context, query string) error {
	var got struct {
		Memories []struct {
			Type, Content         string
			SaidBy                string `json:"said_by"`
			Confidence, Relevance float64
		}
		Route struct{ Domains []string }
	}
	err := p.post(ctx, "/v1/recall", map[string]any{"user_id": p.user, "query": query}, &got)
	fmt.Fprintf(p.out, "ASK %s | route %s\n", query, strings.Join(got.Route.Domains, ", "))
	for _, m := range got.Memories[:min(2, len(got.Memories))] {
		fmt.Fprintf(p.out, "     %s | %s | confidence %.2f, relevance %.2f\n",
			strings.TrimSpace(m.Type+" "+m.SaidBy), m.Content, m.Confidence, m.Relevance)
	}
	return err
}

// context prints the text of a context.
func (p *player) context(ctx context.Context, query string) error {
	var got struct{ Text string }
	err := p.post(ctx, "/v1/context", map[string]any{"user_id": p.user, "query": query, "max_tokens": 2000}, &got)
	fmt.Fprintf(p.out, "CONTEXT %s\n%s\n", query, got.Text)
	return err
}

// post sends one JSON object and decodes the answer into result.
func (p *player) post(ctx context.Context, path string, body, result any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+p.key)
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
		return fmt.Errorf("%s: %s", response.Status, answer)
	}
	return json.Unmarshal(answer, result)
}
