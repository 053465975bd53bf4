package e2e

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// private maps each text of a private talk, and each text derived from it, to the
// talk's agent.
func (l *life) private(user string) map[string]string {
	texts := map[string]string{}
	for _, e := range l.script {
		if e.Talk == "" || e.User != user || e.Agent == "" {
			continue
		}
		for _, turn := range e.Turns {
			for _, m := range turn.Said {
				texts[m.text()] = e.Agent
			}
			for _, f := range turn.Facts {
				texts[f.Fact] = e.Agent
			}
		}
		for _, text := range e.answers().texts() {
			texts[text] = e.Agent
		}
	}
	return texts
}

// texts returns the texts that are derived from an ended talk.
func (r *remembers) texts() (texts []string) {
	if r == nil {
		return nil
	}
	texts = append(texts, r.Summary)
	for _, in := range r.Insights {
		texts = append(texts, in.Text)
	}
	for _, one := range slices.Concat(r.Preferences, r.Patterns, r.Projects, r.Skills) {
		texts = append(texts, one.Text)
	}
	return texts
}

// outdated returns the ids of messages whose facts were superseded and are all inactive, and of insights that were
// derived from a superseded fact.
func outdated(all []remembered) map[any]bool {
	messages := map[any]bool{}
	for _, status := range []string{"superseded", "active"} {
		for _, one := range all {
			for _, r := range one.Relations {
				if one.Memory["status"] == status && r["kind"] == "derived_from" {
					messages[r["to"]] = status == "superseded"
				}
			}
		}
	}
	isSuperseded := map[any]bool{}
	for _, one := range all {
		isSuperseded[one.Memory["id"]] = one.Memory["status"] == "superseded"
	}
	for _, one := range all {
		for _, r := range one.Relations {
			if r["kind"] == "derived_from" && isSuperseded[r["to"]] {
				messages[r["from"]] = true // nothing but an insight is derived from a fact
			}
		}
	}
	return messages
}

// checkPrivacy queries each active memory by its own text, once for each agent: in
// recall and context an agent finds its own and shared memories, and no others. A message that is no longer true need
// not be found.
func (l *life) checkPrivacy(user string, all []remembered) {
	l.t.Helper()
	private, former := l.private(user), outdated(all)
	ask := func(path, agent, query string, more object) reply {
		l.t.Helper()
		question := object{"user_id": user, "agent_id": agent, "query": query, "touch": false, "route": false}
		for field, value := range more {
			question[field] = value
		}
		return l.call("POST", path, question, 200)
	}
	for _, one := range all {
		content := one.Memory["content"].(string)
		if one.Memory["status"] != "active" {
			continue
		}
		owner := agentOf(one.Memory)
		if meant := private[content]; meant != "" && owner != meant {
			l.t.Errorf("%q is private to %q, but its agent is %q", content, meant, owner)
		}
		for _, agent := range agents {
			memories := ask("/v1/recall", agent, content, object{"limit": 100, "expand": "sources"}).list("memories")
			shown := ids(memories)
			for _, m := range memories { // a fact may be returned instead of the message that it was taken from
				for _, source := range listOf(m["derived_from"]) {
					shown = append(shown, source["id"])
				}
			}
			sees, found := owner == "" || owner == agent, slices.Contains(shown, one.Memory["id"])
			if found != sees && (found || !former[one.Memory["id"]]) {
				l.t.Errorf("%s finds %q of %s: %v, want %v", agent, content, user, !sees, sees)
			}
			for _, m := range memories {
				if whose := agentOf(m); whose != "" && whose != agent {
					l.t.Errorf("%s sees %q of %s, which is %s's", agent, m["content"], user, whose)
				}
			}
		}
	}
	for text, whose := range private {
		if utf8.RuneCountInString(text) < 6 {
			continue // the text is also in another talk
		}
		for _, agent := range agents {
			if agent == whose {
				continue
			}
			r := ask("/v1/context", agent, text, object{"max_tokens": 4000, "condense": false})
			if strings.Contains(fmt.Sprint(r.body["text"]), text) {
				l.t.Errorf("a context for %s and %s holds a memory of %s: %s", user, agent, whose, text)
			}
		}
	}
}

// ids returns the ids of a list, in order.
func ids(list []object) (all []any) {
	for _, o := range list {
		all = append(all, o["id"])
	}
	return all
}
