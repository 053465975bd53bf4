package exchange_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/exchange"
	"hippocampus/internal/memory"
)

var hash = strings.Repeat("0a", 32)

// fillConversations gives two users two conversations each, with n finished turns, an
// accepted one and a pending consolidation, and returns the number of each kind.
func (p *fixture) fillConversations(n int) exchange.Counts {
	p.t.Helper()
	counts := exchange.Counts{}
	for _, user := range []string{"ada", "用户 & <b>"} {
		owner := memory.Owner{AppID: "app", UserID: user}
		for _, id := range []string{"open", "对话 <b>"} {
			c := memory.Conversation{
				Owner: owner, ID: id, FirstTurnID: memory.NewID(), Turns: int64(n + 1), Events: int64(2*n +
					2), Tokens: 50, StartedAt: noon, LastAt: noon.Add(time.Hour),
				ConsolidatedThrough: 1,
			}
			if id != "open" {
				c.Title = "<T>"
				c.Summary = "so\nfar"
				c.SummarisedThrough = 2
				c.SummarisedTokens = 9
				c.EndedAt = noon
				c.EndReason = "idle"
			}
			p.change(owner, func(ctx context.Context, tx db.UserTx) error {
				errs := []error{tx.RestoreConversation(ctx, c, noon)}
				for i := range n + 1 {
					t := memory.Turn{
						ID: memory.NewID(), Owner: owner, ClientID: fmt.Sprint(user, id,
							i), AgentID: "agent", ConversationID: id, FirstEvent: int64(2*i + 1),
						Messages: []memory.Message{
							{Role: "user", Content: fmt.Sprintf("«%d» <&> \u2028 \x01 茶\n", i), Name: "Ada", Tokens: 9},
							{Role: "tool", Kind: memory.ToolUse, Tags: []string{"<a>"}, Context: memory.MessageContext{ActionTaken: true}},
						},
						Metadata: json.RawMessage(`{"b":1.50,"a":["<&>",null]}`), At: noon, Hash: hash, Status: memory.TurnProcessed,
						Attempts:   1,
						AcceptedAt: noon, QueuedAt: noon, ProcessedAt: noon.Add(time.Second),
					}
					switch {
					case i == n:
						t.Status, t.ProcessedAt = memory.TurnAccepted, time.Time{}
					case i%3 == 1:
						t.Status = memory.TurnFailed
						t.ProcessedAt = time.Time{}
						t.LastError = "a <bad> answer"
						t.ClientID = ""
						t.Metadata = nil
					case i%3 == 2:
						t.Status, t.WithdrawnAt = memory.TurnWithdrawn, noon.Add(time.Hour)
						t.Withheld = []memory.Withheld{{Text: "<&> \u2028", Statement: memory.NewID(), At: noon}}
						t.LeftOut = []memory.Omission{{Reason: memory.OmittedSmallTalk, Characters: 2}}
					}
					errs = append(errs, tx.RestoreTurn(ctx, t))
				}
				for i, state := range []memory.ConsolidationState{memory.ConsolidationDone, memory.ConsolidationSkipped,
					memory.ConsolidationPending} {
					errs = append(errs, tx.PlanConsolidation(ctx, memory.Consolidation{
						ID: memory.NewID(), Owner: owner, ConversationID: id, Type: memory.ConsolidationTypes[i],
						Trigger: memory.TriggerEnd, State: state,
						From: 1, Through: 2, Counts: json.RawMessage(`{"memories":1}`), Error: "no <model>", CreatedAt: noon,
						StartedAt: noon, EndedAt: noon,
					}))
				}
				return errors.Join(errs...)
			})
			counts[exchange.Conversations]++
			counts[exchange.Turns] += n
			counts[exchange.Consolidations] += 2
		}
	}
	return counts
}

func TestRoundTrip_OfConversationsIsExact(t *testing.T) {
	t.Parallel()
	from, to := newFixture(t), newFixture(t)
	counts := from.fillConversations(115)
	text := from.export(exchange.Selection{})
	if !strings.Contains(text, `"left_out":8`) {
		t.Errorf("the end does not count what is left out: %s", text[len(text)-200:])
	}
	cut := strings.NewReader(text[:len(text)/3])
	if _, err := to.Import(t.Context(), "app", &broken{cut}, valid); !memory.IsKind(err, memory.KindInvalid) {
		t.Fatal(err)
	}
	r := to.importAll(text)
	for kind, n := range counts {
		if tally := r.Others[kind]; tally.Imported+tally.Skipped != n || kind == exchange.Turns &&
			(tally.Imported == 0 || tally.Skipped == 0) {
			t.Errorf("%s: %+v of %d", kind, tally, n)
		}
	}
	if r.Failed > 0 || !r.Complete {
		t.Errorf("%+v", r)
	}
	// The second export has nothing to leave out, since no unfinished row was imported.
	want := strings.Replace(text, `"left_out":8,`, "", 1)
	if again := to.export(exchange.Selection{}); body(again) != body(want) {
		t.Errorf("the second export differs: %s", firstDifference(want, again))
	}
	wantTallies(t, "again", to.importAll(text), nil, counts)
	if one := from.export(exchange.Selection{UserID: "ada"}); strings.Contains(one, "用户") ||
		strings.Count(one, `{"turn":`) != 230 {
		t.Error("the export of a user lacks entries or has those of others")
	}
}

