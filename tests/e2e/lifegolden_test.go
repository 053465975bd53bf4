package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// golden compares the result of the life to the documents in testdata/twoweeks, which
// were derived from the script by hand. They hold no ids, and times as in the script.
func (l *life) golden() {
	l.t.Helper()
	documents := map[string]string{
		"facts": l.facts(), "memories": l.memories(), "conversations": l.conversations(), "procedures": l.procedures(),
		"contexts": l.context.String(),
	}
	for name, got := range documents {
		path := filepath.Join("testdata", "twoweeks", name+".txt")
		want, err := os.ReadFile(path)
		if err != nil {
			l.t.Errorf("%s: %v; it is\n%s", path, err, got)
			continue
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
			l.t.Errorf("%s (-want +got):\n%s\nall of it:\n%s", path, diff, got)
		}
	}
}

// rounded rounds a number to the digits in which the sizes agree.
func rounded(number any) float64 {
	n, _ := number.(float64)
	return math.Round(n*1000) / 1000
}

// users returns the users of the script, sorted.
func (l *life) users() (users []string) {
	for _, e := range l.script {
		if e.Talk != "" && !slices.Contains(users, e.User) {
			users = append(users, e.User)
		}
	}
	slices.Sort(users)
	return users
}

// line identifies a timeline.
type line struct{ user, kind, key string }

// lines returns the timelines for which the script has evidence, sorted. Private
// statements to an agent are no evidence.
func (l *life) lines() (lines []line) {
	add := func(one line) {
		if !slices.Contains(lines, one) {
			lines = append(lines, one)
		}
	}
	for _, e := range l.script {
		switch {
		case e.Fact != nil:
			add(line{e.Fact.User, e.Fact.Type, e.Fact.Key})
		case e.Talk != "" && e.Agent == "" && e.answers() != nil:
			for _, f := range e.answers().Facts {
				add(line{e.User, f.Type, f.Key})
			}
		}
	}
	slices.SortFunc(lines, func(a, b line) int {
		return strings.Compare(a.user+"\x00"+a.kind+"\x00"+a.key, b.user+"\x00"+b.kind+"\x00"+b.key)
	})
	return lines
}

// query returns the query parameters of a timeline.
func (one line) query() url.Values {
	return url.Values{"user_id": {one.user}, "type": {one.kind}, "key": {one.key}}
}

