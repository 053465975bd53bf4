package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// stated is a user who states that she lives in Utrecht.
type stated struct {
	*server  // with the test of the operation
	user     string
	message  string            // kind of the user's message
	sentence string            // its words
	ids      map[string]string // of memories and the candidate, by kind
	had      map[string]bool   // kinds of active items so far, and kinds with texts
	other    *stated           // the user who says something else in the same message
}

// stating brings two users to the state in which an operation begins.
func (s *server) stating(t *testing.T, operation statementOperation, place int) []*stated {
	t.Helper()
	user := fmt.Sprintf("operation-%d", place)
	alone := &stated{user: user, message: "message", sentence: "I live in Utrecht."}
	more := &stated{user: user + "-more", message: "message with more"}
	more.sentence = alone.sentence + " My dog is called Rex."
	alone.other = more
	for _, u := range []*stated{alone, more} {
		u.server, u.ids, u.had = s.of(t), map[string]string{}, map[string]bool{}
		operation.ready(u)
		u.look()
	}
	return []*stated{alone, more}
}

// of returns the running server for another test.
func (s *server) of(t *testing.T) *server {
	return &server{t: t, env: s.env, dir: s.dir, key: s.key, program: s.program, listen: s.listen, url: s.address()}
}

func (u *stated) talk() string   { return "talk-" + u.user }
func (u *stated) turnID() string { return u.user + "-said" }

// say reports a turn of the user with an id that ends with name, at a later time than the turns that were reported
// before.
func (u *stated) say(name, said, answered string, more object) {
	u.t.Helper()
	report := turn(u.user, said)
	report["messages"] = append(report["messages"].([]object), object{"role": "assistant", "content": answered})
	report["id"], report["conversation_id"] = u.user+"-"+name, "moved-"+u.user
	report["at"] = "2026-02-20T10:00:00Z"
	for key, value := range more {
		report[key] = value
	}
	u.call("POST", "/v1/turns", report, 200)
}

// tell reports the statement, and further turns of the conversation.
func (u *stated) tell() {
	u.t.Helper()
	u.say("said", u.sentence, "Noted: you live in Utrecht.", object{
		"conversation_id": u.talk(), "at": "2026-02-01T10:00:00Z",
	})
	u.say("asked", "How do I repair a bicycle?", "With patience and a wrench.", object{
		"conversation_id": u.talk(), "at": "2026-02-01T10:05:00Z",
	})
	u.look()
}

// moves reports a statement that contradicts it.
func (u *stated) moves() {
	u.t.Helper()
	u.say("moved", "I live in Groningen now.", "A good move.", nil)
}

// end ends the conversation, which leaves a summary and a fact on a timeline.
func (u *stated) end() { u.endOf(u.talk()) }

func (u *stated) endOf(conversation string) {
	u.t.Helper()
	u.call("POST", "/v1/conversations/"+conversation+"/end", object{"user_id": u.user, "wait": true}, 200)
	eventually(u.t, "the conversation being consolidated", func() string {
		all := u.call("GET", "/v1/conversations/"+conversation+"/consolidations?user_id="+u.user, nil, 200)
		isDone := func(c object) bool { return c["state"] == "done" }
		if list := all.list("consolidations"); len(list) < 2 || !slices.ContainsFunc(list, isDone) ||
			strings.Contains(all.raw, `"pending"`) {
			return all.raw
		}
		return ""
	})
}

// reflect makes an insight of the fact and of another one about an animal. If the animal is geese, both facts become
// consolidated.
func (u *stated) reflect(animal string) {
	u.t.Helper()
	u.call("POST", "/v1/memories", object{
		"user_id": u.user, "content": "The user keeps " + animal + ".", "importance": 0.7,
	}, 201)
	r := u.call("POST", "/v1/reflect", object{"user_id": u.user, "force": true}, 200)
	if len(r.list("insights")) != 1 {
		u.t.Fatalf("the reflection: %s", r.raw)
	}
	u.look()
}

// condensed reports the statement, ends the conversation and reflects, so that each kind of item exists.
func (u *stated) condensed() {
	u.t.Helper()
	u.tell()
	u.end()
	u.reflect("bees")
}

func (u *stated) forgetBy(selection object) {
	u.t.Helper()
	selection["user_id"] = u.user
	if done := u.call("POST", "/v1/memories/forget", selection, 200); len(done.list("results")) == 0 {
		u.t.Errorf("nothing was selected: %s", done.raw)
	}
}

// fade lets the rule forget what has faded.
func (u *stated) fade() {
	u.t.Helper()
	u.call("POST", "/v1/forget", object{"user_id": u.user, "dry_run": false, "whole": true}, 200)
}
