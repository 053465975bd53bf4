package speed

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"hippocampus/cmd/bench/content"
	"hippocampus/cmd/bench/measure"
	"hippocampus/cmd/bench/target"
)

// ContextOptions of a measurement of contexts.
type ContextOptions struct {
	Size     target.Size
	Data     content.Data  // the first talkers of these users also have facts, a conversation and instructions
	For      time.Duration // of each kind of request
	Rest     time.Duration // longest wait for an idle machine after the load; 0: 10 minutes
	Settings []string
	Progress io.Writer
}

// The numbers of items that a talker has in addition to memories.
const (
	talkers = 16
	stated  = 50  // facts
	events  = 150 // of a growing conversation, 10 in each turn
	rules   = 3   // instructions, of the app
)

// RunContext fills a server and requests contexts of conversations, each with
// another query.
func RunContext(ctx context.Context, o ContextOptions) (report RequestsReport, err error) {
	report = RequestsReport{
		Size: string(o.Size), Machine: measure.ThisMachine(), Settings: o.Settings, Requests: map[string]measure.Sample{},
	}
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	loaded := Report{}
	b := &bench{Options: Options{Progress: o.Progress, Rest: o.Rest}, server: server, report: &loaded}
	if err := b.talk(ctx, o.Data); err != nil {
		return report, fmt.Errorf("%w\n%s", err, server.Log())
	}
	if err := b.load(ctx, o.Data); err != nil {
		return report, fmt.Errorf("%w\n%s", err, server.Log())
	}
	report.Loads = loaded.Loads
	user := func(n int) string { return o.Data.User(n % min(talkers, o.Data.Users)) }
	assemble := func(more map[string]any) func(context.Context, int) error {
		return func(ctx context.Context, n int) error {
			wanted := map[string]any{"user_id": user(n), "query": content.Query(n % queries), "condense": false}
			for key, value := range more {
				wanted[key] = value
			}
			_, err := server.Do(ctx, "POST", "/v1/context", target.Body(wanted))
			return err
		}
	}
	whole := assemble(map[string]any{
		"conversation_id": "now", "model": "gpt-4o", "max_tokens": 8000, "format": "messages",
	})
	for _, kind := range []struct {
		name    string
		clients int
		request func(context.Context, int) error
	}{
		{"context of 8,000 tokens, 1 client", 1, whole},
		{"context of 8,000 tokens, 8 clients", 8, whole},
		{"context of 2,000 tokens, 1 client", 1, assemble(map[string]any{"conversation_id": "now", "max_tokens": 2000})},
		{"context of memories alone, 1 client", 1, assemble(map[string]any{"max_chars": 2000})},
		{"working memory, 1 client", 1, func(ctx context.Context, n int) error {
			_, err := server.Do(ctx, "GET", "/v1/conversations/now/working?user_id="+user(n), nil)
			return err
		}},
	} {
		fmt.Fprintln(o.Progress, kind.name)
		if err := report.measure(ctx, kind.name, kind.clients, o.For, kind.request); err != nil {
			return report, err
		}
	}
	fmt.Fprintln(o.Progress, contextByTurn)
	err = report.measureTurns(ctx, server, user, o.For)
	return report, err
}

// talk writes the facts and conversations of the talkers, and the instructions of
// the app.
func (b *bench) talk(ctx context.Context, data content.Data) error {
	fmt.Fprintln(b.Progress, "talking")
	random := rand.New(rand.NewPCG(5, 8))
	for i := range rules {
		err := b.server.Call(ctx, "POST", "/v1/instructions", map[string]any{
			"scope": "app", "name": fmt.Sprint("rule-", i), "content": content.Sentence(random, 60)}, nil)
		if err != nil {
			return err
		}
	}
	for i := range min(talkers, data.Users) {
		for f := range stated {
			err := b.server.Call(ctx, "PUT", "/v1/facts", map[string]any{
				"user_id": data.User(i), "type": "profile", "key": fmt.Sprint("key-", f),
				"value": content.Sentence(random, 4),
			}, nil)
			if err != nil {
				return err
			}
		}
		for range events / 10 {
			messages := make([]map[string]any, 10)
			for j := range messages {
				messages[j] = map[string]any{"role": []string{"user", "assistant"}[j%2], "content": content.Sentence(random, 25)}
			}
			err := b.server.Call(ctx, "POST", "/v1/turns", map[string]any{
				"user_id": data.User(i), "conversation_id": "now", "messages": messages, "wait": true}, nil)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
