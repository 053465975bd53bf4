package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "hippocampus/internal/rapidtest" // sets its flags
)

// In any order of statements, forgetting, restores, withdrawals and replacements: no active item states what is
// forgotten or former, and some active item states everything else. Items are facts, messages, the assistant's echoes,
// summaries and insights.
func TestStatements_LiveOnce(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		most := 15 // talks
		if size.name == "sqlite" || long {
			most = 100
		}
		talks := 0
		rapid.Check(t, func(rt *rapid.T) {
			talks++
			if talks > most && !t.Failed() {
				return
			}
			k := &talk{T: rt, s: s, user: fmt.Sprintf("talk-%d", talks)}
			operations := []func(*rapid.T){k.say, k.say, k.say, k.forget, k.restore, k.withdraw, k.end, k.derive}
			for range rapid.IntRange(2, 16).Draw(rt, "operations") {
				rapid.SampledFrom(operations).Draw(rt, "operation")(rt)
			}
			k.check() // at the end, since what is recalled makes the next statements echoes
		})
	})
}

// talk has the statements of a user and their present states.
type talk struct {
	*rapid.T
	s     *server
	user  string
	turns int
	notes int
	alone bool // its turns are in no conversation, and a model takes facts from them
	said  []*saying
	calls []*forgetting
	did   []string
}

// saying is a value that a user's sentence in a turn states.
type saying struct {
	turn, value string
	isHome      bool
	at          int         // minutes
	forgotten   *forgetting // the call that forgot it; nil: it is not forgotten
	withdrawn   bool
}

func (s *saying) isAlive() bool { return s.forgotten == nil && !s.withdrawn }

// forgetting is a call that forgot memories.
type forgetting struct {
	ids    []string
	undone bool
}

var (
	someHomes = []string{"Utrecht", "Lisbon", "Bergen", "Dakar", "Osaka", "Quito"}
	someLoves = []string{"chess", "opera", "sailing", "pottery"}
)

// ask sends a request; the answer has one of the statuses.
func (k *talk) ask(method, path string, body any, statuses ...int) reply {
	r, err := k.s.try(method, path, body)
	if err != nil || !slices.Contains(statuses, r.status) {
		k.Fatalf("%s %s with %v: %v, status %d: %s", method, path, body, err, r.status, r.raw)
	}
	return r
}

// turn makes a turn of one to three statements.
func (k *talk) turn(rt *rapid.T) object {
	k.turns++
	id := fmt.Sprintf("%s-%d", k.user, k.turns)
	at := 1000 + 60*k.turns + rapid.SampledFrom([]int{0, 0, 0, -150}).Draw(rt, "late")
	var sentences, repeated []string
	state := func(value string, isHome bool, sentence, echo string) {
		k.said = append(k.said, &saying{turn: id, value: value, isHome: isHome, at: at})
		sentences = append(sentences, fmt.Sprintf(sentence, value))
		if rapid.Bool().Draw(rt, "repeated by the assistant") {
			repeated = append(repeated, fmt.Sprintf(echo, value))
		}
	}
	kind := rapid.SampledFrom([]string{"home", "loves", "both"}).Draw(rt, "kind")
	if kind != "loves" {
		state(rapid.SampledFrom(someHomes).Draw(rt, "home"), true, "I live in %s.", "Noted: you live in %s.")
	}
	if kind != "home" {
		loved := rapid.IntRange(0, len(someLoves)-1).Draw(rt, "loved")
		for i := range rapid.IntRange(1, 2).Draw(rt, "loves") {
			state(someLoves[(loved+i)%len(someLoves)], false, "I love %s.", "Noted: you love %s.")
		}
	}
	said := turn(k.user, strings.Join(sentences, " "))
	said["id"], said["at"] = id, minutes(at)
	if !k.alone && rapid.Bool().Draw(rt, "in a conversation") {
		said["conversation_id"] = "c-" + k.user
	}
	k.did = append(k.did, fmt.Sprintf("say %s at %s: %q", id, minutes(at), sentences))
	answer := strings.Join(append(repeated, fmt.Sprintf("Anything else, after %d?", k.turns)), " ")
	said["messages"] = append(said["messages"].([]object), object{"role": "assistant", "content": answer})
	return said
}

