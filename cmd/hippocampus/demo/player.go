package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"hippocampus/cmd/hippocampus/memories"
	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/exchange"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

// conversation is where the turns of the demonstration belong.
const conversation = "demo"

// shown is how many memories of a recall are shown.
const shown = 2

// pipeWidth is how wide the lines are if there is no terminal.
const pipeWidth = 100

// player plays a script.
type player struct {
	terminal.Screen
	script
	in     io.Reader
	pauses bool
	ctx    context.Context
	server remote.Server
}

// play plays all steps.
func (p *player) play(ctx context.Context, server remote.Server) error {
	p.ctx, p.server = ctx, server
	if p.Width == 0 {
		p.Width = pipeWidth
	}
	p.Indented("", terminal.Plain, strings.TrimSpace(p.Begin))
	stage := 0
	for _, s := range p.Steps {
		if s.Title != "" {
			if err := p.pause(); err != nil {
				return err
			}
			stage++
			p.Printf("\n%s\n", p.Paint(terminal.Bold, fmt.Sprintf("%d. %s", stage, s.Title)))
		}
		if s.Title == "" {
			p.Printf("\n")
		}
		p.Indented("   ", terminal.Faint, strings.TrimSpace(s.Explain))
		if err := p.do(s); err != nil {
			return err
		}
	}
	p.Printf("\n")
	p.Indented("", terminal.Plain, strings.TrimSpace(p.End))
	return nil
}

// pause waits for Enter on a terminal.
func (p *player) pause() error {
	if !p.pauses {
		return nil
	}
	answered := make(chan error, 1)
	go func() {
		_, err := terminal.Ask(p.in, p, "\n"+p.Paint(terminal.Faint, p.Pause))
		answered <- err
	}()
	select {
	case err := <-answered:
		return err
	case <-p.ctx.Done():
		return errors.New("interrupted")
	}
}

// do does one step.
func (p *player) do(s step) error {
	switch {
	case s.Say != "":
		return p.say(s.Say)
	case s.Ask != "":
		return p.ask(s.Ask)
	case s.Context != "":
		return p.context(s.Context)
	case s.List:
		return p.list()
	case s.Remember != "":
		return p.remember(s)
	case s.Forget:
		return p.forget()
	}
	return nil
}

func (p *player) call(method, path string, body map[string]any, into any) error {
	if body != nil {
		body["user_id"] = p.User
	}
	raw, err := p.server.Call(p.ctx, method, path, body)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

func (p *player) quote(who, text string) {
	p.Printf("\n   %s: %s\n", who, p.Paint(terminal.Cyan, text))
}

// inset returns a screen whose lines are indented.
func (p *player) inset() terminal.Screen {
	screen := p.Screen
	screen.Writer = &indented{to: p.Screen.Writer}
	if screen.Width > 0 {
		screen.Width -= 3
	}
	return screen
}

func (p *player) say(text string) error {
	p.quote(p.Saying, text)
	var turn struct{ Candidates []memories.Candidate }
	if err := p.call("POST", "/v1/turns", map[string]any{
		"wait": true, "conversation_id": conversation,
		"messages": []map[string]string{{"role": "user", "content": text}},
	}, &turn); err != nil {
		return err
	}
	memories.PrintCandidates(p.inset(), turn.Candidates)
	return nil
}

func (p *player) ask(query string) error {
	p.quote(p.Asking, query)
	var answer memories.Answer
	if err := p.call("POST", "/v1/recall", map[string]any{
		"query": query, "limit": shown, "include": []string{"facts"},
	}, &answer); err != nil {
		return err
	}
	memories.PrintAnswer(p.inset(), answer, false)
	return nil
}

func (p *player) context(query string) error {
	p.quote(p.Asking, query)
	var answer struct{ Text string }
	if err := p.call("POST", "/v1/context", map[string]any{"query": query, "max_tokens": 300}, &answer); err != nil {
		return err
	}
	p.Printf("\n   %s:\n", p.Answer)
	p.Indented("   | ", terminal.Plain, terminal.Text(answer.Text))
	return nil
}

func (p *player) list() error {
	query := url.Values{"user_id": {p.User}, "status": {string(memory.Active), string(memory.Superseded)}}
	var page struct{ Memories []wire.Memory }
	if err := p.call("GET", "/v1/memories?"+query.Encode(), nil, &page); err != nil {
		return err
	}
	p.Printf("\n")
	memories.PrintTable(p.inset(), page.Memories, true)
	return nil
}

func (p *player) remember(s step) error {
	if err := p.importOld(s.Remember, p.Now.AddDate(0, 0, -s.DaysAgo)); err != nil {
		return err
	}
	p.Printf("\n")
	var answer memories.Forgetting
	if err := p.call("POST", "/v1/forget", map[string]any{"limit": shown}, &answer); err != nil {
		return err
	}
	memories.PrintForgetting(p.inset(), answer)
	return nil
}

// importOld imports a memory that was last changed at an instant. A memory that is written directly fades from the time
// of the write, whatever its date.
func (p *player) importOld(content string, at time.Time) error {
	at = at.UTC()
	old := wire.Memory{
		ID: memory.NewID(), UserID: p.User, Content: content, Type: memory.TypeFact, Domain: memory.GeneralChat,
		Tags: []string{}, Importance: 0.7, Status: memory.Active, CreatedAt: at, UpdatedAt: at, LastAccessedAt: at,
	}
	var lines bytes.Buffer
	write := json.NewEncoder(&lines)
	for _, line := range []any{
		map[string]any{"format": exchange.Format, "version": 1, "exported_at": at}, // of memories alone
		map[string]any{"memory": old, "events": []any{}, "relations": []any{}},
		map[string]any{"end": map[string]int{"memories": 1}},
	} {
		if err := write.Encode(line); err != nil {
			return fmt.Errorf("write the memory to import: %w", err)
		}
	}
	answer, err := p.server.Send(p.ctx, "POST", "/v1/import", &lines)
	if err != nil {
		return err
	}
	defer answer.Close()
	var report exchange.Report
	if err := json.NewDecoder(answer).Decode(&report); err != nil {
		return fmt.Errorf("read what was imported: %w", err)
	}
	if report.Imported != 1 {
		return fmt.Errorf("the import of a memory fails: %v", report.Errors)
	}
	return nil
}

func (p *player) forget() error {
	var answer memories.Forgetting
	if err := p.call("POST", "/v1/forget", map[string]any{"dry_run": false, "whole": true}, &answer); err != nil {
		return err
	}
	p.Printf("\n")
	for _, id := range answer.Forgotten {
		path := "/v1/memories/" + id
		var gone, back wire.Memory
		if err := p.call("GET", path, nil, &gone); err != nil {
			return err
		}
		if err := p.call("POST", path+"/restore", nil, &back); err != nil {
			return err
		}
		for _, m := range []wire.Memory{gone, back} {
			status := p.Paint(terminal.Yellow, string(m.Status))
			p.Printf("   %s %s  %s\n", status, memories.ShortID(id), terminal.Line(m.Content))
		}
	}
	return nil
}

// indented indents lines.
type indented struct {
	to   io.Writer
	open bool // within a line
}

func (w *indented) Write(data []byte) (int, error) {
	for line := range strings.Lines(string(data)) {
		if !w.open {
			line = "   " + line
		}
		w.open = !strings.HasSuffix(line, "\n")
		if _, err := io.WriteString(w.to, line); err != nil {
			return 0, err
		}
	}
	return len(data), nil
}
