package proof

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// chapter is one kind of step in a life.
type chapter struct {
	name   string
	weight int
	live   func(l *life)
}

var chapters = []chapter{
	{"a turn", 26, (*life).turn},
	{"a direct write", 14, (*life).write},
	{"a batch", 3, (*life).batch},
	{"recalls", 18, (*life).recall},
	{"an edit", 7, (*life).edit},
	{"a pin", 3, (*life).pin},
	{"a deletion", 4, (*life).remove},
	{"a restoration", 6, (*life).restore},
	{"a withdrawal", 3, (*life).withdraw},
	{"a replacement", 3, (*life).replace},
	{"a reflection", 5, (*life).reflect},
	{"an undo", 2, (*life).undo},
	{"forgetting", 6, (*life).forget},
	{"a purge", 4, func(l *life) { l.work("purge") }},
	{"a promotion", 3, (*life).promote},
	{"compression", 3, (*life).compress},
	{"proofs", 2, (*life).prove},
	{"a restart", 1, func(l *life) { l.s.restart() }},
}

// choose returns a random chapter.
func (l *life) choose() chapter {
	total := 0
	for _, c := range chapters {
		total += c.weight
	}
	roll := l.dice.IntN(total)
	for _, c := range chapters {
		if roll -= c.weight; roll < 0 {
			return c
		}
	}
	panic("the weights add up")
}

// say returns a random statement.
func (l *life) say() string {
	return l.mind.statement(l.dice.IntN(len(topics)), l.dice.IntN(40), l.dice.IntN(4) == 0)
}

func (l *life) turn() {
	l.report(fmt.Sprintf("day%dx", l.day), fields{"conversation_id": conversationOf(l.day)}, 200)
}

// conversationOf returns the id of the conversation of a day.
func conversationOf(day int) string { return fmt.Sprintf("conversation %d", day/7) }

// report reports a turn of random statements; the assistant repeats some of them.
func (l *life) report(mark string, more fields, statuses ...int) {
	var facts []llmtest.Fact
	echo := ""
	text := "Hello! " + mark
	for range l.dice.IntN(4) {
		said := l.say()
		importance := 0.4 + float64(l.dice.IntN(60))/100
		facts = append(facts, llmtest.Fact{Fact: said, Importance: importance, Domain: topicOf(said).domain})
		text += " " + said + "."
		if l.dice.IntN(3) == 0 {
			echo = " So " + said + "."
		}
	}
	l.mind.Facts(mark, facts...)
	answer := "A notebook for " + mark + " and a walk along the river would suit that." + echo
	turn := fields{
		"id": mark, "user_id": "ada", "wait": true,
		"messages": []fields{{"role": "user", "content": text}, {"role": "assistant", "content": answer}},
	}
	maps.Copy(turn, more)
	l.call("POST", "/v1/turns", turn, statuses...)
}

// wish returns the body of a random direct write.
func (l *life) wish() fields {
	body := fields{
		"user_id":    "ada",
		"content":    l.say(),
		"importance": float64(30+l.dice.IntN(70)) / 100,
		"dedup":      l.dice.IntN(2) == 0,
	}
	if l.dice.IntN(4) == 0 {
		body["at"] = l.s.clock.now().Add(-time.Duration(l.dice.IntN(120*24)) * time.Hour).Format(time.RFC3339)
	}
	if l.dice.IntN(5) == 0 {
		body["agent_id"] = "coach"
	}
	if l.dice.IntN(6) == 0 {
		body["pinned"] = true
	}
	if l.dice.IntN(3) == 0 {
		body["tags"], body["metadata"] = []string{
			"diary",
			fmt.Sprint(l.day),
		}, fields{
			"day":  l.day,
			"mood": fields{"good": true},
		}
	}
	return body
}

func (l *life) write() { l.call("POST", "/v1/memories", l.wish(), 200, 201) }

func (l *life) batch() {
	var list []fields
	for range 2 + l.dice.IntN(5) {
		list = append(list, l.wish())
	}
	l.call("POST", "/v1/memories/batch", fields{"memories": list}, 200)
}

// recall asks questions, which touches the memories in the answers.
func (l *life) recall() {
	for i := range 1 + l.dice.IntN(3) {
		question := fields{
			"user_id": "ada", "query": l.mind.question(l.dice.IntN(len(topics)), l.day), "limit": 1 + l.dice.IntN(8),
		}
		switch l.dice.IntN(4) {
		case 0:
			question["agent_id"] = "coach"
		case 1:
			question["types"] = []string{"reflection", "summary", "fact"}
		case 2:
			question["touch"], question["expand"] = false, "sources"
		}
		if i > 0 {
			question["route"] = false
		}
		r := l.call("POST", "/v1/recall", question, 200)
		for _, m := range r.list("memories") {
			if question["touch"] == nil {
				l.accesses[m["id"].(string)]++
			}
		}
		eventually(l.t, "accesses being counted", func() string { // the next answer shows the counts
			all, err := l.s.records.Recorded(l.t.Context(), ada, slices.Collect(maps.Keys(l.accesses)))
			if err != nil {
				return err.Error()
			}
			return l.uncounted(all)
		})
	}
}

