package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hippocampus/internal/text"
)

// check holds what there is in the end to rules that it must obey whatever the
// script says. It works them out for itself, from the script and the answers.
func (l *life) check() {
	l.t.Helper()
	for _, one := range l.lines() {
		l.checkTimeline(one)
	}
	for _, user := range l.users() {
		all, _ := l.export(user)
		l.checkSummaries(user, all)
		l.checkPrivacy(user, all)
		l.checkHistories(all)
		l.checkPast(user, all)
	}
	l.checkLog()
	l.servers[0].storesEqual(scripted, l.users()...)
}

// segment is a stretch of a timeline that starts at its from.
type segment struct {
	from       time.Time
	until      time.Time // stated; zero: until the next one
	value      string
	confidence float64
}

// trust is what newer evidence must have at least to replace what is surer.
const trust = 0.5

// weighed is a timeline by the table in docs/flows/conversations.md: a list of
// beginnings, of which the last before an instant tells what is valid then. An
// end is a beginning of nothing ("").
func weighed(segments []segment, e segment) []segment {
	i := len(segments) // of what is valid at the evidence's instant
	for i--; i >= 0 && segments[i].from.After(e.from); i-- {
	}
	insert := func() []segment { return slices.Insert(slices.Clone(segments), i+1, e) }
	if i < 0 || segments[i].value == "" || !segments[i].until.IsZero() && !e.from.Before(segments[i].until) {
		return insert()
	}
	is := &segments[i]
	enough := e.confidence >= is.confidence || e.confidence >= trust
	switch {
	case e.value == "": // an end
		return insert()
	case e.value == is.value:
		is.confidence = max(is.confidence, e.confidence)
		if !e.until.IsZero() && enough {
			is.until = e.until
		}
	case e.from.After(is.from) && enough:
		return insert()
	case e.from.Equal(is.from) && e.confidence >= is.confidence:
		*is = e
	}
	return segments
}

// valid is what a timeline says of an instant; "": nothing.
func valid(segments []segment, at time.Time) (value string) {
	for _, s := range segments {
		if !s.from.After(at) {
			value = s.value
			if !s.until.IsZero() && !at.Before(s.until) {
				value = ""
			}
		}
	}
	return value
}

// checkTimeline asks what was valid at each instant at which something could
// have changed, and just before, and compares it to what the table says.
func (l *life) checkTimeline(one line) {
	l.t.Helper()
	var segments []segment
	var instants []time.Time
	take := func(e segment) {
		segments = weighed(segments, e)
		instants = append(instants, e.from, e.from.Add(-time.Second))
		if !e.until.IsZero() {
			instants = append(instants, e.until, e.until.Add(-time.Second))
		}
	}
	for _, e := range l.script {
		switch {
		case e.Fact != nil && (line{e.Fact.User, e.Fact.Type, e.Fact.Key}) == one:
			s := segment{
				from:       e.Fact.From.Time,
				until:      e.Fact.Until.Time,
				value:      jsonOf(e.Fact.Value),
				confidence: e.Fact.Confidence,
			}
			if s.from.IsZero() {
				s.from = e.Fact.At.Time
			}
			if s.confidence == 0 {
				s.confidence = 1
			}
			take(s)
		case e.EndFact != nil && (line{e.EndFact.User, e.EndFact.Type, e.EndFact.Key}) == one:
			take(segment{from: e.EndFact.At.Time})
		case e.Talk != "" && e.User == one.user && e.Agent == "" && e.answers() != nil:
			for _, f := range e.answers().Facts {
				if f.Type == one.kind && f.Key == one.key {
					take(segment{from: e.last(), value: jsonOf(f.Value), confidence: f.Confidence})
				}
			}
		}
	}
	for _, at := range instants {
		query := one.query()
		query.Set("at", at.Format(time.RFC3339))
		var got string
		for _, f := range l.call("GET", "/v1/facts?"+query.Encode(), nil, 200).list("facts") {
			got += jsonOf(f["value"])
		}
		if want := valid(segments, at); got != want {
			l.t.Errorf("%v at %s: %s, want %s", one, lifetime(at.Format(time.RFC3339)), got, want)
		}
	}
}

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was JSON or YAML before
	}
	return string(text)
}

