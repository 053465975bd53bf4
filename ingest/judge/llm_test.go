package judge

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// scripted answers every prompt alike.
type scripted struct {
	answer string
	asked  *llm.Prompt
}

func (s scripted) Model() string { return "scripted" }

func (s scripted) Answer(_ context.Context, p llm.Prompt) (string, error) {
	if s.asked != nil {
		*s.asked = p
	}
	return s.answer, nil
}

func said(content string, day int) memory.Memory {
	return memory.Memory{Content: content, CreatedAt: time.Date(2031, 5, day, 8, 0, 0, 0, time.UTC)}
}

var (
	draft = said("Has a cat called Miso.", 9)
	near  = []memory.Memory{said("Owns a grey cat.", 3), said("Owns a dog.", 4)}
)

func TestLLM_AcceptsGoodAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string][]Verdict{
		`{"decisions":[{"memory":1,"decision":"keep_both"},{"memory":2,"decision":"keep_both"}]}`: {{Decision: KeepBoth},
			{Decision: KeepBoth}},
		`{"decisions":[{"memory":2,"decision":"replace"},{"memory":1,"decision":"merge"}]}`: {{Decision: Merge},
			{Decision: Replace, Relation: memory.Contradicts}},
		"```json\n" + `{"decisions":[{"memory":1,"decision":"merge","merged":" Has a grey cat called Miso. "},
			{"memory":2,"decision":"replace","relation":"refines"}]}` + "\n```": {
			{Decision: Merge, Merged: "Has a grey cat called Miso."}, {Decision: Replace, Relation: memory.Refines}},
	} {
		got, err := NewLLM(scripted{answer: answer}).Judge(t.Context(), draft, near)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", answer, err, diff)
		}
	}
}

// An answer with anything wrong in it is refused whole.
func TestLLM_RefusesBadAnswers(t *testing.T) {
	t.Parallel()
	const second = `{"memory":2,"decision":"keep_both"}`
	decisions := func(first string) string { return `{"decisions":[{` + first + `},` + second + `]}` }
	for name, answer := range map[string]string{
		"empty":        "",
		"prose":        "Keep both.",
		"html":         "<!DOCTYPE html><html></html>",
		"truncated":    decisions(`"memory":1,"decision":"replace"`)[:40],
		"a list":       "[" + second + "]",
		"two objects":  decisions(`"memory":1,"decision":"replace"`) + "{}",
		"no decisions": `{}`,
		"null":         `{"decisions":null}`,
		"none":         `{"decisions":[]}`,
		"one of two":   `{"decisions":[` + second + `]}`,
		"one twice":    `{"decisions":[` + second + `,` + second + `]}`,
		"one too many": `{"decisions":[{"memory":1,"decision":"replace"},` + second +
			`,{"memory":3,"decision":"replace"}]}`,
		"memory 0":                 decisions(`"memory":0,"decision":"replace"`),
		"memory -1":                decisions(`"memory":-1,"decision":"replace"`),
		"memory 3":                 decisions(`"memory":3,"decision":"replace"`),
		"memory a word":            decisions(`"memory":"one","decision":"replace"`),
		"memory an id":             decisions(`"memory":"0198c0de-0000-7000-8000-000000000001","decision":"replace"`),
		"memory a fraction":        decisions(`"memory":1.5,"decision":"replace"`),
		"memory missing":           decisions(`"decision":"replace"`),
		"memory null":              decisions(`"memory":null,"decision":"replace"`),
		"decision missing":         decisions(`"memory":1`),
		"decision null":            decisions(`"memory":1,"decision":null`),
		"decision unknown":         decisions(`"memory":1,"decision":"delete"`),
		"decision in another case": decisions(`"memory":1,"decision":"Replace"`),
		"decision a list":          decisions(`"memory":1,"decision":["replace"]`),
		"unknown field beside":     `{"decisions":[],"mood":"good"}`,
		"relation unknown":         decisions(`"memory":1,"decision":"replace","relation":"hates"`),
		"relation derived_from":    decisions(`"memory":1,"decision":"replace","relation":"derived_from"`),
		"relation with keep_both":  decisions(`"memory":1,"decision":"keep_both","relation":"contradicts"`),
		"merged with replace":      decisions(`"memory":1,"decision":"replace","merged":"Has a grey cat."`),
		"merged empty":             decisions(`"memory":1,"decision":"merge","merged":" "`),
		"merged too long": decisions(
			`"memory":1,"decision":"merge","merged":"` + strings.Repeat("cat ", 2000) + `"`),
		"merged a number": decisions(`"memory":1,"decision":"merge","merged":7`),
		"merged is the prompt": decisions(
			`"memory":1,"decision":"merge","merged":"Decide on every memory once, by its number."`),
		"merged with an invented name": decisions(
			`"memory":1,"decision":"merge","merged":"Has a grey cat called Miso and Tofu."`),
		"merged into two": `{"decisions":[{"memory":1,"decision":"merge"},{"memory":2,"decision":"merge"}]}`,
		"duplicate field": decisions(`"memory":1,"decision":"keep_both","decision":"replace"`),
	} {
		if got, err := NewLLM(scripted{answer: answer}).Judge(t.Context(), draft, near); !memory.IsKind(err,
			memory.KindBadAnswer) || got != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// The model is asked in the language of the fact, with every date.
func TestLLM_Prompt(t *testing.T) {
	t.Parallel()
	for content, words := range map[string]string{"Moved to Shanghai.": "JSON object:", "搬到了上海。": "JSON 对象："} {
		var p llm.Prompt
		_, _ = NewLLM(scripted{asked: &p}).Judge(t.Context(), said(content, 9), near)
		for _, want := range []string{
			`{"said":"2031-05-09 08:00","text":"` + content + `"}`,
			`{"memory":1,"said":"2031-05-03 08:00","text":"Owns a grey cat."}`,
			`{"memory":2,"said":"2031-05-04 08:00","text":"Owns a dog."}`, words,
		} {
			if !strings.Contains(p.User, want) {
				t.Errorf("%s is missing in %s", want, p.User)
			}
		}
		if !strings.Contains(p.System, "[hippocampus/judge]") {
			t.Errorf("system prompt %s", p.System)
		}
	}
}
