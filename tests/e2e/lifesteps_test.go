package e2e

import (
	"fmt"
	"net/url"
	"time"

	"hippocampus/internal/text"
)

// body returns the evidence as a client sends it.
func (f *factStep) body() object {
	body := object{"user_id": f.User, "type": f.Type, "key": f.Key, "value": f.Value}
	if f.Confidence > 0 {
		body["confidence"] = f.Confidence
	}
	if f.Source != "" {
		body["source"] = f.Source
	}
	for field, at := range map[string]moment{"valid_from": f.From, "valid_until": f.Until} {
		if !at.IsZero() {
			body[field] = at.Format(time.RFC3339)
		}
	}
	return body
}

// state states a fact. The memory of a fact with an end is forgotten at the end.
func (l *life) state(f factStep) {
	l.t.Helper()
	l.until(f.At.Time)
	fact := l.call("PUT", "/v1/facts", f.body(), 200).body["fact"].(map[string]any)
	if f.Until.IsZero() {
		return
	}
	l.comes(f.Until.Time, func() {
		l.t.Helper()
		eventually(l.t, "the end of what is valid until "+lifetime(f.Until.Format(time.RFC3339)), func() string {
			if m := l.call("GET", fmt.Sprint("/v1/memories/", fact["memory_id"]), nil, 200); m.body["status"] != "forgotten" {
				return m.raw
			}
			return ""
		})
	})
}

func (i *instructionStep) body() object {
	body := object{"scope": i.Scope, "name": i.Name, "content": i.Content}
	if i.Agent != "" {
		body["agent_id"] = i.Agent
	}
	if i.User != "" {
		body["user_id"] = i.User
	}
	return body
}

// outcome reports an outcome of a workflow twice; it is counted once.
func (l *life) outcome(o outcomeStep) {
	l.t.Helper()
	l.until(o.At.Time)
	body := object{
		"id": fmt.Sprint(o.Skill, " of ", o.At.Format(time.RFC3339)), "user_id": o.User,
		"success": o.Success, "workflow": o.Workflow, "at": o.At.Format(time.RFC3339),
	}
	if o.Note != "" {
		body["note"] = o.Note
	}
	r := l.call("POST", "/v1/skills/"+url.PathEscape(o.Skill)+"/outcomes", body, 200)
	if counted, _ := r.body["counted"].(bool); counted == o.Again {
		l.t.Errorf("outcome at %s: %s", lifetime(o.At.Format(time.RFC3339)), r.raw)
	}
}

// ask records the context that a prompt would get.
func (l *life) ask(c contextStep) {
	l.t.Helper()
	body := object{"user_id": c.User, "max_tokens": c.Tokens, "touch": false, "route": false, "condense": false}
	if c.Limit > 0 {
		body["limit"] = c.Limit
	}
	for field, value := range map[string]string{"agent_id": c.Agent, "conversation_id": c.Talk, "query": c.Query} {
		if value != "" {
			body[field] = value
		}
	}
	prompt, _ := l.call("POST", "/v1/context", body, 200).body["text"].(string)
	if n := text.CountTokens(prompt); n > c.Tokens {
		l.t.Errorf("%s: %d tokens, more than %d: %s", c.Name, n, c.Tokens, prompt)
	}
	fmt.Fprintf(&l.context, "==== %s\n%s\n", c.Name, prompt)
}