// checkSummaries wants one summary of each talk that has ended, of its agent
// alone, of the length that is allowed, and none of the others.
func (l *life) checkSummaries(user string, all []remembered) {
	l.t.Helper()
	summaries := map[any][]object{}
	for _, one := range all {
		if one.Memory["type"] == "summary" {
			summaries[one.Memory["conversation_id"]] = append(summaries[one.Memory["conversation_id"]], one.Memory)
		}
	}
	for _, e := range l.script {
		if e.Talk == "" || e.User != user {
			continue
		}
		of := summaries[e.Talk]
		if e.answers() == nil {
			if len(of) != 0 {
				l.t.Errorf("%s is open and has summaries: %v", e.Talk, of)
			}
			continue
		}
		if len(of) != 1 || of[0]["content"] != e.answers().Summary || agentOf(of[0]) != e.Agent {
			l.t.Errorf("%s has the summaries %v", e.Talk, of)
			continue
		}
		content := of[0]["content"].(string)
		if text.IsChinese(content) && utf8.RuneCountInString(content) > 200 || len(strings.Fields(content)) > 80 {
			l.t.Errorf("the summary of %s is too long: %s", e.Talk, content)
		}
	}
}

// agentOf is whose a memory is alone; empty: everybody's.
func agentOf(m object) string {
	agent, _ := m["agent_id"].(string)
	return agent
}

// checkHistories wants each memory created once, before all else, and to have
// the status that its history leads to.
func (l *life) checkHistories(all []remembered) {
	l.t.Helper()
	for _, one := range all {
		status := ""
		for i, e := range one.Events {
			switch kind := e["kind"].(string); kind {
			case "created":
				if i > 0 {
					l.t.Errorf("%v was created again: %v", one.Memory["content"], one.Events)
				}
				status = "active"
			case "superseded", "consolidated", "forgotten":
				status = kind
			}
		}
		if one.Memory["status"] != status {
			l.t.Errorf("%v is %v after %v", one.Memory["content"], one.Memory["status"], one.Events)
		}
	}
}

// checkPast asks at each midnight of the life for what a user's memories were,
// and compares them to what the histories say.
func (l *life) checkPast(user string, all []remembered) {
	l.t.Helper()
	for day := 1; day <= 14; day++ {
		midnight := lifeBegins.AddDate(0, 0, day).Format(time.RFC3339)
		var want []any
		for _, one := range all {
			last := ""
			for _, e := range one.Events {
				if e["at"].(string) <= midnight { // both in UTC
					last = e["kind"].(string)
				}
			}
			if last != "" && !slices.Contains([]string{"superseded", "consolidated", "forgotten"}, last) {
				want = append(want, one.Memory["id"])
			}
		}
		got := ids(l.call("GET", "/v1/memories?limit=500&user_id="+user+"&as_of="+midnight, nil, 200).list("memories"))
		byText := func(a, b any) int { return strings.Compare(a.(string), b.(string)) }
		slices.SortFunc(want, byText)
		slices.SortFunc(got, byText)
		if !slices.Equal(got, want) {
			l.t.Errorf("after day %d %s had %d memories, want %d", day, user, len(got), len(want))
		}
	}
}

// checkLog wants every message of the script in the log, once and in its order.
func (l *life) checkLog() {
	l.t.Helper()
	for _, e := range l.script {
		if e.Talk == "" {
			continue
		}
		var want, got []string
		for _, turn := range e.Turns {
			for _, m := range turn.Said {
				want = append(want, m.text())
			}
		}
		r := l.call("GET", "/v1/conversations/"+e.Talk+"?limit=500&user_id="+e.User, nil, 200)
		for _, turn := range r.list("turns") {
			for _, m := range turn["messages"].([]any) {
				got = append(got, m.(map[string]any)["content"].(string))
			}
		}
		if !slices.Equal(got, want) {
			l.t.Errorf("the log of %s is %q, want %q", e.Talk, got, want)
		}
	}
	if r := l.call("GET", "/v1/turns?status=failed", nil, 200); len(r.list("turns")) != 0 {
		l.t.Errorf("turns have failed: %s", r.raw)
	}
}
