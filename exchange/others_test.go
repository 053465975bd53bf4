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

// fillOthers gives three users, an agent and the app n entries of each kind other than
// memories, more than a page, and returns the number of each kind.
func (p *fixture) fillOthers(n int) exchange.Counts {
	p.t.Helper()
	counts := exchange.Counts{}
	for _, user := range []string{"Zoe", "ada", "用户 & <b>"} {
		owner := memory.Owner{AppID: "app", UserID: user}
		p.change(owner, func(ctx context.Context, tx db.UserTx) error {
			var errs []error
			for i := range n {
				from := noon.Add(time.Duration(i) * time.Hour)
				f := memory.Fact{
					ID: memory.NewID(), Owner: owner, Type: "profile", Key: fmt.Sprint("城市_", i%3),
					Value:      json.RawMessage(fmt.Sprintf(`{"<b>":%d,"z":null}`, i)),
					Confidence: 0.8125, ValidFrom: from, ValidUntil: from.Add(time.Hour), Source: "chat <81>",
					State: memory.FactAccepted, Reason: "it is \"newer\"", RecordedAt: from,
				}
				switch i % 5 {
				case 1:
					f.State, f.Value = memory.FactEnded, nil
				case 2:
					f.State, f.ValidUntil = memory.FactReplaced, time.Time{}
					f.Source, f.Value = "", json.RawMessage("null")
				case 3:
					f.MemoryID = memory.NewID()
				}
				if i >= n-3 {
					f.State, f.Value = memory.FactAccepted, json.RawMessage(`1.5`)
					f.MemoryID, f.EndsMemory = memory.NewID(), true
					f.ValidUntil, f.Due = time.Time{}, noon
				}
				w := memory.Workflow{
					ID: memory.NewID(), Owner: owner, Skill: fmt.Sprint("deploy ", i%3), Text: fmt.Sprintf("way «%d»\n<&>", i),
					Successes: i, Failures: 1, FirstAt: noon, LastAt: from,
				}
				if i%2 == 0 {
					w.AgentID, w.MemoryID = "agent", memory.NewID()
					w.Notes = []memory.OutcomeNote{{At: from, Success: true, Note: "很好 <b>"}, {At: from, Note: "bad"}}
				}
				errs = append(errs, tx.AddFact(ctx, f), tx.RestoreWorkflow(ctx, w),
					tx.AddCounted(ctx, fmt.Sprint("run ", i), strings.Repeat("0a", 32), from))
			}
			zone := memory.UserZone{Owner: owner, Chosen: "Asia/Shanghai", Offset: "-08:00"}
			return errors.Join(append(errs, tx.SetUserZone(ctx, zone), tx.SetMode(ctx, "", memory.ModeOff),
				tx.SetMode(ctx, "chat", memory.ModeRead))...)
		})
		counts[exchange.TimeZones]++
		counts[exchange.MemoryModes] += 2
		counts[exchange.Facts] += n
		counts[exchange.Skills] += n
		counts[exchange.Outcomes] += n
	}
	for _, scope := range []memory.Scope{{AppID: "app", Kind: memory.AppScope},
		{AppID: "app", Kind: memory.AgentScope, ID: "ada"}, {AppID: "app", Kind: memory.UserScope, ID: "ada"}} {
		for name, texts := range map[string]int{"tone": 25, "length": 1, "retired <b>": 2} {
			i := memory.Instruction{Scope: scope, Name: name, Latest: texts, Active: texts, ChangedAt: noon}
			if texts == 2 {
				i.Active, i.PreviouslyActive = 0, []int{1, 2, 1}
			}
			err := p.store.InScope(p.t.Context(), scope, func(ctx context.Context, tx db.InstructionTx) error {
				errs := []error{tx.PutInstruction(ctx, i)}
				for v := range texts {
					errs = append(errs, tx.AddVersion(ctx, name, memory.InstructionVersion{Number: v + 1,
						Content: strings.Repeat("茶<", 8000+v), Note: "so"[:v%3%2*2], PublishedAt: noon}))
				}
				return errors.Join(errs...)
			})
			if err != nil {
				p.t.Fatal(err)
			}
			counts[exchange.Instructions]++
			counts[exchange.Versions] += texts
		}
	}
	return counts
}

