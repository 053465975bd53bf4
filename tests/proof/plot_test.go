package proof

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// plot is the story of one user: a preparation, then a change.
type plot struct {
	t      *testing.T
	s      *server
	fuse   func() *fuse // of the running server
	owner  memory.Owner
	it     string   // id of the memory that the change is about
	ids    []string // of every memory seen so far
	stream string   // an export of the user
}

// try sends a request, and fails the test if no answer arrives.
func (p *plot) try(method, path string, body any) reply {
	r, err := p.s.try(method, path, body)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

// done reports whether the request succeeded, and logs any other answer.
func (p *plot) done(r reply) bool {
	if !r.ok() && !p.fuse().crashed() {
		p.t.Logf("user %s: answer %d: %s", p.owner.UserID, r.status, r.raw)
	}
	return r.ok()
}

func (p *plot) memory(content string) fields {
	return fields{"user_id": p.owner.UserID, "content": content, "importance": 0.8, "domain": topicOf(content).domain}
}

// written writes memories directly, one by one.
func written(contents ...string) func(p *plot) {
	return func(p *plot) { p.write(time.Time{}, contents...) }
}

// longAgo writes memories as of half a year ago.
func longAgo(contents ...string) func(p *plot) {
	return func(p *plot) { p.write(p.s.clock.now().AddDate(0, -6, 0), contents...) }
}

func (p *plot) write(at time.Time, contents ...string) {
	for _, content := range contents {
		body := p.memory(content)
		if !at.IsZero() {
			body["at"] = at.Format(time.RFC3339)
			at = at.Add(time.Hour)
		}
		p.s.call("POST", "/v1/memories", body, 200, 201)
	}
	p.lookFor(func(m memory.Memory) bool { return m.Content == contents[0] })
}

// lookFor selects the memory that the plot is about.
func (p *plot) lookFor(hold func(memory.Memory) bool) bool {
	for id, r := range p.chronicle() {
		if hold(r.Memory) {
			p.it = id
			return true
		}
	}
	return false
}

func (p *plot) lookForReflection() bool {
	return p.lookFor(func(m memory.Memory) bool { return m.Content == "Ada is settled" })
}

// onIt sends a request about the selected memory.
func onIt(method, what string, body any) func(p *plot) bool {
	return func(p *plot) bool { return p.done(p.try(method, "/v1/memories/"+p.it+what, body)) }
}

// contribute copies the selected memory to the pool.
func (p *plot) contribute() bool {
	return p.done(p.try("POST", "/v1/pool", fields{"user_id": p.owner.UserID, "memory_id": p.it}))
}

func (p *plot) reflect() bool {
	return p.done(p.try("POST", "/v1/reflect", fields{"user_id": p.owner.UserID, "force": true}))
}

// sweep purges the forgotten memories of other users.
func (p *plot) sweep() {
	p.s.clock.pass(48 * time.Hour)
	if _, err := toolOf(p.s, p.s.records, p.s.vectors).forget.Purge(p.t.Context(), "test"); err != nil {
		p.t.Fatal(err)
	}
}

// drift makes the stores differ in every way, unknown to the database.
func (p *plot) drift() {
	ctx := p.t.Context()
	different := vectorstore.Record{Content: "something else", Embedding: make([]float32, space.Dim)}
	different.Embedding[0] = 1
	for id, r := range p.chronicle() {
		if id == p.it {
			continue
		}
		different.ID = id
		different.Owner = r.Memory.Owner
		different.CreatedAt = r.Memory.CreatedAt
		different.Domain = r.Memory.Domain
		different.Type = r.Memory.Type
	}
	stray := different
	stray.ID = memory.NewID()
	for _, err := range []error{
		p.s.vectors.Delete(ctx, []string{p.it}), p.s.vectors.Replace(ctx, []vectorstore.Record{stray, different}),
	} {
		if err != nil {
			p.t.Fatal(err)
		}
	}
	p.s.clock.pass(2 * time.Hour) // nothing is in flight
}

// exported exports and erases the user.
func (p *plot) exported() {
	after(written(home(1), pet(1), task(1)), onIt("PATCH", "", fields{"importance": 0.4}), (*plot).reflect)(p)
	p.settle()
	p.stream = p.s.call("GET", "/v1/export?user_id="+p.owner.UserID, nil, 200).raw
	p.s.call("DELETE", "/v1/users/"+p.owner.UserID, nil, 200)
}

// chronicle returns the records of the user's memories, including those that
// were seen before they were purged.
func (p *plot) chronicle() map[string]db.Record {
	p.t.Helper()
	all, err := chronicle(p.t.Context(), p.s.records, p.owner, p.ids)
	if err != nil {
		p.t.Fatal(err)
	}
	for id := range all {
		if !slices.Contains(p.ids, id) {
			p.ids = append(p.ids, id)
		}
	}
	return all
}

// settle waits until every turn is processed and the stores are equal. On a busy
// machine the last step of some work may time out, and is repeated only when the
// clock moves.
func (p *plot) settle() {
	p.t.Helper()
	ctx := p.t.Context()
	since := time.Now()
	eventually(p.t, "rest", func() string {
		if time.Since(since) > 20*time.Second {
			since = time.Now()
			p.s.clock.pass(time.Minute) // leases and claims expire
		}
		turns, err := p.s.records.ListTurns(ctx,
			db.TurnFilter{AppID: p.owner.AppID, UserID: p.owner.UserID, Status: memory.TurnAccepted, Limit: 1})
		if err != nil || len(turns) > 0 {
			return fmt.Sprint(turns, err)
		}
		different, err := unequal(ctx, p.s.records, p.s.vectors)
		if err != nil {
			return err.Error()
		}
		return different
	})
}

// retention matches the retention of a forgotten memory, which depends on the time.
var retention = regexp.MustCompile(`"retention":[^,}]+`)

// timed matches when a memory was last said, and since when a core statement speaks, which depend on the time too.
var timed = regexp.MustCompile(
	`"last_said_at":"[^"]*",|,?"last_said_at":"[^"]*"|"episode":"[^"]*","from":"[^"]*",?`)

// shape describes the records of the user without ids, so that two users can be compared.
func (p *plot) shape() string {
	p.t.Helper()
	ctx := p.t.Context()
	all := p.chronicle()
	named := func(text string) string {
		text = timed.ReplaceAllString(retention.ReplaceAllString(text, `"retention":0`), "")
		return strings.ReplaceAll(anyID.ReplaceAllStringFunc(text, func(id string) string {
			if r, known := all[id]; known {
				return "<" + r.Memory.Content + ">"
			}
			return "<>"
		}), p.owner.UserID, "USER")
	}
	var shape []string
	add := func(format string, args ...any) { shape = append(shape, named(fmt.Sprintf(format, args...))) }
	for _, r := range all {
		m := r.Memory
		m.Embedding, m.Lexemes = nil, ""
		v, err := json.Marshal(valuesOf(m))
		if err != nil {
			p.t.Fatal(err)
		}
		line := fmt.Sprintf("%s %s, agent %q", m.Content, v, m.AgentID)
		for _, e := range r.Events {
			line += fmt.Sprintf("\n\t%s %s %s", e.Kind, e.Cause, e.Detail)
		}
		var relations []string
		for _, relation := range r.Relations {
			relations = append(relations, named(fmt.Sprintf("\n\t%s %s %s", relation.From, relation.Kind, relation.To)))
		}
		slices.Sort(relations)
		add("%s", line+strings.Join(relations, ""))
	}
	turns, err := p.s.records.ListTurns(ctx,
		db.TurnFilter{AppID: p.owner.AppID, UserID: p.owner.UserID, Limit: memory.MaxPage})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, turn := range turns {
		add("turn %s %s", turn.ClientID, turn.Status)
		for _, m := range turn.Readable() {
			add("said in turn %s: %s", turn.ClientID, m.Content)
		}
		candidates, err := p.s.records.TurnCandidates(ctx, p.owner.AppID, turn.ID)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, c := range candidates {
			if _, known := all[c.MemoryID]; c.MemoryID != "" && !known {
				p.t.Errorf("candidate %+v has the verdict kept but no memory", c)
			}
			add("candidate %q %s %s, memory %s", c.Content, c.Verdict, c.Reason, c.MemoryID)
		}
	}
	state, err := p.s.records.State(ctx, p.owner)
	if err != nil {
		p.t.Fatal(err)
	}
	facts, err := p.s.records.ListFacts(ctx, db.FactFilter{Owner: p.owner, At: p.s.clock.now(), Limit: memory.MaxPage})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, f := range facts {
		add("fact %s is %s of confidence %g, memory %s", f.Key, f.Value, f.Confidence, f.MemoryID)
	}
	add("reflected %v, compressed %v", !state.ReflectedAt.IsZero(), !state.CompressedAt.IsZero())
	slices.Sort(shape)
	return strings.Join(shape, "\n")
}