// facts lists all evidence in the order of its arrival, by timeline.
func (l *life) facts() string {
	l.t.Helper()
	var b strings.Builder
	for _, one := range l.lines() {
		fmt.Fprintf(&b, "%s %s/%s\n", one.user, one.kind, one.key)
		for _, f := range l.call("GET", "/v1/facts/history?"+one.query().Encode(), nil, 200).list("facts") {
			value, err := json.Marshal(f["value"])
			if err != nil {
				l.t.Fatal(err)
			}
			fmt.Fprintf(&b, "    %s  %v  %s..%s  %v", value, rounded(f["confidence"]), lifetime(f["valid_from"]),
				lifetime(f["valid_until"]), f["state"])
			if source, ok := f["source"]; ok {
				fmt.Fprintf(&b, "  (%v)", source)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// remembered is a memory with its history and relations.
type remembered struct {
	Memory    object
	Events    []object
	Relations []object
}

// export reads all memories of a user, in the order of their creation, and the
// contents by id.
func (l *life) export(user string) (all []remembered, contents map[any]any) {
	l.t.Helper()
	r := l.call("GET", "/v1/export?user_id="+user, nil, 200)
	contents = map[any]any{}
	for text := range strings.Lines(r.raw) {
		var one remembered
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			l.t.Fatalf("%v: %s", err, text)
		}
		if one.Memory != nil {
			all = append(all, one)
			contents[one.Memory["id"]] = one.Memory["content"]
		}
	}
	slices.SortFunc(all, func(a, b remembered) int {
		return strings.Compare(fmt.Sprint(a.Memory["created_at"], a.Memory["content"]),
			fmt.Sprint(b.Memory["created_at"], b.Memory["content"]))
	})
	return all, contents
}

// memories lists the memories of each user, with the days of their history and their relations:
//
//	said, type, importance, status, for whom, in which conversation, content; history; relations
func (l *life) memories() string {
	l.t.Helper()
	var b strings.Builder
	for _, user := range l.users() {
		fmt.Fprintln(&b, user)
		all, contents := l.export(user)
		for _, one := range all {
			m := one.Memory
			if m["type"] == "message" {
				continue // see checkMessages
			}
			fmt.Fprintf(&b, "    %s %v %v %v", lifetime(m["created_at"]), m["type"], rounded(m["importance"]), m["status"])
			if agent, ok := m["agent_id"]; ok {
				fmt.Fprintf(&b, " for %v", agent)
			}
			if talk, ok := m["conversation_id"]; ok {
				fmt.Fprintf(&b, " in %v", talk)
			}
			fmt.Fprintf(&b, ": %v [%s]\n", m["content"], history(one.Events))
			if by, ok := m["superseded_by"]; ok {
				fmt.Fprintf(&b, "        superseded by %v\n", contents[by])
			}
			var relations []string
			for _, r := range one.Relations {
				if r["from"] == m["id"] {
					relations = append(relations, fmt.Sprintf("        %v %v\n", r["kind"], contents[r["to"]]))
				}
			}
			slices.Sort(relations)
			b.WriteString(strings.Join(relations, ""))
		}
	}
	return b.String()
}

// history lists the events of a memory with their days.
func history(events []object) string {
	var list []string
	for _, e := range events {
		list = append(list, fmt.Sprintf("%v %s", e["kind"], lifeday(e["at"])))
	}
	return strings.Join(list, ", ")
}

// conversations lists the conversations of each user, with their consolidations.
func (l *life) conversations() string {
	l.t.Helper()
	var b strings.Builder
	for _, user := range l.users() {
		fmt.Fprintln(&b, user)
		all := l.call("GET", "/v1/conversations?limit=500&user_id="+user, nil, 200).list("conversations")
		for _, c := range slices.Backward(all) {
			fmt.Fprintf(&b, "    %v %s..%s %v turns, %v events, %v", c["id"], lifetime(c["started_at"]),
				lifetime(c["last_at"]), c["turns"], c["events"], c["state"])
			if reason, ok := c["end_reason"]; ok {
				fmt.Fprintf(&b, " %s (%v)", lifetime(c["ended_at"]), reason)
			}
			fmt.Fprintf(&b, ": %v\n", c["title"])
			if through, ok := c["summarised_through"]; ok {
				fmt.Fprintf(&b, "        1..%v: %v\n", through, c["summary"])
			}
			fmt.Fprintf(&b, "        %s\n", l.consolidations(user, c["id"].(string)))
		}
	}
	return b.String()
}

// consolidations describes the consolidations of a conversation. The counts of stated
// events are added up, since the number of steps depends on how busy the server was.
func (l *life) consolidations(user, talk string) string {
	l.t.Helper()
	stated := map[string]float64{}
	var ends []string
	all := l.call("GET", "/v1/conversations/"+talk+"/consolidations?limit=500&user_id="+user, nil,
		200).list("consolidations")
	for _, c := range all {
		counts, _ := c["counts"].(map[string]any)
		if c["type"] == "events" {
			for what, n := range counts {
				stated[what] += n.(float64)
			}
			continue
		}
		text, err := json.Marshal(counts)
		if err != nil {
			l.t.Fatal(err)
		}
		ends = append(ends,
			fmt.Sprintf("%v of %v..%v %v %s", c["type"], c["from_event"], c["through_event"], c["state"], text))
	}
	slices.Sort(ends)
	return strings.Join(append([]string{fmt.Sprintf("stated: %v, kept: %v", stated["events"], stated["kept"])}, ends...),
		"; ")
}

// procedures lists the skills of each user, and the instructions of each context of
// a user and an agent.
func (l *life) procedures() string {
	l.t.Helper()
	var b strings.Builder
	for _, user := range l.users() {
		for _, skill := range l.call("GET", "/v1/skills?user_id="+user, nil, 200).list("skills") {
			path := "/v1/skills/" + url.PathEscape(skill["name"].(string)) + "?user_id=" + user
			for _, w := range l.call("GET", path, nil, 200).list("best") {
				fmt.Fprintf(&b, "%s, %v: %v  %v:%v  %v", user, skill["name"], w["workflow"], w["successes"], w["failures"],
					w["importance"])
				notes, _ := w["notes"].([]any)
				for _, note := range notes {
					fmt.Fprintf(&b, "  %v", note.(map[string]any)["note"])
				}
				b.WriteString("\n")
			}
		}
	}
	for _, user := range l.users() {
		for _, agent := range append(agents, "") {
			query := url.Values{"user_id": {user}}
			if agent != "" {
				query.Set("agent_id", agent)
			}
			fmt.Fprintf(&b, "instructions for %s and %q\n", user, agent)
			for _, i := range l.call("GET", "/v1/instructions/merged?"+query.Encode(), nil, 200).list("instructions") {
				fmt.Fprintf(&b, "    %v %v version %v: %v\n", i["scope"], i["name"], i["version"], i["content"])
			}
		}
	}
	return b.String()
}

// agents returns the agents of the script.
var agents = []string{"aria", "forge"}
