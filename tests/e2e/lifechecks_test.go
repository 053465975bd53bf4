package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/text"
	"hippocampus/router"
)

// check checks the result of the life against rules that hold for every script. It
// derives the expected values from the script and the answers.
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
		l.checkMessages(user, all)
	}
	l.checkLog()
	eventually(l.t, "the stores being equal by ids", func() string {
		differ := l.servers[0].storesDiffer(scripted, l.users()...)
		if differ != "" {
			l.set(l.now.Add(time.Second)) // a failed push is repeated when it is due
		}
		return differ
	})
}

// segment is a part of a timeline.
type segment struct {
	from       time.Time
	until      time.Time // stated; zero: until the next segment
	value      string
	confidence float64
}

// trust is the confidence that newer evidence needs to replace a more confident value.
const trust = 0.5

// weighed computes a timeline by the table in docs/flows/conversations.md: a list of
// segments. The last segment that begins before an instant holds the value that is
// valid then; the segment after an end has the value "".
func weighed(segments []segment, e segment) []segment {
	i := len(segments) - 1 // index of the segment at the evidence's instant
	for i >= 0 && segments[i].from.After(e.from) {
		i--
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

// valid returns a timeline's value at an instant, or "".
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

// checkTimeline reads the valid value at and just before each instant at which it
// could have changed, and compares it to the table.
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
		panic(err) // the value came from JSON or YAML
	}
	return string(text)
}

// checkSummaries expects one summary of each ended talk, private to the talk's agent
// and of an allowed length, and no summary of an open talk.
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

// agentOf returns the agent to which a memory is private, or "".
func agentOf(m object) string {
	agent, _ := m["agent_id"].(string)
	return agent
}

// checkHistories expects that each history begins with its only created event, and
// leads to the memory's status.
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
			case "restored":
				status = "active"
			}
		}
		if one.Memory["status"] != status {
			l.t.Errorf("%v is %v after %v", one.Memory["content"], one.Memory["status"], one.Events)
		}
	}
}

// checkPast reads a user's memories as of each midnight of the life, and compares
// them to the histories.
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

// checkLog expects every message of the script that can be read in the log, once and in order.
func (l *life) checkLog() {
	l.t.Helper()
	for _, e := range l.script {
		if e.Talk == "" {
			continue
		}
		want, got := l.readable(e), []string{}
		r := l.call("GET", "/v1/conversations/"+e.Talk+"?limit=500&user_id="+e.User, nil, 200)
		for _, turn := range r.list("turns") {
			messages, _ := turn["messages"].([]any) // nil: the turn was taken back
			for _, m := range messages {
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

// checkMessages expects each chat message of the script, except small talk and remarks, as a memory of type message,
// with its time, conversation and agent.
func (l *life) checkMessages(user string, all []remembered) {
	l.t.Helper()
	var want, got []string
	for _, e := range l.script {
		if e.Talk == "" || e.User != user {
			continue
		}
		for i, turn := range e.Turns {
			at := lifetime(e.At.Add(time.Duration(i) * between).Format(time.RFC3339))
			for _, m := range turn.Said {
				role := "user"
				if m.Assistant != "" {
					role = "assistant"
				}
				if m.Tool == "" && m.Remark == "" && (m.Kind == "" || m.Kind == "chat") && !router.IsSmallTalk(m.text()) {
					want = append(want, fmt.Sprintf("%s %s %s %s: %s", at, e.Talk, e.Agent, role, m.text()))
				}
			}
		}
	}
	for _, e := range l.script {
		if e.Withdraw == nil || e.Withdraw.Instead == "" || l.talkOf(*e.Withdraw).User != user {
			continue
		}
		want = append(want, fmt.Sprintf("%s %s  user: %s", lifetime(e.Withdraw.At.Format(time.RFC3339)), e.Withdraw.Talk,
			e.Withdraw.Instead))
	}
	for _, one := range all {
		if m := one.Memory; m["type"] == "message" {
			got = append(got, fmt.Sprintf("%s %v %s %v: %v", lifetime(m["created_at"]), m["conversation_id"], agentOf(m),
				m["said_by"], m["content"]))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Errorf("messages of %s (-want +got):\n%s", user, diff)
	}
}