// wantTallies compares the tallies of the kinds other than memories.
func wantTallies(t *testing.T, what string, r exchange.Report, imported, skipped exchange.Counts) {
	t.Helper()
	for _, kind := range exchange.Kinds[1:] {
		if got := r.Others[kind]; got != (exchange.Tally{Imported: imported[kind], Skipped: skipped[kind]}) {
			t.Errorf("%s: %s: %+v, want %d imported and %d skipped", what, kind, got, imported[kind], skipped[kind])
		}
	}
	if r.Failed > 0 || !r.Complete {
		t.Errorf("%s: %+v", what, r)
	}
}

func TestRoundTrip_OfOtherKindsIsExact(t *testing.T) {
	t.Parallel()
	from, to := newFixture(t), newFixture(t)
	from.fill(3)
	counts := from.fillOthers(125)
	text := from.export(exchange.Selection{})
	for i, line := range strings.Split(text, "\n") {
		if len(line) > exchange.MaxLine {
			t.Errorf("line %d has %d bytes", i+1, len(line))
		}
	}
	wantTallies(t, "import", to.importAll(text), counts, nil)
	if again := to.export(exchange.Selection{}); body(again) != body(text) {
		t.Errorf("the second export differs: %s", firstDifference(text, again))
	}
	wantTallies(t, "import again", to.importAll(text), nil, counts)
	one := from.export(exchange.Selection{UserID: "ada"})
	if strings.Contains(one, "Zoe") || strings.Contains(one, `"scope":"app"`) || strings.Contains(one, `"scope":"agent"`) {
		t.Error("the export of a user has entries of others")
	}
	if !strings.Contains(one, `"end":{"facts":125,"instruction_versions":28,"instructions":3,"memories":3,`+
		`"memory_modes":2,"outcomes":125,"skills":125,"time_zones":1}`) {
		t.Errorf("the end is %s", one[strings.LastIndex(strings.TrimSpace(one), "\n"):])
	}
	wantTallies(t, "one of another app's", newFixture(t).importAll(one), exchange.Counts{
		exchange.TimeZones: 1, exchange.Facts: 125, exchange.MemoryModes: 2,
		exchange.Skills: 125, exchange.Outcomes: 125,
		exchange.Instructions: 3, exchange.Versions: 28}, nil)
	// A text that lacks a line is not complete.
	lines := strings.SplitAfter(text, "\n")
	lost := strings.Join(append(lines[:len(lines)-3:len(lines)-3], lines[len(lines)-2:]...), "")
	if r := newFixture(t).importAll(lost); r.Complete || r.Failed != 1 {
		t.Errorf("a text that lacks a line: %+v", r)
	}
}

// Repeating an import that was interrupted among other kinds imports the rest.
func TestImport_OfOtherKindsIsResumed(t *testing.T) {
	t.Parallel()
	from, to := newFixture(t), newFixture(t)
	counts := from.fillOthers(120)
	text := from.export(exchange.Selection{})
	for _, part := range []int{4, 2} {
		cut := strings.NewReader(text[:len(text)/part])
		if _, err := to.Import(t.Context(), "app", &broken{cut}, valid); !memory.IsKind(err, memory.KindInvalid) {
			t.Fatal(err)
		}
	}
	r := to.importAll(text)
	some := false
	for kind, n := range counts {
		tally := r.Others[kind]
		some = some || tally.Skipped > 0 && tally.Imported > 0
		if tally.Imported+tally.Skipped != n {
			t.Errorf("%s: %+v of %d", kind, tally, n)
		}
	}
	if !some || r.Failed > 0 || !r.Complete {
		t.Errorf("%+v", r)
	}
	if body(to.export(exchange.Selection{})) != body(text) {
		t.Error("the resumed import differs")
	}
}