func conversation(fields object) object {
	return lineOf("conversation", object{"id": "c", "user_id": "ada", "began": id1, "turns": 1, "events": 2, "tokens": 5,
		"started_at": "2026-01-02T00:00:00Z", "last_at": "2026-01-02T00:00:00Z"}, fields)
}

func turn(fields object) object {
	return lineOf("turn", object{
		"user_id": "ada", "conversation_id": "c", "began": id1, "id": id1, "first_event": 1,
		"messages": []object{{"role": "user", "content": "hi"}, {"role": "user", "content": ""}},
		"at":       "2026-01-02T00:00:00Z", "hash": hash, "status": "failed", "accepted_at": "2026-01-02T00:00:00Z",
		"queued_at": "2026-01-02T00:00:00Z",
	}, fields)
}

func consolidation(fields object) object {
	return lineOf("consolidation", object{"user_id": "ada", "conversation_id": "c", "began": id1, "id": id1,
		"type": "events", "trigger": "end", "state": "done",
		"from_event": 1, "through_event": 2, "created_at": "2026-01-02T00:00:00Z"}, fields)
}

// A conversation that differs from the stored one, or is shorter, is not imported, nor
// are its turns.
func TestImport_RefusesConversationsThatDiffer(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	known := []any{conversation(nil), turn(object{"client_id": "one"}), consolidation(nil)}
	if r := p.importAll(others(known...)); r.Failed > 0 || !r.Complete {
		t.Fatalf("%+v", r)
	}
	before := p.export(exchange.Selection{})
	for _, c := range []struct {
		line object
		want string
	}{
		{conversation(object{"title": "T"}), "differs in title"},
		{conversation(object{"events": 4, "turns": 2}), "differs in events, turns"},
		{turn(object{"messages": []object{{"role": "user", "content": "ho"}}}), "differs in client_id, messages"},
		{turn(object{"id": id2, "began": id2}), "another one here"},
		{turn(object{"id": id2, "first_event": 2}), "another one here"},
		{turn(object{"id": id2, "conversation_id": "d"}), "not here"},
		{turn(object{"id": id2, "user_id": "bob"}), "not here"},
		{turn(object{"id": id2, "client_id": "one"}), "exists already"},
		{consolidation(object{"through_event": 1}), "differs in through_event"},
		{consolidation(object{"id": id2}), "exists already"},
		{consolidation(object{"id": id2, "through_event": 3}), "not here"},
		{consolidation(object{"id": id2, "began": id2}), "another one here"},
	} {
		r := p.importAll(others(c.line, known[0]))
		if r.Failed != 1 || r.Errors[0].Line != 2 || !strings.Contains(r.Errors[0].Message, c.want) ||
			r.Others[exchange.Conversations].Skipped != 1 || !r.Complete {
			t.Errorf("%v: %+v, want %q", c.line, r, c.want)
		}
	}
	if after := p.export(exchange.Selection{}); after != before {
		t.Errorf("something was written: %s", firstDifference(before, after))
	}
}

func TestImport_RefusesBadLinesOfConversations(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	empty := p.export(exchange.Selection{})
	long := strings.Repeat("界", 70_000)
	for _, c := range []struct {
		kind   string
		of     func(object) object
		fields object
	}{
		{"conversation", conversation, object{"id": "", "user_id": "a\n", "began": "x", "title": "a\nb", "summary": long,
			"events": -1, "tokens": -1, "turns": 0,
			"summarised_through": 3, "summarised_tokens": 6, "consolidated_through": 3, "started_at": nil, "last_at": nil,
			"ended_at": "2300-01-01T00:00:00Z", "end_reason": "idle"}},
		{"turn", turn, object{"user_id": "", "conversation_id": nil, "began": "", "id": "x", "client_id": long,
			"agent_id": "a\n", "first_event": 0,
			"messages": []object{}, "metadata": []int{}, "hash": "x", "status": "accepted", "attempts": -1, "last_error": long,
			"at": nil, "accepted_at": nil,
			"queued_at": nil, "processed_at": "2026-01-01T00:00:00Z"}},
		{"turn", turn, object{"withdrawn_at": "2026-01-01T00:00:00Z"}},
		{"turn", turn, object{"messages": make([]object, 101), "metadata": object{"a": long}}},
		{"turn", turn, object{"messages": []object{{"role": "boss", "content": "x"}}}},
		{"turn", turn, object{"messages": []object{{"role": "user", "content": long}}}},
		{"turn", turn, object{"messages": []object{{"role": "user", "content": "", "kind": "gossip"}}}},
		{"turn", turn, object{"messages": []object{{"role": "user", "content": "", "tokens": -1}}}},
		{"turn", turn, object{"messages": []object{{"role": "user", "content": "", "tags": []string{""}}}}},
		{"consolidation", consolidation, object{"user_id": "", "conversation_id": "", "began": nil, "id": "", "type": "x",
			"trigger": "x", "state": "pending", "from_event": 3,
			"through_event": 0, "counts": []int{1}, "error": long, "attempts": -1, "created_at": nil,
			"started_at": "1960-01-01T00:00:00Z", "ended_at": "1960-01-01T00:00:00Z"}},
	} {
		for name, value := range c.fields {
			r := p.importAll(others(c.of(object{name: value})))
			if want := c.kind + "." + name; r.Failed < 1 || r.Errors[0].Line != 2 ||
				!strings.Contains(r.Errors[0].Message, want) {
				t.Errorf("%.200v: %+v, want %q", value, r, want)
			}
		}
	}
	if text := p.export(exchange.Selection{}); text != empty {
		t.Errorf("something was written: %s", text)
	}
}