// minutes returns the instant n minutes after the beginning of 2026.
func minutes(n int) string {
	return fmt.Sprintf("2026-01-%02dT%02d:%02d:00Z", 1+n/1440, n/60%24, n%60)
}

func (k *talk) say(rt *rapid.T) {
	said := k.turn(rt)
	k.ask("POST", "/v1/turns", said, 200)
}

// listed returns the user's memories of a status.
func (k *talk) listed(status string) []object {
	return k.ask("GET", "/v1/memories?limit=500&status="+status+"&user_id="+k.user, nil, 200).list("memories")
}

// forget forgets an active fact, or a message of the user, with all items that state the same.
func (k *talk) forget(rt *rapid.T) {
	active := slices.DeleteFunc(k.listed("active"), isMadeOfOthers)
	if len(active) == 0 {
		return
	}
	slices.SortFunc(active, func(a, b object) int { return strings.Compare(order(a), order(b)) })
	m := active[rapid.IntRange(0, len(active)-1).Draw(rt, "memory")]
	id, content, isMessage := m["id"].(string), m["content"].(string), m["type"] == "message"
	done := k.ask("DELETE", "/v1/memories/"+id, nil, 200)
	k.did = append(k.did, fmt.Sprintf("forget %v %q: %v", m["type"], content, done.effects()))
	call := &forgetting{ids: []string{id}}
	for _, m := range active {
		isGone := func(e object) bool { return e["id"] == m["id"] && e["done"] == "forgotten" }
		if slices.ContainsFunc(done.list("effects"), isGone) {
			call.ids = append(call.ids, m["id"].(string))
		}
	}
	k.calls = append(k.calls, call)
	turn := ""
	if isMessage {
		turn = k.clientID(m["source_turn_id"].(string))
	}
	left := strings.Join(k.stated(""), "\n")
	for _, said := range k.said {
		isIn, isOfTurn := strings.Contains(content, said.value), said.turn == turn
		switch {
		case !said.isAlive() || !isIn && !isOfTurn:
		// Facts that were taken from a message are forgotten with it, even if the message has lost their sentences.
		case isIn && (!isMessage || isOfTurn), !strings.Contains(left, said.value):
			said.forgotten = call
		}
	}
}

// order orders memories as they were said, whatever their ids.
func order(m object) string { return fmt.Sprint(m["created_at"], m["type"], m["content"]) }

func (k *talk) clientID(turn string) string {
	return k.ask("GET", "/v1/turns/"+turn, nil, 200).body["client_id"].(string)
}

// restore undoes one of the calls that forgot.
func (k *talk) restore(rt *rapid.T) {
	calls := slices.DeleteFunc(slices.Clone(k.calls), func(c *forgetting) bool { return c.undone })
	if len(calls) == 0 {
		return
	}
	call := calls[rapid.IntRange(0, len(calls)-1).Draw(rt, "call")]
	id := call.ids[rapid.IntRange(0, len(call.ids)-1).Draw(rt, "memory")]
	restored := k.ask("POST", "/v1/memories/"+id+"/restore", nil, 200, 409)
	if restored.status == 409 { // it went with a turn that was withdrawn
		return
	}
	k.did = append(k.did, fmt.Sprintf("restore by %v %q", restored.body["type"], restored.body["content"]))
	call.undone = true
	for _, said := range k.said {
		if said.forgotten == call {
			said.forgotten = nil
		}
	}
}

// withdraw takes back a turn, with or without another one in its place.
func (k *talk) withdraw(rt *rapid.T) {
	turns := []string{}
	for _, said := range k.said {
		if !said.withdrawn && !slices.Contains(turns, said.turn) {
			turns = append(turns, said.turn)
		}
	}
	if len(turns) == 0 {
		return
	}
	id := turns[rapid.IntRange(0, len(turns)-1).Draw(rt, "turn")]
	k.did = append(k.did, "withdraw "+id)
	known := len(k.said)
	if rapid.Bool().Draw(rt, "replaced") {
		said := k.turn(rt)
		delete(said, "conversation_id")
		if in := k.ask("GET", "/v1/turns/"+id, nil, 200).body["conversation_id"]; in != nil {
			said["conversation_id"] = in
		}
		said["replaces"] = id
		k.ask("POST", "/v1/turns", said, 200)
	} else {
		k.ask("DELETE", "/v1/turns/"+id, nil, 200)
	}
	for _, said := range k.said[:known] {
		said.withdrawn = said.withdrawn || said.turn == id
	}
}

