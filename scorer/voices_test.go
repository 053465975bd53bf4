package scorer

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"hippocampus/internal/memory"
	"hippocampus/scorer/statement"
	"hippocampus/scorer/voice"
)

// voicesOf counts what the rules make of messages with words of another voice.
type voicesOf struct {
	messages, foreign int // foreign: with a fact that is not the user's statement
	owns, kept        int // statements of the user
}

// From messages with words of another voice, the rules keep the user's statement and nothing else.
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
	results := map[string]*voicesOf{}
	for _, m := range messages {
		r := results[m.Half+" "+m.Language]
		if r == nil {
			r = &voicesOf{}
			results[m.Half+" "+m.Language] = r
		}
		misses := r.add(factsOver(t, m.Text), m.Own)
		if len(misses) > 0 {
			t.Logf("%s, %s: %q", m.Language, m.Kind, misses)
		}
	}
	for name, r := range results {
		t.Logf("%s: %d of %d messages with a fact of another voice, %d of %d statements of the user kept",
			name, r.foreign, r.messages, r.kept, r.owns)
		const mostForeign, mostMissed = 0, 3 // of each half and language
		if r.messages < 25 || r.owns < 7 || r.foreign > mostForeign || r.owns-r.kept > mostMissed {
			t.Errorf("%s: %+v", name, *r)
		}
	}
}

// add counts the facts that were kept of a message, and returns what is wrong with them.
func (v *voicesOf) add(facts []string, own string) (misses []string) {
	v.messages++
	kept := false
	for _, fact := range facts {
		if isOwn(fact, own) {
			kept = true
		} else {
			misses = append(misses, "kept: "+fact)
		}
	}
	if len(misses) > 0 {
		v.foreign++
	}
	if own == "" {
		return misses
	}
	v.owns++
	if kept {
		v.kept++
		return misses
	}
	return append(misses, "not kept: "+own)
}

// A sentence of another language, a command, a placeholder, a single word, SQL, YAML or a path is no statement.
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
		}
	}
	for half, n := range all {
		t.Logf("%s: %d of %d kept", half, kept[half], n)
		if n < 30 || kept[half] > 0 {
			t.Errorf("%s: %d of %d kept", half, kept[half], n)
		}
	}
}

// For each span that the rules cut there is one proposal, after the facts and with the kind of its voice.
func TestRules_NameWhoseWordsTheyCut(t *testing.T) {
	t.Parallel()
	log := strings.Repeat("10:00:01 I am recording\n", 200)
	facts, err := NewRules().Score(t.Context(), said(
		"> I live in Ohio.\n> I work as a plumber.\n\nI'm a nurse. My boss said \"I am moving to Berlin.\"\n"+log,
	), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range facts {
		got = append(got, fmt.Sprintf("%s: %.30s", f.Voice, f.Content))
		if n := utf8.RuneCountInString(f.Content); n > maxOtherRunes {
			t.Errorf("an excerpt has %d characters", n)
		}
	}
	want := []string{
		": I'm a nurse.", "a quote: > I live in Ohio.\n> I work as ", "a quote: My boss said \"I am moving to B",
		"a log: 10:00:01 I am recording\n10:00:",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	many, err := NewRules().Score(t.Context(), said(strings.Repeat("> I am here.\nI said no.\n", 500)), nil)
	if err != nil || len(many) > MaxFacts {
		t.Errorf("%d proposals, %v", len(many), err)
	}
}

// A statement of one sentence is the user's own, even if it has quotation marks and colons.
func TestRules_CutNoStatement(t *testing.T) {
	t.Parallel()
	statements := 0
	for _, name := range []string{
		"statement/training/en.tsv", "statement/training/zh.tsv", "testdata/statements_en.tsv", "testdata/statements_zh.tsv",
	} {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(file)) {
			label, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
			_, sentence, _ := strings.Cut(rest, "\t")
			if label != statement.Fact {
				continue
			}
			statements++
			if spans := voice.Spans(sentence); len(spans) != 1 || spans[0].Kind != voice.Own {
				t.Errorf("%q is divided: %+v", sentence, spans)
			}
		}
	}
	if statements < 3000 {
		t.Errorf("%d statements", statements)
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

// isOwn reports whether a fact states what the user said, with at most a few more words.
func isOwn(fact, own string) bool {
	const more = 30
	fact, own = strings.TrimRight(fact, ".。!！"), strings.TrimRight(own, ".。!！")
	return own != "" && (strings.Contains(own, fact) || strings.Contains(fact, own) &&
		utf8.RuneCountInString(fact) <= utf8.RuneCountInString(own)+more)
}
