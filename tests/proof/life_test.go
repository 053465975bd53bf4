package proof

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
)

// lifetime returns the days of a life.
func lifetime() int {
	if long {
		return 400
	}
	return 140
}

// TestLife_SizesAgree runs the same life on both sizes, one step a day. After
// every step the stores are equal, each history replays to its row, and nothing has
// changed without an event. In the end both sizes have given the same answers.
func TestLife_SizesAgree(t *testing.T) {
	t.Parallel()
	transcripts := make([][]string, len(sizes))
	t.Run("on both sizes", func(t *testing.T) {
		for i, size := range sizes {
			t.Run(size.name, func(t *testing.T) {
				t.Parallel()
				l := newLife(t, size)
				for day := range lifetime() {
					l.live(day)
				}
				t.Log(l.census())
				for _, kind := range memory.EventKinds {
					if !strings.Contains(l.census(), "event "+string(kind)) {
						t.Errorf("the life has no %s event", kind)
					}
				}
				for _, status := range []memory.Status{memory.Active, memory.Forgotten, memory.Consolidated} {
					for _, kind := range []string{"messages ", "answers "} {
						if !strings.Contains(l.census(), kind+string(status)) {
							t.Errorf("the life has no %s%s", kind, status)
						}
					}
				}
				transcripts[i] = l.transcript
			})
		}
	})
	for i := range min(len(transcripts[0]), len(transcripts[1])) {
		if a, b := transcripts[0][i], transcripts[1][i]; !alike(a, b) {
			at := 0
			for at < min(len(a), len(b)) && a[at] == b[at] {
				at++
			}
			t.Fatalf("the lives differ, on %s at the end of\n%s\nand on %s in\n%s", sizes[0].name, a[:min(at+40, len(a))],
				sizes[1].name, b)
		}
	}
	if len(transcripts[0]) != len(transcripts[1]) {
		t.Errorf("the lives differ: %d and %d answers", len(transcripts[0]), len(transcripts[1]))
	}
}

// life is the life of one user on one server.
type life struct {
	t    *testing.T
	s    *server
	mind *mind
	dice *rand.Rand // the same on both sizes, as are the states in which it is used

	all      map[string]db.Record // as of the last step, including purged ones
	accesses map[string]int       // how often recall has returned a memory
	names    map[string]string    // names of ids in the transcript
	day      int

	transcript []string // requests and answers, in words that both sizes share
}

var (
	ada   = memory.Owner{AppID: "default", UserID: "ada"}
	birth = time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
)

func newLife(t *testing.T, size size) *life {
	l := &life{
		t: t, mind: newMind(t), dice: rand.New(rand.NewPCG(4, 400)),
		all: map[string]db.Record{}, accesses: map[string]int{}, names: map[string]string{},
	}
	l.s = startServer(t, size, l.mind.Server, func(cfg *config.Config) {
		cfg.Reflection.Importance = 1000 // only on request
		cfg.Forgetting.Base = 0.98       // slow enough that memories grow old
		// The answers must not depend on how busy the machine is.
		cfg.Router.Timeout = time.Minute
		cfg.Recall.Timeout = 5 * time.Minute
	})
	return l
}

// live moves the clock to a day, does one thing and checks everything.
func (l *life) live(day int) {
	l.day = day
	l.s.clock.set(birth.AddDate(0, 0, day).Add(time.Duration(l.dice.IntN(600)) * time.Minute))
	l.judged()
	chapter := l.choose()
	l.transcript = append(l.transcript, fmt.Sprintf("day %d: %s", day, chapter.name))
	chapter.live(l)
	l.check(chapter.name)
	if l.t.Failed() {
		l.t.Fatalf("day %d: the life ends after %s", day, chapter.name)
	}
}

// judged waits until the judge was asked again about restored memories. A job asks it when the clock has moved.
func (l *life) judged() {
	l.t.Helper()
	eventually(l.t, "the judge being asked again", func() string {
		for _, job := range l.s.call("GET", "/v1/jobs?kind=judge_again", nil, 200).list("jobs") {
			if job["state"] != "completed" {
				return fmt.Sprint(job)
			}
		}
		return ""
	})
}

// check waits until the stores are at rest, and checks the invariants.
func (l *life) check(chapter string) {
	l.t.Helper()
	ctx := l.t.Context()
	eventually(l.t, "the stores being equal", func() string {
		different, err := unequal(ctx, l.s.records, l.s.vectors)
		if err != nil || different != "" {
			return fmt.Sprint(different, err)
		}
		return ""
	})
	var all map[string]db.Record
	eventually(l.t, "accesses being counted", func() (waiting string) {
		var err error
		if all, err = chronicle(ctx, l.s.records, ada, slices.Collect(maps.Keys(l.all))); err != nil {
			return err.Error()
		}
		return l.uncounted(all)
	})
	if err := unexplained(all); err != nil {
		l.t.Errorf("day %d, after %s: %v", l.day, chapter, err)
	}
	if err := follows(l.all, all); err != nil {
		l.t.Errorf("day %d, after %s: %v", l.day, chapter, err)
	}
	l.all = all
}