func (l *life) edit() {
	id, ok := l.one(active)
	if !ok {
		return
	}
	change := fields{}
	switch l.dice.IntN(5) {
	case 0, 1:
		change["content"] = l.say()
	case 2:
		change["importance"] = float64(l.dice.IntN(100)) / 100
	case 3:
		change["domain"], change["tags"] = memory.Tasks, []string{"moved"}
	default:
		change["metadata"], change["type"] = fields{"edited": l.day}, "preference"
	}
	if m := l.all[id].Memory; derived(m) {
		delete(change, "type")
	}
	l.call("PATCH", "/v1/memories/"+id, change, 200)
}

func (l *life) pin() {
	if id, ok := l.one(active); ok {
		l.call("PATCH", "/v1/memories/"+id, fields{"pinned": !l.all[id].Memory.Pinned}, 200)
	}
}

// remove forgets what a memory states, or all of a turn of the last days.
func (l *life) remove() {
	if l.dice.IntN(4) == 0 {
		l.call("POST", "/v1/memories/forget", fields{"user_id": "ada", "turn_id": l.recent()}, 200, 404)
		return
	}
	if id, ok := l.one(func(memory.Memory) bool { return true }); ok {
		l.call("DELETE", "/v1/memories/"+id, nil, 200)
	}
}

func (l *life) restore() {
	if id, ok := l.one(retired); ok {
		l.call("POST", "/v1/memories/"+id+"/restore", nil, 200, 409) // 409: its turn was withdrawn
	}
}

// recent returns an id that a turn of the last days may have.
func (l *life) recent() string { return fmt.Sprintf("day%dx", l.day-l.dice.IntN(10)) }

// withdraw takes back a turn of the last days, if there is one.
func (l *life) withdraw() { l.call("DELETE", "/v1/turns/"+l.recent(), nil, 200, 404) }

// replace reports a turn in place of one of the last days, if there is one.
func (l *life) replace() {
	day := max(0, l.day-l.dice.IntN(10))
	l.report(fmt.Sprintf("edited%dx", l.day), fields{
		"conversation_id": conversationOf(day), "replaces": fmt.Sprintf("day%dx", day),
	}, 200, 404)
}

// reflect asks for a reflection. A malformed answer of the model changes nothing.
func (l *life) reflect() {
	l.call("POST", "/v1/reflect", fields{"user_id": "ada", "force": true}, 200, 502)
}

func (l *life) undo() {
	if id, ok := l.one(derived); ok {
		l.call("POST", "/v1/memories/"+id+"/undo", nil, 200, 409) // 409: its sources have been purged
	}
}

func (l *life) forget() {
	l.call("POST", "/v1/forget", fields{"user_id": "ada", "limit": 500}, 200)
	switch l.dice.IntN(3) {
	case 0:
		l.work("forgetting")
	case 1:
		l.call("POST", "/v1/forget", fields{"user_id": "ada", "dry_run": false}, 200)
	default:
		l.call("POST", "/v1/forget", fields{"user_id": "ada", "dry_run": false, "whole": true}, 200)
	}
}

func (l *life) promote() {
	l.call("POST", "/v1/candidates/promote", fields{"user_id": "ada", "min_importance": 0.5}, 200)
}

func (l *life) compress() {
	for _, group := range l.call("POST", "/v1/compress", fields{"user_id": "ada"}, 200).list("groups") {
		for _, summary := range (reply{body: group}).list("summaries") {
			if summary["conversation_id"] == nil {
				l.inherit(summary["id"].(string))
			}
		}
	}
}

// inherit counts the accesses with which a core statement of an episode begins.
func (l *life) inherit(id string) {
	relations, err := l.s.records.Relations(l.t.Context(), ada.AppID, id)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, r := range relations {
		if r.From == id && r.Kind == memory.DerivedFrom {
			l.accesses[id] = max(l.accesses[id], l.accesses[r.To])
		}
	}
}

// prove lets the server compare and refill its stores.
func (l *life) prove() {
	for _, kind := range []string{"verification", "repair", "rebuild"} {
		l.s.clock.set(l.s.clock.now().Add(2 * time.Hour)) // nothing is in flight
		l.work(kind)
	}
}