// evidence is a line of an accepted, open fact of ada, with these fields replaced.
func evidence(id string, fields object) object {
	return lineOf("fact", object{
		"id": id, "user_id": "ada", "type": "profile", "key": "city", "value": "Lisbon", "confidence": 1,
		"valid_from": "2026-01-01T00:00:00Z",
		"state":      "accepted", "reason": "so", "recorded_at": "2026-01-02T00:00:00Z",
	}, fields)
}

func instruction(fields object) object {
	return lineOf("instruction", object{"scope": "user", "user_id": "ada", "name": "tone", "latest": 2, "active": 2,
		"changed_at": "2026-01-02T00:00:00Z"}, fields)
}

func version(fields object) object {
	return lineOf("instruction_version", object{"scope": "user", "user_id": "ada", "name": "tone", "version": 2,
		"content": "warm", "published_at": "2026-01-02T00:00:00Z"}, fields)
}

func skill(id string, fields object) object {
	return lineOf("skill", object{
		"id": id, "user_id": "ada", "name": "deploy", "workflow": "make", "successes": 1, "failures": 0, "notes": []object{},
		"first_at": "2026-01-02T00:00:00Z", "last_at": "2026-01-02T00:00:00Z",
	}, fields)
}

func outcome(fields object) object {
	return lineOf("outcome", object{"id": "run", "user_id": "ada", "hash": strings.Repeat("0a", 32),
		"counted_at": "2026-01-02T00:00:00Z"}, fields)
}

func lineOf(kind string, all, fields object) object {
	for name, value := range fields {
		all[name] = value
		if value == nil {
			delete(all, name)
		}
	}
	return object{kind: all}
}

// others is an export with these lines, of the present version.
func others(lines ...any) string {
	text := strings.Replace(head, `"version":1`, `"version":2`, 1)
	counts := map[string]int{}
	for _, l := range lines {
		raw, _ := json.Marshal(l)
		text += string(raw) + "\n"
		for key := range l.(object) {
			counts[key+"s"]++
		}
	}
	raw, _ := json.Marshal(object{"end": counts})
	return text + string(raw) + "\n"
}

// An entry that differs from the stored one fails its line and is not overwritten, and
// the lines after it are imported.
func TestImport_RefusesOtherKindsThatDiffer(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	known := others(evidence(id1, nil), instruction(nil), version(nil), skill(id1, nil), outcome(nil))
	if r := p.importAll(known); r.Failed > 0 || !r.Complete {
		t.Fatalf("%+v", r)
	}
	before := p.export(exchange.Selection{})
	past := object{"key": "city", "valid_from": "2025-01-01T00:00:00Z", "valid_until": "2026-01-01T00:00:00Z"}
	for _, c := range []struct {
		line object
		want string
	}{
		{evidence(id1, object{"value": "Porto"}), "differs in value"},
		{evidence(id1, object{"valid_until": "2026-06-01T00:00:00Z", "confidence": 0.5}),
			"differs in confidence, valid_until"},
		{evidence(id1, object{"user_id": "bob"}), "id of a fact exists already"},
		{evidence(id2, nil), "at its valid_from"},
		{evidence(id2, object{"valid_from": "2027-01-01T00:00:00Z"}), "at its valid_from"},
		{evidence(id2, object{"valid_from": "2025-01-01T00:00:00Z"}), "before its valid_until"},
		{evidence(id2, object{"valid_from": "2025-01-01T00:00:00Z", "valid_until": "2026-01-01T00:00:00.000001Z"}),
			"before its valid_until"},
		{instruction(object{"active": 1}), "differs in active"},
		{instruction(object{"active": nil, "before": []int{2}}), "differs in active, before"},
		{version(object{"content": "cold"}), "version 2 of this instruction is here already and differs in content"},
		{version(object{"version": 3}), "has no version 3 here"},
		{version(object{"name": "other"}), "has no version 2 here"},
		{skill(id1, object{"successes": 2}), "differs in successes"},
		{skill(id2, nil), "differs in id"},
		{skill(id1, object{"workflow": "other"}), "id of a workflow exists already"},
		{skill(id1, object{"user_id": "bob"}), "id of a workflow exists already"},
		{outcome(object{"hash": strings.Repeat("0b", 32)}), "another outcome was counted"},
	} {
		r := p.importAll(others(c.line, evidence(id1, nil)))
		if r.Failed != 1 || r.Errors[0].Line != 2 || !strings.Contains(r.Errors[0].Message, c.want) ||
			r.Others[exchange.Facts].Skipped != 1 || !r.Complete {
			t.Errorf("%v: %+v, want %q", c.line, r, c.want)
		}
	}
	if after := p.export(exchange.Selection{}); after != before {
		t.Errorf("something was written: %s", firstDifference(before, after))
	}
	// Fields that only the schedule and the clock change are not compared, and intervals
	// that touch do not overlap.
	same := others(evidence(id1, object{"memory_id": id3, "told": true, "due_at": "2026-01-01T00:00:00Z"}),
		outcome(object{"counted_at": "2027-01-01T00:00:00Z"}), evidence(id2, past))
	if r := p.importAll(same); r.Failed > 0 || r.Others[exchange.Facts] != (exchange.Tally{Imported: 1, Skipped: 1}) ||
		r.Others[exchange.Outcomes].Skipped != 1 {
		t.Errorf("%+v", r)
	}
}

