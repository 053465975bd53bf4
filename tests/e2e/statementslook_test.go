package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// statementKinds are the columns of the table: kinds of items that state something. The vector is that of the fact.
var statementKinds = []string{
	"message", "message with more", "fact", "echo", "timeline", "summary", "insight", "event", "candidate", "vector",
}

// seen is an item as a client sees it: a state, and its text.
type seen struct{ state, text string }

// compare applies the operation to the statements of both users, and compares what became of each item with the row of
// the page.
func (u *stated) compare(t *testing.T, operation statementOperation, page [][]string) {
	t.Helper()
	i := slices.IndexFunc(page, func(row []string) bool { return row[0] == operation.name })
	if i < 0 {
		t.Fatalf("the page has no row %q", operation.name)
	}
	got := slices.Clone(page[i])
	for _, u := range []*stated{u, u.other} {
		u.server = u.of(t)
		if operation.first != nil {
			operation.first(u)
		}
		before := u.look()
		had := maps.Clone(u.had)
		operation.do(u)
		after := u.look()
		u.had = had
		u.checkAnswers(after)
		for place, kind := range statementKinds {
			if kind == u.message || u.other != nil && kind != u.other.message {
				got[1+place] = u.became(kind, before[kind], after[kind])
			}
		}
	}
	for place, kind := range statementKinds {
		if want := page[i][1+place]; got[1+place] != want {
			t.Errorf("%s: %q, and the page says %q", kind, got[1+place], want)
		}
	}
	if t.Failed() {
		t.Logf("the row would be\n| %s |", strings.Join(got, " | "))
	}
}

// became returns the page's word for what became of an item.
func (u *stated) became(kind string, before, after seen) string {
	switch {
	case before == after && after.state == "":
		return "-"
	case before == after:
		return "stays"
	case after.state == "":
		return cmp.Or(map[string]string{"timeline": "ends", "vector": "removed"}[kind], "gone")
	case after.state == "active" && before.state == "" && !u.had[kind]:
		return "made"
	case after.state == "active" && (before.state != "active" || after.text != before.text && u.had[kind+after.text]):
		return "comes back"
	case after.state == "active" && strings.Contains(before.text, after.text):
		return "shortened"
	case after.state == "active":
		return "changed"
	}
	return after.state
}

// look returns each kind of item as a client sees it.
func (u *stated) look() map[string]seen {
	u.t.Helper()
	items := u.memories()
	answer := u.call("POST", "/v1/recall", whereNow(u.user), 200)
	for kind, id := range u.ids {
		if item := items[kind]; item.state == "active" {
			items[kind] = inAnswer(answer, id, item)
		}
	}
	items["timeline"] = u.timeline()
	items["event"] = u.event()
	for _, c := range u.call("GET", "/v1/candidates?user_id="+u.user, nil, 200).list("candidates") {
		if c["content"] == weakFact {
			u.ids["candidate"] = c["id"].(string)
			items["candidate"] = seen{"active", weakFact}
		}
	}
	items["vector"] = u.vector(items["fact"])
	for kind, item := range items {
		if item.state == "active" {
			u.had[kind], u.had[kind+item.text] = true, true
		}
	}
	return items
}

// inAnswer returns what an answer to a question about the present shows of an active item: its text without former
// parts. If the answer has another statement in its place, the item is former; otherwise it is returned unchanged.
func inAnswer(r reply, id string, item seen) seen {
	answers := r.list("memories")
	for _, a := range answers {
		if a["id"] == id {
			return seen{"active", a["content"].(string)}
		}
	}
	explanation, _ := r.body["explanation"].(map[string]any)
	for _, m := range listOf(explanation["left_out"]) {
		if left, _ := m["memory"].(map[string]any); left["id"] != id {
			continue
		}
		i := slices.IndexFunc(answers, func(a object) bool { return a["id"] == m["by"] })
		if m["reason"] == "former" || i >= 0 && strings.Contains(answers[i]["content"].(string), "Groningen") {
			return seen{"former", item.text}
		}
	}
	return item
}

