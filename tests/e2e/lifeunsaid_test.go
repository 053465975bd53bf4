package e2e

import (
	"fmt"
	"net/url"
)

type (
	// deleteStep forgets what a memory states.
	deleteStep struct {
		At      moment
		User    string
		Memory  string // content
		Message string // text of the message that the memory was taken from, which says nothing else
	}
	// withdrawStep takes back a turn of a talk.
	withdrawStep struct {
		At      moment
		Talk    string
		Turn    int    // the first is 1
		Instead string // what the user says in its place; empty: nothing
	}
)

// delete forgets a statement: the memory and its message.
func (l *life) delete(d deleteStep) {
	l.t.Helper()
	l.until(d.At.Time)
	for _, m := range l.call("GET", "/v1/memories?limit=500&user_id="+d.User, nil, 200).list("memories") {
		if m["content"] == d.Memory {
			done := l.call("DELETE", "/v1/memories/"+m["id"].(string), nil, 200)
			if len(done.list("effects")) != 1 || len(done.list("events")) != 1 {
				l.t.Errorf("forgetting %s did %s", d.Memory, done.raw)
			}
			return
		}
	}
	l.t.Errorf("%s has no memory %s", d.User, d.Memory)
}

// withdraw takes back a turn, or lets another one take its place, twice, as a client that got no answer does.
func (l *life) withdraw(w withdrawStep) {
	l.t.Helper()
	l.until(w.At.Time)
	id := fmt.Sprintf("%s/%d", w.Talk, w.Turn)
	for range 2 {
		if w.Instead == "" {
			l.call("DELETE", "/v1/turns/"+url.PathEscape(id), nil, 200)
			continue
		}
		l.call("POST", "/v1/turns", object{
			"id": id + "-edited", "user_id": l.talkOf(w).User, "conversation_id": w.Talk, "replaces": id, "wait": true,
			"messages": []object{message{User: w.Instead}.body()},
		}, 200)
	}
}

// talkOf returns the talk whose turn is taken back.
func (l *life) talkOf(w withdrawStep) entry {
	for _, e := range l.script {
		if e.Talk == w.Talk {
			return e
		}
	}
	l.t.Fatalf("the script has no talk %s", w.Talk)
	return entry{}
}

// readable returns the texts of a talk as a reader of the log gets them: without turns that were taken back, with what
// took their place, and empty where a message was forgotten.
func (l *life) readable(e entry) (texts []string) {
	isWithdrawn, isForgotten := map[int]bool{}, map[string]bool{}
	var instead []string
	for _, step := range l.script {
		switch {
		case step.Withdraw != nil && step.Withdraw.Talk == e.Talk:
			isWithdrawn[step.Withdraw.Turn] = true
			if step.Withdraw.Instead != "" {
				instead = append(instead, step.Withdraw.Instead)
			}
		case step.Delete != nil:
			isForgotten[step.Delete.Message] = true
		}
	}
	for i, turn := range e.Turns {
		for _, m := range turn.Said {
			switch {
			case isWithdrawn[i+1]:
			case isForgotten[m.text()]:
				texts = append(texts, "")
			default:
				texts = append(texts, m.text())
			}
		}
	}
	return append(texts, instead...)
}
