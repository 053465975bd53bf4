package e2e

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// life runs the script on one size.
type life struct {
	t       *testing.T
	script  []entry
	servers []*server // one, or two that share their stores
	spare   *server   // the second server while only one answers; nil: the stores cannot be shared
	asked   int       // requests so far, which the servers answer in turn
	clock   string    // the file whose time is the servers' clock
	now     time.Time // the time of the clock
	ends    []ending  // endings to come, in order
	context strings.Builder
	models  *scriptedModels
}

// ending is an event that happens by itself at a time, such as the end of an idle talk, with a function that waits for
// it.
type ending struct {
	at   time.Time
	wait func()
}

// idleAfter is the server's default for the time after which an idle talk ends.
const idleAfter = 30 * time.Minute

// conditions are settings with which exactly the steps of the script happen, as soon as they are due.
var conditions = []string{
	"HIPPOCAMPUS_LOG_LEVEL=warn",
	"HIPPOCAMPUS_SCHEDULE_CONSOLIDATION=@every 1s", "HIPPOCAMPUS_SCHEDULE_FACTS=@every 1s",
	"HIPPOCAMPUS_SCHEDULE_IDLE=@every 1s",
	"HIPPOCAMPUS_REFLECTION_IMPORTANCE=1000", // only on request
	"HIPPOCAMPUS_FORGETTING_BASE=0.8",        // so that memories fade within two weeks
	"HIPPOCAMPUS_FORGETTING_CLOCK=wall",
	"HIPPOCAMPUS_FORGETTING_KEEP_TYPES=none",
	"HIPPOCAMPUS_SESSION_EVENTS=6", // so that a talk of eight events is condensed
}