// whereNow is a recall that asks where a user lives.
func whereNow(user string) object {
	return object{
		"user_id": user, "query": "Where does the user live?", "route": false, "touch": false, "limit": 100, "explain": true,
	}
}

// memories returns the items that are memories.
func (u *stated) memories() map[string]seen {
	u.t.Helper()
	items := map[string]seen{}
	kindOf := func(m object) string {
		content := m["content"].(string)
		switch {
		case m["type"] == "message" && m["said_by"] == "user" && content == u.sentence:
			return u.message
		case m["type"] == "message" && m["said_by"] == "assistant" && strings.Contains(content, "Utrecht"):
			return "echo"
		case m["type"] == "summary":
			return "summary"
		case m["type"] == "reflection":
			return "insight"
		case content == stayedFact && u.ids["fact"] == "": // a former wording of the fact says the same
			return "fact"
		}
		return ""
	}
	for _, status := range []string{"active", "superseded", "consolidated", "forgotten"} {
		all := u.call("GET", "/v1/memories?limit=500&status="+status+"&user_id="+u.user, nil, 200)
		for _, m := range all.list("memories") {
			id, kind := m["id"].(string), kindOf(m)
			for known, of := range u.ids {
				if of == id {
					kind = known
				}
			}
			if kind == "" {
				continue
			}
			state := map[string]string{"consolidated": "condensed"}[status]
			if m["faded"] == true {
				state = "fades"
			}
			u.ids[kind], items[kind] = id, seen{cmp.Or(state, status), m["content"].(string)}
		}
	}
	return items
}

// timeline returns the value of the user's home that is valid now.
func (u *stated) timeline() seen {
	u.t.Helper()
	values := u.facts(u.user, "&type=profile&key=home_city") // at most one
	switch {
	case len(values) == 0:
		return seen{}
	case values[0] == "Utrecht":
		return seen{"active", "Utrecht"}
	}
	return seen{"replaced", fmt.Sprint(values[0])}
}

// event returns the user's message in the log.
func (u *stated) event() seen {
	u.t.Helper()
	log := u.call("GET", "/v1/conversations/"+u.talk()+"?limit=100&user_id="+u.user, nil, 200, 404)
	for _, turn := range log.list("turns") {
		if turn["client_id"] != u.turnID() {
			continue
		}
		if messages, _ := turn["messages"].([]any); len(messages) > 0 {
			said, _ := messages[0].(map[string]any)["content"].(string)
			if said == "" {
				return seen{"withheld", ""}
			}
			return seen{"active", said}
		}
	}
	return seen{}
}

// vector waits until the vector store has the fact with its present text if the fact is active, and lacks it otherwise.
func (u *stated) vector(fact seen) (vector seen) {
	u.t.Helper()
	if fact.state == "active" {
		vector = fact
	}
	eventually(u.t, "the vector store showing the fact as it is", func() string {
		shown := seen{}
		for _, r := range u.records(scripted) {
			if r.ID == u.ids["fact"] {
				shown = seen{"active", r.Content}
			}
		}
		if shown != vector {
			return fmt.Sprintf("it shows %v, want %v", shown, vector)
		}
		return ""
	})
	return vector
}

// checkAnswers checks that a recall returns only active items, and that a candidate is promoted or refused.
func (u *stated) checkAnswers(items map[string]seen) {
	u.t.Helper()
	for _, m := range u.call("POST", "/v1/recall", whereNow(u.user), 200).list("memories") {
		for kind, id := range u.ids {
			if id == m["id"] && items[kind].state != "active" && m["recollected"] != true {
				u.t.Errorf("the %s is %s, and a recall returns it", kind, items[kind].state)
			}
		}
	}
	if items["candidate"].state == "" {
		return
	}
	promoted := u.call("POST", "/v1/candidates/promote", object{"ids": []string{u.ids["candidate"]}}, 200)
	if results := promoted.list("results"); results[0]["error"] != nil {
		items["candidate"] = seen{"refused", ""}
	}
}
