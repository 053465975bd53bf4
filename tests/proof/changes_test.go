package proof

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/forgetting"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/server/app"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/projection"
)

// change is a change that takes several calls of the stores.
type change struct {
	name   string
	ready  func(p *plot)               // makes the state before the change
	ask    func(p *plot) bool          // makes the change by HTTP, and reports whether the server answered that it is done
	work   func(p *plot, c tool) error // or makes the change by a command that runs next to the server
	repeat bool                        // repeating it finishes what was begun
	later  bool                        // leaves its pushes to the reconciler
	gone   bool                        // removes history
	drift  bool                        // the stores differ when it begins
}

// tool holds the services that a command uses.
type tool struct {
	push   *projection.Projection
	keep   *projection.Maintenance
	forget *forgetting.Service
}

func toolOf(s *server, records db.Store, vectors vectorstore.Store) tool {
	push := projection.New(records, vectors, app.ProjectionSettings(s.cfg, pace), s.clock.now, zap.NewNop())
	return tool{
		push: push, keep: projection.NewMaintenance(records, vectors, push, s.clock.now, zap.NewNop()),
		forget: forgetting.New(records, push, forgetting.Settings{PurgeAfter: 24 * time.Hour}, s.clock.now,
			zap.NewNop()),
	}
}

// changes are all changes of several steps that the server makes. The duration of the first
// one grows with the number of memories.
var changes = []change{
	{name: "rebuild", ready: written(home(1), pet(1)), drift: true, repeat: true,
		work: func(p *plot, c tool) error { _, err := c.keep.Rebuild(p.t.Context()); return err }},
	{name: "turn", ready: nothing, ask: turn(much)},
	{name: "judged supersede", ready: written(home(1)), ask: turn(move)},
	{name: "judged merge", ready: written(music(1)), ask: turn(moreMusic)},
	{
		name:  "timeline fact",
		ready: after(written(home(1)), turn(aPet)),
		ask: asked("PUT", "/v1/facts", func(p *plot) any {
			return fields{"user_id": p.owner.UserID, "type": "profile", "key": "pet", "value": pet(2)}
		}),
	},
	{
		name:   "deep consolidation",
		ready:  after(written(home(1)), talk(aPet, home(2), "That is all.")),
		ask:    (*plot).endTalk,
		repeat: true,
	},
	{name: "write", ready: nothing, ask: asked("POST", "/v1/memories", func(p *plot) any { return p.memory(home(1)) })},
	{name: "batch", ready: written(home(1)), ask: asked("POST", "/v1/memories/batch", func(p *plot) any {
		return fields{"memories": []fields{p.memory(pet(1)), p.memory(music(1)), p.memory(task(1))}}
	})},
	{
		name:  "edit",
		ready: written(home(1)),
		ask:   onIt("PATCH", "", fields{"content": home(2), "importance": 0.3, "tags": []string{"moved"}}),
	},
	{name: "delete", ready: written(home(1)), ask: onIt("DELETE", "", nil)},
	{name: "restore", ready: after(written(home(1)), onIt("DELETE", "", nil)), ask: onIt("POST", "/restore", nil)},
	{name: "statement's deletion", ready: insighted, ask: onIt("DELETE", "", nil)},
	{
		name:  "statement's restoration",
		ready: after(insighted, onIt("DELETE", "", nil)),
		ask:   onIt("POST", "/restore", nil),
	},
	{
		name:  "conversation's deletion",
		ready: insighted,
		ask: asked("POST", "/v1/memories/forget",
			func(p *plot) any { return fields{"user_id": p.owner.UserID, "conversation_id": "talk"} }),
	},
	{
		name:  "withdrawal",
		ready: after(written(home(1)), turn(move)),
		ask:   func(p *plot) bool { return p.done(p.try("DELETE", "/v1/turns/"+p.turnID(), nil)) },
	},
	{
		name:  "replacement",
		ready: after(written(home(1)), turn(move)),
		ask: func(p *plot) bool {
			return p.turn(fields{
				"id": p.turnID() + "-edited", "replaces": p.turnID(),
				"messages": []fields{{"role": "user", "content": much}},
			})
		},
	},
	{
		name:  "promotion",
		ready: after(turn(little)),
		ask: asked("POST", "/v1/candidates/promote", func(p *plot) any {
			return fields{"user_id": p.owner.UserID, "min_importance": 0.1}
		}),
	},
	{name: "reflection", ready: written(home(1), pet(1), task(1)), ask: (*plot).reflect},
	{
		name:  "undo",
		ready: after(written(home(1), pet(1), task(1)), (*plot).reflect, (*plot).lookForReflection),
		ask:   onIt("POST", "/undo", nil),
	},
	{
		name: "forgetting",
		ready: after(written(home(1), pet(1), task(1)),
			func(p *plot) bool { p.settle(); p.s.clock.pass(1000 * 24 * time.Hour); return true }),
		ask: asked("POST", "/v1/forget",
			func(p *plot) any { return fields{"user_id": p.owner.UserID, "dry_run": false, "whole": true} }),
	},
	{
		name: "purge",
		ready: after((*plot).sweep, written(home(1)), onIt("DELETE", "", nil),
			func(p *plot) bool { p.settle(); p.s.clock.pass(48 * time.Hour); return true }),
		work: func(p *plot, c tool) error { _, err := c.forget.Purge(p.t.Context(), "test"); return err },
	},
	{name: "compression", ready: longAgo(food(1), food(2), food(3)), ask: asked("POST", "/v1/compress", func(p *plot) any {
		return fields{"user_id": p.owner.UserID}
	})},
	{name: "repair", ready: written(home(1), pet(1)), drift: true, repeat: true,
		work: func(p *plot, c tool) error { _, err := c.keep.Repair(p.t.Context()); return err }},
	{
		name:   "erasure",
		ready:  after(written(home(1), pet(1)), (*plot).contribute, turn(much), (*plot).reflect),
		repeat: true,
		gone:   true,
		ask: func(p *plot) bool {
			r := p.try("DELETE", "/v1/users/"+p.owner.UserID, nil)
			return r.ok() && r.body["verified"] == true
		},
	},
	{name: "import", ready: (*plot).exported, repeat: true, later: true, ask: func(p *plot) bool {
		r := p.try("POST", "/v1/import", ndjson(p.stream))
		return r.ok() && len(r.list("errors")) == 0
	}},
}