// uncounted describes a memory whose access count is wrong; it returns "" if all are right.
func (l *life) uncounted(all map[string]db.Record) string {
	for id, r := range all {
		if r.Memory.ID != "" && r.Memory.AccessCount != l.accesses[id] {
			return fmt.Sprintf("memory %s was recalled %d times and counts %d", id, l.accesses[id], r.Memory.AccessCount)
		}
	}
	return ""
}

// call sends a request and adds the answer to the transcript.
func (l *life) call(method, path string, body any, statuses ...int) reply {
	l.t.Helper()
	r := l.s.call(method, path, body, statuses...)
	l.record(fmt.Sprintf("%s %s %v -> %d", method, path, body, r.status), r.raw)
	return r
}

// record adds a request and its answer to the transcript.
func (l *life) record(request, raw string) {
	var v any
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		l.t.Fatalf("%s: %v: %s", request, err, raw)
	}
	text, err := json.Marshal(l.plain(v))
	if err != nil {
		l.t.Fatal(err)
	}
	l.transcript = append(l.transcript, l.named(request)+" "+string(text))
}

// incidental lists the fields that may differ between two servers. The sources of
// a hit may: of many memories at one distance, any may be the fiftieth.
var incidental = []string{"took_ms", "request_id", "sources"}

// plain returns a value without its incidental fields, and with its numbers
// rounded to the digits in which the sizes agree.
func (l *life) plain(v any) any {
	switch v := v.(type) {
	case string:
		return l.named(v)
	case float64:
		return math.Round(v*1e4)/1e4 + 0 // no -0
	case []any:
		for i := range v {
			v[i] = l.plain(v[i])
		}
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(v)) { // ids get their names in this order
			v[field] = l.plain(v[field])
			if slices.Contains(incidental, field) {
				delete(v, field)
			}
		}
	}
	return v
}

var number = regexp.MustCompile(`-?\d+(\.\d+)?`)

// alike reports whether two transcripts agree, except in the last digit of
// numbers, which may be rounded either way.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	if number.ReplaceAllString(a, "0") != number.ReplaceAllString(b, "0") {
		return false
	}
	others := number.FindAllString(b, -1)
	for i, text := range number.FindAllString(a, -1) {
		x, _ := strconv.ParseFloat(text, 64)
		y, _ := strconv.ParseFloat(others[i], 64)
		if math.Abs(x-y) > 1.5e-4 {
			return false
		}
	}
	return true
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// named replaces each id by a name.
func (l *life) named(text string) string {
	return anyID.ReplaceAllStringFunc(text, func(id string) string {
		if l.names[id] == "" {
			l.names[id] = fmt.Sprintf("#%d", len(l.names)+1)
		}
		return l.names[id]
	})
}

// work lets the server do a scheduled job, as if it were due.
func (l *life) work(kind string) {
	l.t.Helper()
	info, err := jobs.EnqueueAt(l.t.Context(), l.s.records, kind, l.s.clock.now())
	if err != nil {
		l.t.Fatal(err)
	}
	eventually(l.t, kind+" being done", func() string {
		info, err = l.s.records.Job(l.t.Context(), info.ID)
		if err != nil || info.State != "completed" {
			return fmt.Sprint(info, err)
		}
		return ""
	})
	l.record(kind, string(info.Result))
}

// those returns the ids of the memories for which hold is true, oldest first.
func (l *life) those(hold func(memory.Memory) bool) (ids []string) {
	for id, r := range l.all {
		if r.Memory.ID != "" && hold(r.Memory) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// one returns one of the memories for which hold is true; ok is false if there is no such memory.
func (l *life) one(hold func(memory.Memory) bool) (id string, ok bool) {
	ids := l.those(hold)
	roll := l.dice.IntN(1 << 20)
	if len(ids) == 0 {
		return "", false
	}
	return ids[roll%len(ids)], true
}

func active(m memory.Memory) bool  { return m.Status == memory.Active }
func retired(m memory.Memory) bool { return m.Status != memory.Active }
func derived(m memory.Memory) bool {
	return active(m) && (m.Type == memory.TypeReflection || m.Type == memory.TypeSummary)
}

// census counts memories, events and relations.
func (l *life) census() string {
	counts := map[string]int{}
	for id, r := range l.all {
		status := string(r.Memory.Status)
		if r.Memory.ID == "" {
			status = "purged"
		}
		counts["memories "+status]++
		if r.Memory.Type == memory.TypeMessage {
			counts["messages "+status]++
			if r.Memory.Speaker == memory.RoleAssistant {
				counts["answers "+status]++
			}
		}
		for _, relation := range r.Relations {
			if relation.From == id {
				counts["relation "+string(relation.Kind)]++
			}
		}
		if t := r.Memory.Type; t == memory.TypeReflection || t == memory.TypeSummary {
			counts["memories of type "+string(t)]++
		}
		for _, e := range r.Events {
			counts["event "+string(e.Kind)]++
		}
	}
	var list []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%s %d", what, counts[what]))
	}
	return strings.Join(list, ", ")
}
