package memories

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

// batch is how many memories are written at once.
const batch = 200

func (p program) remember() *cobra.Command {
	turn := false
	cmd := &cobra.Command{
		Use:   "remember TEXT...",
		Short: "Store a memory, or report what a user said",
		Long: `Store a memory as it is given. A memory of the user that says the same is kept instead; --dedup=false stores a
second one. With - each line of standard input becomes a memory.

With --turn the text is what the user said: a scorer proposes facts from it, and the gate decides which of them become
memories.`,
		Example: `  hippocampus remember "Is allergic to peanuts." --user ada
  hippocampus remember "Has an appointment at the dentist." --expires 2027-05-03 --user ada
  hippocampus remember --turn "I moved to Porto last week." --user ada
  printf 'Likes tea.\nHas a cat.\n' | hippocampus remember - --user ada`,
		Annotations: map[string]string{Routes: "POST /v1/memories\nPOST /v1/memories/batch\nPOST /v1/turns"},
		Args:        some("there is nothing to remember: give a text, or - for the lines of standard input"),
	}
	flags := cmd.Flags()
	flags.BoolVar(&turn, "turn", false, "report the text as said by the user, and show what the gate makes of it")
	flags.Float64("importance", 0, "how much it matters, 0 to 1 (default 0.7)")
	flags.String("type", "", "kind of statement (default fact)")
	flags.String("domain", "", "intent domain")
	flags.StringArray("tag", nil, "`word` of your own; repeatable")
	flags.String("agent", "", "`agent` it is private to")
	flags.String("conversation", "", "`conversation` it belongs to")
	flags.Bool("pinned", false, "keep it from being forgotten by the schedule")
	flags.Bool("dedup", true, "keep an active memory that says the same instead")
	flags.Var(new(jsonValue), "metadata", "`object` of your own, in JSON")
	timeFlag(cmd, "at", "when it was said or became known (default now)")
	flags.Var(new(expiry), "expires", "the `end`: its last day, or the time from when on it is former (default none)")
	completeNames(cmd)
	return p.command(cmd, options{user: true, makes: true}, func(a *action, args []string) error {
		user, err := a.NeedUser()
		if err != nil {
			return err
		}
		if turn {
			return a.report(user, strings.Join(args, " "))
		}
		body := map[string]any{"user_id": user, "dedup": true}
		a.changed(body, map[string]string{
			"importance": "importance", "type": "type", "domain": "domain", "tag": "tags", "agent": "agent_id",
			"conversation": "conversation_id", "pinned": "pinned", "dedup": "dedup", "at": "at", "expires": "expires_at",
		})
		a.changedJSON(body, "metadata")
		if slices.Equal(args, []string{"-"}) {
			return a.rememberLines(body)
		}
		body["content"] = strings.Join(args, " ")
		var written struct {
			wire.Memory
			Verdict memory.Verdict `json:"verdict"`
		}
		if err := a.call("POST", "/v1/memories", body, &written); err != nil || a.json {
			return err
		}
		verb := "remembered"
		if written.Verdict == memory.Duplicate || written.Verdict == memory.Merged {
			verb = "known already"
		}
		a.done(verb, written.ID, written.Content)
		return nil
	})
}

// rememberLines writes each line of standard input as a memory with the fields of like.
func (a *action) rememberLines(like map[string]any) error {
	var texts []string
	lines := bufio.NewScanner(a.cmd.InOrStdin())
	lines.Buffer(nil, 64<<10)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			texts = append(texts, text)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	if len(texts) == 0 {
		return exit.Usagef("standard input has no text: write one memory on each line")
	}
	bar := terminal.NewCount(a.cmd.ErrOrStderr(), "remembering", len(texts))
	defer bar.End()
	counts := map[memory.Verdict]int{}
	failed := 0
	for first := 0; first < len(texts); first += batch {
		some := texts[first:min(first+batch, len(texts))]
		requests := make([]map[string]any, len(some))
		for i, text := range some {
			requests[i] = map[string]any{"content": text}
			for field, value := range like {
				requests[i][field] = value
			}
		}
		var answer struct{ Results []json.RawMessage }
		if _, err := a.fetch("POST", "/v1/memories/batch", map[string]any{"memories": requests}, &answer); err != nil {
			return fmt.Errorf("%w (%d of %d lines were sent)", err, first, len(texts))
		}
		for i, raw := range answer.Results {
			var result struct {
				Verdict memory.Verdict
				Error   *problem
			}
			if err := a.decode(raw, &result); err != nil {
				return err
			}
			switch {
			case result.Error != nil:
				failed++
				a.note("line %d: %s", first+i+1, result.Error)
			default:
				counts[result.Verdict]++
			}
			if a.json {
				a.Printf("%s\n", raw)
			}
		}
		bar.Add(len(some))
	}
	bar.End()
	if !a.json {
		a.Printf("remembered %d memories, %d were known already\n",
			counts[memory.Kept], counts[memory.Duplicate]+counts[memory.Merged])
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d lines failed", failed, len(texts))
	}
	return nil
}

// problem is why the server refuses one of several items.
type problem struct {
	Status int
	Detail string
	Errors []struct{ Path, Message string }
}

func (p *problem) String() string {
	text := p.Detail
	for _, e := range p.Errors {
		text += "; " + e.Path + " " + e.Message
	}
	return text
}

// report reports a turn of one message of the user, and prints the verdicts of the gate.
func (a *action) report(user, text string) error {
	if text == "-" {
		raw, err := io.ReadAll(a.cmd.InOrStdin())
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		text = strings.TrimSpace(string(raw))
	}
	body := map[string]any{
		"user_id": user, "wait": true, "id": memory.NewID(),
		"messages": []map[string]string{{"role": "user", "content": text}},
	}
	a.changed(body, map[string]string{
		"agent": "agent_id", "conversation": "conversation_id", "at": "at", "expires": "expires_at",
	})
	var turn struct {
		Status     memory.TurnStatus
		Candidates []Candidate
	}
	if err := a.call("POST", "/v1/turns", body, &turn); err != nil || a.json {
		return err
	}
	if turn.Status != memory.TurnProcessed {
		a.Printf("the turn is %s: the server processes it later\n", turn.Status)
		return nil
	}
	PrintCandidates(a.Screen, turn.Candidates)
	return nil
}

// Candidate is a fact that the scorer proposed, with its verdict.
type Candidate struct {
	Content    string         `json:"content"`
	Importance float64        `json:"importance"`
	Verdict    memory.Verdict `json:"verdict"`
	Reason     string         `json:"reason"`
	MemoryID   string         `json:"memory_id"`
}

// PrintCandidates prints the verdicts of the gate.
func PrintCandidates(s terminal.Screen, list []Candidate) {
	if len(list) == 0 {
		s.Printf("The scorer proposed no fact.\n")
	}
	for _, c := range list {
		style := terminal.Yellow
		if c.Verdict == memory.Kept {
			style = terminal.Green
		}
		s.Printf("%s %.2f  ", s.Paint(style, string(c.Verdict)), c.Importance)
		s.Printf("%s\n", terminal.Line(c.Content))
		s.Indented("    ", terminal.Faint, terminal.Line(c.Reason))
	}
}