// Each of these lines fails with its reason and changes nothing.
func TestImport_RefusesBadLinesOfOtherKinds(t *testing.T) {
	t.Parallel()
	p := newFixture(t)
	empty := p.export(exchange.Selection{})
	long := strings.Repeat("界", 20_000)
	var lines []any
	var wants []string
	bad := func(kind string, of func(object) object, fields object) {
		for name, value := range fields {
			lines, wants = append(lines, of(object{name: value})), append(wants, kind+"."+name)
		}
	}
	fact := func(o object) object { return evidence(id1, o) }
	workflow := func(o object) object { return skill(id1, o) }
	bad("fact", fact, object{"id": "x", "user_id": "", "type": "Profile", "key": "home city", "value": nil,
		"confidence": 1.5, "valid_from": nil, "state": "lost",
		"source": long, "reason": long, "recorded_at": "1969-01-01T00:00:00Z", "valid_until": "2025-01-01T00:00:00Z",
		"memory_id": "x", "due_at": "2300-01-01T00:00:00Z"})
	bad("fact", fact, object{"type": "_", "key": "a\x00", "value": "\x00", "confidence": -1,
		"valid_until": "2026-01-01T00:00:00.0000001Z"})
	bad("fact", fact, object{"value": long})
	bad("instruction", instruction, object{"scope": "world", "user_id": nil, "agent_id": "x", "name": "a\nb", "latest": 0,
		"active": 3, "changed_at": nil})
	bad("instruction", instruction, object{"latest": 1 << 31, "active": -1, "before": make([]int, 101)})
	bad("instruction_version", version, object{"scope": "", "user_id": "", "agent_id": "x", "name": "", "version": 0,
		"content": long, "note": long, "published_at": nil})
	bad("skill", workflow, object{"id": "", "user_id": "a\n", "agent_id": long, "name": strings.Repeat("x", 59),
		"workflow": strings.Repeat("x", 4096), "successes": -1,
		"failures": 1 << 31, "memory_id": "x", "first_at": nil, "last_at": nil, "notes": make([]object, 6)})
	bad("skill", workflow, object{"successes": 0})
	bad("outcome", outcome, object{"id": "", "user_id": nil, "hash": "0a", "counted_at": nil})
	bad("outcome", outcome, object{"hash": strings.Repeat("0A", 32)})
	lines, wants = append(lines, evidence(id1, object{"told": true}), evidence(id1, object{"state": "ended"}),
		evidence(id1, nil).with("outcome", object{})), append(wants, "fact.memory_id", "fact.value", "more than one thing")
	for i, l := range lines {
		r := p.importAll(others(l))
		if r.Failed < 1 || len(r.Errors) < 1 || r.Errors[0].Line != 2 || !strings.Contains(r.Errors[0].Message, wants[i]) {
			t.Errorf("%.300v: %+v, want %q", l, r, wants[i])
		}
	}
	if text := p.export(exchange.Selection{}); text != empty {
		t.Errorf("something was written: %s", text)
	}
}