// The statements of the plots, by topic, so that the models know them.
func home(n int) string  { return topics[0].says + " " + word(n) }
func pet(n int) string   { return topics[3].says + " " + word(n) }
func music(n int) string { return topics[4].says + " " + word(n) }
func food(n int) string  { return topics[5].says + " " + word(n) }
func task(n int) string  { return topics[8].says + " " + word(n) }

// The turns of the plots, each with the statements that the scorer takes from it.
var (
	much      = told("much", home(3), pet(3), task(3), food(3))
	move      = told("a move", home(2))
	moreMusic = told("more music", music(2))
	little    = told("little", home(1), pet(1))
	aPet      = told("a pet", pet(1))
)

func told(what string, statements ...string) string {
	return what + " was told: " + strings.Join(statements, ". ")
}

// script starts the models of the plots.
func script(t *testing.T) *llmtest.Server {
	m := newMind(t)
	for _, place := range []int{0, 3, 4, 5, 8} {
		for n := range 5 {
			m.statement(place, n, false)
		}
	}
	fact := func(text string, importance float64) llmtest.Fact {
		return llmtest.Fact{Fact: text, Importance: importance, Domain: topicOf(text).domain}
	}
	m.Facts("much was told", fact(home(3), 0.9), fact(pet(3), 0.8), fact(task(3), 0.75), fact(food(3), 0.2))
	m.Facts("a move was told", fact(home(2), 0.9))
	m.Facts("more music was told", fact(music(2), 0.9))
	m.Facts("little was told", fact(home(1), 0.4), fact(pet(1), 0.3))
	m.Facts("a pet was told", fact(pet(1), 0.9))
	m.OnPrompt("hippocampus/deep", func(llmtest.ChatRequest) llmtest.Reply {
		found := func(key, text string) fields {
			return fields{"type": "profile", "key": key, "value": text, "text": text, "confidence": 0.9}
		}
		return answer(fields{"facts": []fields{found("home_city", home(2)), found("pet", m.statement(3, 1, true))}})
	})
	m.OnPrompt("hippocampus/reflect", func(llmtest.ChatRequest) llmtest.Reply {
		return answer(fields{"insights": []fields{
			{"insight": "Ada is settled", "sources": []int{1, 2}}, {"insight": "Ada is busy", "sources": []int{2, 3}},
		}, "retire": []int{2}})
	})
	return m.Server
}

func nothing(*plot) {}

// insighted reports a pet, which the assistant repeats, and reflects on it and on other facts. A request to forget the
// pet forgets the message, the echo and the insights too, and withholds the first two from the log.
func insighted(p *plot) {
	after(written(home(1), task(1)), repeated(aPet, "So "+pet(1)+"."), (*plot).reflect)(p)
	p.lookFor(func(m memory.Memory) bool { return m.Content == pet(1) })
}

// after runs several steps; every step must succeed.
func after(steps ...any) func(p *plot) {
	return func(p *plot) {
		for i, step := range steps {
			switch step := step.(type) {
			case func(p *plot):
				step(p)
			case func(p *plot) bool:
				if !step(p) {
					p.t.Fatalf("step %d before the change failed", i+1)
				}
			}
		}
	}
}

func asked(method, path string, body func(p *plot) any) func(p *plot) bool {
	return func(p *plot) bool {
		r := p.try(method, path, body(p))
		for _, result := range r.list("results") {
			if result["error"] != nil {
				return false
			}
		}
		return p.done(r)
	}
}