// newLife starts the servers of a size at the beginning of the life.
func newLife(t *testing.T, size size, script []entry, also ...string) *life {
	l := &life{t: t, script: script, clock: filepath.Join(t.TempDir(), "clock"), models: newScriptedModels(t, script)}
	if err := os.WriteFile(l.clock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.set(lifeBegins)
	settings := slices.Concat(size.settings(t), withModels(l.models.Server), patient, conditions, also,
		[]string{"HIPPOCAMPUS_ADMIN_KEY=" + adminKey, "E2E_CLOCK=" + l.clock})
	l.servers = []*server{startProgram(t, binary, settings...)}
	l.servers[0].key = adminKey
	if l.servers[0].setting("DATABASE_URL") != "" {
		l.spare = startProgram(t, binary, settings...)
		l.spare.key = adminKey
	}
	return l
}

// server returns the server that answers next.
func (l *life) server() *server {
	l.asked++
	return l.servers[l.asked%len(l.servers)]
}

func (l *life) call(method, path string, body any, statuses ...int) reply {
	l.t.Helper()
	return l.server().call(method, path, body, statuses...)
}

// until moves the clock, and waits for every ending that becomes due.
func (l *life) until(at time.Time) {
	l.t.Helper()
	for len(l.ends) > 0 && !l.ends[0].at.After(at) {
		end := l.ends[0]
		l.ends = l.ends[1:]
		l.move(end.at)
		end.wait()
	}
	l.move(at)
}

// comes adds an ending that is to come.
func (l *life) comes(at time.Time, wait func()) {
	l.ends = append(l.ends, ending{at, wait})
	slices.SortStableFunc(l.ends, func(a, b ending) int { return a.at.Compare(b.at) })
}

// last returns the time of a talk's last turn.
func (e entry) last() time.Time { return e.At.Add(time.Duration(len(e.Turns)-1) * between) }

// live runs an entry of the script.
func (l *life) live(e entry) {
	l.t.Helper()
	switch {
	case e.Talk != "":
		l.talk(e)
	case e.Fact != nil:
		l.state(*e.Fact)
	case e.EndFact != nil:
		l.until(e.EndFact.At.Time)
		query := url.Values{"user_id": {e.EndFact.User}, "type": {e.EndFact.Type}, "key": {e.EndFact.Key}}
		l.call("DELETE", "/v1/facts?"+query.Encode(), nil, 200)
	case e.Instruction != nil:
		l.until(e.Instruction.At.Time)
		l.call("POST", "/v1/instructions", e.Instruction.body(), 201)
	case e.Outcome != nil:
		l.outcome(*e.Outcome)
	case e.Reflect != nil:
		l.until(e.Reflect.At.Time)
		r := l.call("POST", "/v1/reflect", object{"user_id": e.Reflect.User, "force": true}, 200)
		if n := len(r.list("insights")); n != len(e.Reflect.Insights) {
			l.t.Errorf("a reflection of %s has %d insights: %s", e.Reflect.User, n, r.raw)
		}
	case e.Forget != nil:
		l.until(e.Forget.At.Time)
		l.call("POST", "/v1/forget", object{"user_id": e.Forget.User, "dry_run": false, "whole": true}, 200)
	case e.Delete != nil:
		l.delete(*e.Delete)
	case e.Withdraw != nil:
		l.withdraw(*e.Withdraw)
	case e.Context != nil:
		l.until(e.Context.At.Time)
		l.ask(*e.Context)
	default:
		l.arrange(e.Servers)
	}
}

// arrange changes the number of servers, or restarts them one after the other.
func (l *life) arrange(how string) {
	l.t.Helper()
	switch how {
	case "two":
		if l.spare != nil {
			l.servers = append(l.servers, l.spare)
		}
	case "one":
		l.servers = l.servers[:1]
	case "restart":
		for _, s := range l.servers {
			s.stop()
			s.run()
		}
	default:
		l.t.Fatalf("servers cannot be %q", how)
	}
}

// talk runs a conversation, and ends it if the script does.
func (l *life) talk(e entry) {
	l.t.Helper()
	for i, turn := range e.Turns {
		l.until(e.At.Add(time.Duration(i) * between))
		l.say(e, i, turn)
	}
	if e.End == nil {
		l.comes(e.last().Add(idleAfter+time.Minute), func() { l.consolidated(e) })
		return
	}
	end := func() (consolidations []any) {
		l.call("POST", "/v1/conversations/"+e.Talk+"/end", object{"user_id": e.User, "wait": true}, 200)
		return ids(l.consolidated(e))
	}
	if first, again := end(), end(); !slices.Equal(first, again) {
		l.t.Errorf("%s was ended twice, and consolidated by %v and then by %v", e.Talk, first, again)
	}
}

// say sends a turn, and sends it again if there is no answer, as a backend does.
func (l *life) say(e entry, i int, turn said) {
	l.t.Helper()
	id := fmt.Sprintf("%s/%d", e.Talk, i+1)
	body := object{"id": id, "user_id": e.User, "conversation_id": e.Talk, "messages": []object{}, "wait": true}
	if e.Agent != "" {
		body["agent_id"] = e.Agent
	}
	for _, m := range turn.Said {
		body["messages"] = append(body["messages"].([]object), m.body())
	}
	if turn.Killed == "" {
		if r := l.call("POST", "/v1/turns", body, 200); r.body["status"] != "processed" {
			l.t.Fatalf("turn %s: %s", id, r.raw)
		}
		l.condensed(e)
		return
	}
	body["wait"] = false
	die := []*server{l.server()}
	die[0].call("POST", "/v1/turns", body, 202)
	if turn.Killed == "all" {
		die = l.servers
		select {
		case <-l.models.hung:
		case <-time.After(waitLimit):
			l.t.Fatalf("the scorer was not asked about turn %s", id)
		}
	}
	for _, s := range die {
		s.kill()
	}
	killed := time.Now()
	for _, s := range die {
		s.run()
	}
	if l.pending() != "" {
		time.Sleep(time.Until(killed.Add(longestPush)))
	}
	l.set(e.At.Add(time.Duration(i)*between + time.Minute)) // longer than the due time of a turn whose worker died
	r := l.call("POST", "/v1/turns", body, 200, 202)
	if repeated, _ := r.body["repeated"].(bool); !repeated {
		l.t.Errorf("turn %s was taken twice: %s", id, r.raw)
	}
	eventually(l.t, "turn "+id+" being processed after its server was killed", func() string {
		if r := l.call("GET", "/v1/turns/"+url.PathEscape(id), nil, 200); r.body["status"] != "processed" {
			return r.raw
		}
		return ""
	})
}

// condensed waits until a long talk has a running summary.
func (l *life) condensed(e entry) {
	l.t.Helper()
	eventually(l.t, e.Talk+" being condensed", func() string {
		c := l.call("GET", "/v1/conversations/"+e.Talk+"?user_id="+e.User, nil, 200).body["conversation"].(map[string]any)
		through, _ := c["summarised_through"].(float64)
		if c["events"].(float64)-through > 6 {
			return fmt.Sprint(c)
		}
		return ""
	})
}

// consolidated waits until a talk has ended and is consolidated. It returns the
// consolidations.
func (l *life) consolidated(e entry) (list []object) {
	l.t.Helper()
	eventually(l.t, e.Talk+" being consolidated", func() string {
		query := "?limit=500&user_id=" + e.User
		all := l.call("GET", "/v1/conversations/"+e.Talk+"/consolidations"+query, nil, 200)
		types := map[any]bool{}
		list = all.list("consolidations")
		for _, c := range list {
			types[c["type"]] = true
			if c["state"] != "done" {
				return all.raw
			}
		}
		if !types["fast_replay"] || !types["deep_reflection"] {
			return all.raw
		}
		return ""
	})
	return list
}

// awaitStated waits until the events that a talk without an end states are consolidated,
// which the schedule does.
func (l *life) awaitStated() {
	l.t.Helper()
	stated := []string{"task", "decision", "tool_use", "error", "insight"}
	for _, e := range l.script {
		if e.Talk == "" || e.End != nil {
			continue
		}
		want := 0
		for _, turn := range e.Turns {
			for _, m := range turn.Said {
				if slices.Contains(stated, m.Kind) {
					want++
				}
			}
		}
		eventually(l.t, "the stated events of "+e.Talk, func() string {
			got := l.consolidations(e.User, e.Talk)
			if !strings.HasPrefix(got, fmt.Sprintf("stated: %d,", want)) {
				return got
			}
			return ""
		})
	}
}
