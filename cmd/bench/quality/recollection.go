package quality

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"hippocampus/cmd/bench/target"
)

// Recollections reports how well recalls recollect. Every second message of each user has faded.
type Recollections struct {
	Size string         `json:"size"`
	Rows []Recollecting `json:"rows"`
	Took Took           `json:"took"`
}

// Recollecting is one row: the questions of a kind.
type Recollecting struct {
	Kind        string  `json:"kind"`
	Questions   int     `json:"questions"`
	Recollected float64 `json:"recollected"` // share of the questions for which something was recollected
	R10         float64 `json:"r10"`         // of all evidence
	R10Without  float64 `json:"r10_without"` // of the memories that were not recollected, which are fewer
}

// The kinds of questions.
const (
	ofFaded  = "all evidence has faded"
	ofBoth   = "some evidence has faded"
	ofActive = "no evidence has faded"
	foreign  = "of another conversation, as asked"
	renamed  = "of another conversation, about the user's speakers"
)

// Recollect imports conversations, a memory for each turn, and asks their questions without touching.
func Recollect(ctx context.Context, o Options) (report Recollections, err error) {
	report.Size = string(o.Size)
	conversations, err := load(o.Paths)
	if err != nil {
		return report, err
	}
	settings := append([]string{"HIPPOCAMPUS_SCHEDULE_PURGE=", "HIPPOCAMPUS_SCHEDULE_FORGETTING="}, o.Settings...)
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: settings})
	if err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	turns := map[string]string{} // by the ids of memories
	for _, c := range conversations {
		fmt.Fprintf(o.Progress, "importing %s: %d turns\n", c.user(), len(c.Turns))
		if err := c.importHalfFaded(ctx, server.Client, turns); err != nil {
			return report, err
		}
	}
	if err := server.Client.Settle(ctx); err != nil {
		return report, err
	}
	rows := map[string]*Recollecting{}
	for _, about := range conversations {
		for _, from := range conversations {
			fmt.Fprintf(o.Progress, "asking questions of %s about %s\n", from.user(), about.user())
			if err := recollectAll(ctx, server.Client, about, from, turns, rows); err != nil {
				return report, err
			}
		}
	}
	for _, kind := range []string{ofFaded, ofBoth, ofActive, foreign, renamed} {
		if r := rows[kind]; r != nil {
			n := float64(r.Questions)
			r.Recollected, r.R10 = r.Recollected/n, r.R10/n
			r.R10Without /= n
			report.Rows = append(report.Rows, *r)
		}
	}
	report.Took, err = timeRecollections(ctx, server.Client, o.Progress)
	return report, err
}

// imported is a memory in the form of a line of an import.
type imported map[string]any

// importLines imports memories.
func importLines(ctx context.Context, client target.Client, memories []imported) error {
	var lines strings.Builder
	lines.WriteString(`{"format":"hippocampus-export","version":1,"exported_at":"2026-01-01T00:00:00Z"}` + "\n")
	for _, m := range memories {
		line, err := json.Marshal(map[string]any{"memory": m, "events": []any{}, "relations": []any{}})
		if err != nil {
			return err
		}
		lines.Write(append(line, '\n'))
	}
	fmt.Fprintf(&lines, `{"end":{"memories":%d}}`+"\n", len(memories))
	return client.Import(ctx, []byte(lines.String()))
}

// message returns a remembered message, faded or active.
func message(user, conversation, speaker, text string, at time.Time, faded bool) (id string, m imported) {
	status := "active"
	if faded {
		status = "forgotten"
	}
	id = uuid.Must(uuid.NewV7()).String()
	return id, imported{
		"id": id, "user_id": user, "conversation_id": conversation, "content": text, "type": "message",
		"said_by": speaker, "domain": "general_chat", "tags": []string{}, "importance": 0.5, "pinned": false,
		"status": status, "faded": faded, "access_count": 0,
		"created_at": at, "updated_at": at, "last_accessed_at": at,
	}
}

// hasFaded reports whether the turn at a place has faded.
func hasFaded(place int) bool { return place%2 == 1 }

func (c conversation) importHalfFaded(ctx context.Context, client target.Client, turns map[string]string) error {
	memories := make([]imported, len(c.Turns))
	for i, t := range c.Turns {
		id, m := message(c.user(), t.Session, t.Speaker, t.Text, t.At, hasFaded(i))
		memories[i], turns[id] = m, t.ID
	}
	return importLines(ctx, client, memories)
}

// kindOf returns the kind of a question of the conversation itself.
func (c conversation) kindOf(q question) string {
	faded, active := 0, 0
	for i, t := range c.Turns {
		for _, id := range q.Evidence {
			switch {
			case id == t.ID && hasFaded(i):
				faded++
			case id == t.ID:
				active++
			}
		}
	}
	switch {
	case active == 0:
		return ofFaded
	case faded == 0:
		return ofActive
	}
	return ofBoth
}

// recollectAll asks the questions of one conversation about another one or the same one, and adds them to the rows.
func recollectAll(ctx context.Context, client target.Client, about, from conversation, turns map[string]string,
	rows map[string]*Recollecting) error {
	own := about.user() == from.user()
	type one struct {
		kind, text string
		evidence   []string
		answer     []recollected
	}
	var list []*one
	for _, q := range from.asked() {
		if own {
			list = append(list, &one{kind: about.kindOf(q), text: q.Text, evidence: q.Evidence})
			continue
		}
		list = append(list, &one{kind: foreign, text: q.Text})
		if text, changed := q.inForm(Renamed, from, about); changed {
			list = append(list, &one{kind: renamed, text: text})
		}
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for _, q := range list {
		group.Go(func() (err error) {
			q.answer, err = recollect(groupCtx, client, about.user(), q.text, about.End.Add(time.Hour), false)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, q := range list {
		r := rows[q.kind]
		if r == nil {
			r = &Recollecting{Kind: q.kind}
			rows[q.kind] = r
		}
		r.Questions++
		var all, without []string
		for _, m := range q.answer {
			all = append(all, turns[m.ID])
			if !m.Recollected {
				without = append(without, turns[m.ID])
			}
		}
		if len(without) < len(all) {
			r.Recollected++
		}
		if len(q.evidence) > 0 {
			r.R10 += measuresOf(all, q.evidence).R10
			r.R10Without += measuresOf(without, q.evidence).R10
		}
	}
	return nil
}

type recollected struct {
	ID          string  `json:"id"`
	Recollected bool    `json:"recollected"`
	Confidence  float64 `json:"confidence"`
}

func recollect(ctx context.Context, client target.Client, user, query string, at time.Time, touch bool) (
	[]recollected, error,
) {
	var answer struct {
		Memories []recollected `json:"memories"`
	}
	err := client.Call(ctx, "POST", "/v1/recall", map[string]any{
		"user_id": user, "query": query, "at": at.Format(time.RFC3339Nano), "touch": touch,
	}, &answer)
	return answer.Memories, err
}

// Print writes the report as a table.
func (r Recollections) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "questions\tnumber\trecollect something\tR@10\tR@10 of the others alone")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.3f\n", row.Kind, row.Questions, row.Recollected, row.R10, row.R10Without)
	}
	fmt.Fprintf(w, "\n%d active and %d faded memories: p50 %.2f ms without, %.2f ms with recollection, ratio %.2f\n",
		r.Took.Active, r.Took.Faded, r.Took.Without, r.Took.With, r.Took.With/r.Took.Without)
	return w.Flush()
}