// stated returns the contents of the active memories of a type; "": of any.
func (k *talk) stated(memoryType string) (contents []string) {
	for _, m := range k.listed("active") {
		if memoryType == "" || m["type"] == memoryType {
			contents = append(contents, m["content"].(string))
		}
	}
	return contents
}

// check compares the texts that the readers get with the statements.
func (k *talk) check() {
	readers := map[string]string{
		"list":    strings.Join(k.stated(""), "\n"),
		"titles":  k.ask("GET", "/v1/conversations?user_id="+k.user, nil, 200).raw,
		"context": k.ask("POST", "/v1/context", object{"user_id": k.user, "query": "Where do I live?"}, 200).raw,
	}
	log := k.ask("GET", "/v1/conversations/c-"+k.user+"?limit=100&user_id="+k.user, nil, 200, 404)
	for _, turn := range log.list("turns") {
		messages, _ := turn["messages"].([]any)
		for _, m := range messages {
			readers["log"] += m.(map[string]any)["content"].(string) + "\n"
		}
	}
	var recalled, repeated []string
	for _, query := range []string{"Where do I live?", "What do I love?"} {
		r := k.ask("POST", "/v1/recall", object{"user_id": k.user, "query": query, "limit": 50}, 200)
		for _, m := range r.list("memories") {
			recalled = append(recalled, m["content"].(string))
			if isMadeOfOthers(m) {
				repeated = append(repeated, m["content"].(string))
			}
		}
	}
	readers["recall"] = strings.Join(recalled, "\n")
	for _, value := range slices.Concat(someHomes, someLoves) {
		k.checkValue(value, readers)
	}
	k.checkHomes(recalled, repeated)
}

func (k *talk) checkValue(value string, readers map[string]string) {
	isOf := func(s *saying) bool { return s.value == value && s.isAlive() }
	if slices.ContainsFunc(k.said, isOf) {
		isOf := func(m object) bool { return strings.Contains(m["content"].(string), value) }
		if !strings.Contains(readers["list"], value) && !slices.ContainsFunc(k.listed("superseded"), isOf) {
			k.Fatalf("no item states %s: %s", value, k.history())
		}
		return
	}
	for _, reader := range slices.Sorted(maps.Keys(readers)) {
		text := readers[reader]
		if strings.Contains(text, value) {
			k.Fatalf("the %s states %s: %s\n%s", reader, value, text, k.history())
		}
	}
}

// checkHomes checks that one home is current. No message is recalled that states a former home, and no memory that was
// made from others and states a former home.
func (k *talk) checkHomes(recalled, repeated []string) {
	current := k.homes()
	switch len(current) {
	case 0:
		return
	case 1:
	default:
		k.Fatalf("%v are homes at the same time: %s", current, k.history())
	}
	for _, content := range recalled {
		isOther := func(value string) bool { return strings.Contains(content, value) }
		if slices.ContainsFunc(someHomes, isOther) && !isOther(current[0]) {
			k.Fatalf("%q is recalled, and the home is %s: %s", content, current[0], k.history())
		}
	}
	for _, content := range repeated {
		for _, home := range someHomes {
			if home != current[0] && strings.Contains(content, home) {
				k.Fatalf("%q repeats %s, and the home is %s: %s", content, home, current[0], k.history())
			}
		}
	}
}

// homes returns the homes of the facts that are active or condensed.
func (k *talk) homes() (current []string) {
	for _, m := range append(k.listed("active"), k.listed("consolidated")...) {
		for _, home := range someHomes {
			if m["type"] == "fact" && strings.Contains(m["content"].(string), home) && !slices.Contains(current, home) {
				current = append(current, home)
			}
		}
	}
	return current
}

// history describes the steps so far and their results.
func (k *talk) history() (text string) {
	text = "\n" + strings.Join(k.did, "\n")
	for _, status := range []string{"active", "consolidated", "superseded", "forgotten"} {
		for _, m := range k.listed(status) {
			text += fmt.Sprintf("\n%s %v %v %v", status, m["type"], m["content"], m["superseded_by"])
		}
	}
	return text
}
