package exchange_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"hippocampus/db"
	"hippocampus/exchange"
	"hippocampus/internal/memory"
)

// Each of these lines fails with its reason and changes nothing, and the line after it
// is imported.
func TestImport_RefusesBadMemoryLines(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	p.strangers()
	for _, c := range []struct {
		line any
		want string
	}{
		{`{`, "not JSON"},
		{`"text"`, "cannot be read"},
		{`{"memory":{"content":5}}`, "cannot be read"},
		{`{"events":[]}`, "holds no memory"},
		{`{"format":"other"}`, "another format"},
		{strings.Repeat("x", exchange.MaxLine+1), "bytes"},
		{fact("no id", nil), "memory.id"},
		{fact(strings.ToUpper(id1), nil), "memory.id"},
		{fact(id1, object{"user_id": ""}), "memory.user_id"},
		{fact(id1, object{"user_id": "a\n"}), "memory.user_id"},
		{fact(id1, object{"agent_id": strings.Repeat("x", 257)}), "memory.agent_id"},
		{fact(id1, object{"conversation_id": "\u0085"}), "memory.conversation_id"},
		{fact(id1, object{"source_turn_id": "turn"}), "memory.source_turn_id"},
		{fact(id1, object{"content": " \n"}), "memory.content"},
		{fact(id1, object{"content": "a\x00"}), "memory.content"},
		{fact(id1, object{"content": strings.Repeat("🙂", 4097)}), "memory.content"},
		{fact(id1, object{"type": "idea"}), "memory.type"},
		{fact(id1, object{"domain": "love"}), "memory.domain"},
		{fact(id1, object{"status": "lost"}), "memory.status"},
		{fact(id1, object{"tags": []string{""}}), "memory.tags"},
		{fact(id1, object{"importance": 1.5}), "memory.importance"},
		{fact(id1, object{"importance": -0.1}), "memory.importance"},
		{fact(id1, object{"metadata": []int{}}), "memory.metadata"},
		{fact(id1, object{"metadata": object{"a": strings.Repeat("x", 8192)}}), "memory.metadata"},
		{fact(id1, object{"superseded_by": id2}), "memory.superseded_by"},
		{fact(id1, object{"status": "superseded", "superseded_by": "x"}), "memory.superseded_by"},
		{fact(id1, object{"status": "superseded", "superseded_by": foreign}), "memory.superseded_by"},
		{fact(id1, object{"created_at": "1969-12-31T23:59:59Z"}), "memory.created_at"},
		{fact(id1, object{"updated_at": nil}), "memory.updated_at"},
		{fact(id1, object{"last_accessed_at": "2201-01-01T00:00:00Z"}), "memory.last_accessed_at"},
		{fact(id1, object{"created_at": "2026-02-30T00:00:00Z"}), "cannot be read"},
		{fact(id1, object{"access_count": -1}), "memory.access_count"},
		{fact(id1, object{"access_count": math.MaxInt32 + 1}), "memory.access_count"},
		{fact(id1, object{"access_count": 1e300}), "cannot be read"},
		{fact(id1, object{"embedding": embedding(1)}), "memory.embedding_model"},
		{fact(id1, object{"embedding_model": "m"}), "memory.embedding_model"},
		{fact(id1, object{"embedding_model": "m", "embedding": "%%%"}), "cannot be read"},
		{fact(id1, object{"embedding_model": "m", "embedding": "AAAAAA=="}), "memory.embedding"},
		{fact(id1, object{"embedding_model": "m", "embedding": "AAA="}), "memory.embedding"},
		{fact(id1, object{"embedding_model": "m", "embedding": embedding(float32(math.NaN()))}), "memory.embedding"},
		{fact(id1, object{"embedding_model": "m", "embedding": embedding(float32(math.Inf(1)))}), "memory.embedding"},
		{fact(id1, object{"embedding_model": "m", "embedding": embedding(0.5, 0.5)}), "memory.embedding"},
		{fact(id1, nil).with("events", []object{event("x")}), "events[0].id"},
		{fact(id1, nil).with("events", []object{event(id3), event(id3)}), "events[1].id"},
		{fact(id1, nil).with("events", []object{{"id": id3, "kind": "dreamt", "cause": "", "at": "2026-01-01T00:00:00Z"}}),
			"events[0].kind"},
		{fact(id1, nil).with("events",
			[]object{{"id": id3, "kind": "created", "cause": strings.Repeat("x", 1025),
				"at": "2026-01-01T00:00:00Z"}}), "events[0].cause"},
		{fact(id1, nil).with("events",
			[]object{{"id": id3, "kind": "created", "cause": "", "detail": []int{1},
				"at": "2026-01-01T00:00:00Z"}}), "events[0].detail"},
		{fact(id1, nil).with("events", []object{{"id": id3, "kind": "created", "cause": ""}}), "events[0].at"},
		{fact(id1, nil).with("relations", []object{relation(id1, id1)}), "relations[0].to"},
		{fact(id1, nil).with("relations", []object{relation(id2, id3)}), "relations[0].to"},
		{fact(id1, nil).with("relations", []object{relation(id1, "x")}), "relations[0].to"},
		{fact(id1, nil).with("relations",
			[]object{{"from": id1, "to": id3, "kind": "loves", "created_at": "2026-01-01T00:00:00Z"}}), "relations[0].kind"},
		{fact(id1, nil).with("relations", []object{relation(id1, id3)}), "a memory that the user does not have"},
		{fact(id1, nil).with("events", []object{event(taken)}), "id of an event exists already"},
		{fact(foreign, nil), "id of a memory exists already"},
		{object{"continues": object{"user_id": "ada", "id": id3}, "events": []object{event(id3)}}, "which is not here"},
		{object{"continues": object{"user_id": "", "id": "x"}, "events": []object{}}, "continues.id"},
		{object{"end": object{"memories": 7}}, "counts 7 memories"},
		{object{"error": "it was too much"}, "it was too much"},
	} {
		report := p.importAll(stream(c.line, "", " ", fact(memory.NewID(), nil)))
		if len(report.Errors) == 0 || report.Failed < 1 || report.Errors[0].Line != 2 ||
			!strings.Contains(report.Errors[0].Message, c.want) {
			t.Errorf("%.100v: %+v, want %q", c.line, report, c.want)
			continue
		}
		if strings.Contains(fmt.Sprint(report.Errors), "bob") {
			t.Errorf("an error names another owner: %+v", report.Errors)
		}
		ended := strings.Contains(c.want, "counts 7") || strings.Contains(c.want, "too much")
		if want := map[bool]int{false: 1}[ended]; report.Imported != want || report.Complete && ended {
			t.Errorf("%.100v: the line after it: %+v", c.line, report)
		}
	}
	if text := p.export(exchange.Selection{UserID: "ada"}); strings.Contains(text, id1) ||
		strings.Contains(text, foreign) {
		t.Errorf("something was written: %s", text)
	}
}

const (
	foreign = "0198c0de-0000-7000-8000-0000000000f0"
	taken   = "0198c0de-0000-7000-8000-0000000000f1"
)

// strangers stores another user's memory and event, under ids that lines use.
func (p *fixture) strangers() {
	p.t.Helper()
	bob := memory.Owner{AppID: "other", UserID: "bob"}
	p.change(bob, func(ctx context.Context, tx db.UserTx) error {
		m := memory.Memory{
			ID: foreign, Owner: bob, Content: "bob's", Type: memory.TypeFact, Domain: memory.Tasks, Status: memory.Active,
			CreatedAt: noon, UpdatedAt: noon, LastAccessedAt: noon, Revision: 1,
		}
		if err := tx.Restore(ctx, []memory.Memory{m}, noon); err != nil {
			return err
		}
		return tx.AddEvents(ctx, []memory.Event{{ID: taken, MemoryID: foreign, Kind: memory.EventCreated, At: noon}})
	})
}
