package scorer

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"hippocampus/internal/memory"
)

// developers is the half of the test sets with whose misses the rules were written; the other half was held out.
const developers = "developers"

// Of messages with words of another voice, the rules keep the user's statement and nothing else.
func TestRules_KeepNoWordsOfAnotherVoice(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/voices.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var messages []struct{ Half, Language, Kind, Own, Text string }
	decoder := yaml.NewDecoder(bytes.NewReader(file))
	decoder.KnownFields(true)
	if err := decoder.Decode(&messages); err != nil || len(messages) < 150 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	type result struct{ messages, foreign, owns, kept int }
	results := map[string]*result{}
	for _, m := range messages {
		r := results[m.Half+" "+m.Language]
		if r == nil {
			r = &result{}
			results[m.Half+" "+m.Language] = r
		}
		r.messages++
		own, foreign := false, ""
		for _, fact := range factsOver(t, m.Text) {
			if isOwn(fact, m.Own) {
				own = true
			} else {
				foreign = fact
			}
		}
		if foreign != "" {
			r.foreign++
			if m.Half == developers {
				t.Logf("%s %s: kept %q", m.Language, m.Kind, foreign)
			}
		}
		if m.Own != "" {
			r.owns++
			if own {
				r.kept++
			} else if m.Half == developers {
				t.Logf("%s %s: %q is not kept", m.Language, m.Kind, m.Own)
			}
		}
	}
	for name, r := range results {
		t.Logf("%s: %d of %d messages with a fact of another voice, %d of %d own statements kept",
			name, r.foreign, r.messages, r.kept, r.owns)
	}
}

// Of what is no English or Chinese sentence, the rules keep nothing.
func TestRules_KeepNothingUnknown(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/unknown.tsv")
	if err != nil {
		t.Fatal(err)
	}
	all, kept := map[string]int{}, map[string]int{}
	for line := range strings.Lines(string(file)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		half, text := fields[0], fields[2]
		all[half]++
		if facts := factsOver(t, text); len(facts) > 0 {
			kept[half]++
			if half == developers {
				t.Logf("kept %q", facts[0])
			}
		}
	}
	for half, n := range all {
		t.Logf("%s: %d of %d kept", half, kept[half], n)
	}
}

// factsOver returns the facts of a user's message that pass the default gate.
func factsOver(t *testing.T, says string) (contents []string) {
	t.Helper()
	facts, err := NewRules().Score(t.Context(), memory.Turn{
		Messages: []memory.Message{{Role: memory.RoleUser, Content: says}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		if f.Invalid == "" && f.Importance >= weakest {
			contents = append(contents, f.Content)
		}
	}
	return contents
}

// isOwn reports whether a fact states what the user said, with at most a few words more.
func isOwn(fact, own string) bool {
	const more = 30
	fact, own = strings.TrimRight(fact, ".。!！"), strings.TrimRight(own, ".。!！")
	return own != "" && (strings.Contains(own, fact) || strings.Contains(fact, own) &&
		utf8.RuneCountInString(fact) <= utf8.RuneCountInString(own)+more)
}
