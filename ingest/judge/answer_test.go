package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hippocampus/internal/memory"
)

var (
	draft = saidOn("Has a cat called Miso.", 9)
	near  = []memory.Memory{saidOn("Owns a grey cat.", 3), saidOn("Owns a dog.", 4)}
)

const bothKept = `{"memory":2,"decision":"keep_both"}`

// decides makes an answer whose first decision has these fields and whose second keeps both.
func decides(first string) string { return `{"decisions":[{` + first + `},` + bothKept + `]}` }

// Each kind of answer gives these verdicts. A kind without an answer for the first memory keeps that memory.
func TestLLM_SalvagesAnswers(t *testing.T) {
	t.Parallel()
	keep := Verdict{Decision: KeepBoth}
	replace := Verdict{Decision: Replace, Relation: memory.Contradicts}
	refine := Verdict{Decision: Replace, Relation: memory.Refines}
	merge := Verdict{Decision: Merge}
	worded := Verdict{Decision: Merge, Merged: "Has a grey cat called Miso."}
	for name, c := range map[string]struct {
		answer string
		first  Verdict // on memory 1; memory 2 is kept
		why    string  // a part of the reason why memory 1 is kept
	}{
		"good":           {decides(`"memory":1,"decision":"replace"`), replace, ""},
		"with a reason":  {decides(`"memory":1,"decision":"keep_both","why":" two cats "`), keep, "two cats"},
		"refines":        {decides(`"memory":1,"decision":"replace","relation":"refines"`), refine, ""},
		"merged":         {decides(`"memory":1,"decision":"merge","merged":" Has a grey cat called Miso. "`), worded, ""},
		"merge as it is": {decides(`"memory":1,"decision":"merge"`), merge, ""},
		"replaced with what stays true": {decides(`"memory":1,"decision":"replace","merged":"Has a grey cat called Miso."`),
			Verdict{Decision: Replace, Relation: memory.Contradicts, Merged: "Has a grey cat called Miso."}, ""},

		"fenced":                {"```json\n" + decides(`"memory":1,"decision":"replace"`) + "\n```", replace, ""},
		"with prose":            {"Here you are: " + decides(`"memory":1,"decision":"replace"`) + " Bye.", replace, ""},
		"after thoughts":        {"<think>{1: replace?}</think>" + decides(`"memory":1,"decision":"replace"`), replace, ""},
		"after a BOM":           {"\ufeff" + decides(`"memory":1,"decision":"replace"`), replace, ""},
		"bare list":             {`[{"memory":1,"decision":"replace"},` + bothKept + `]`, replace, ""},
		"single object":         {`{"memory":1,"decision":"replace"}`, replace, ""},
		"decisions an object":   {`{"decisions":{"memory":1,"decision":"replace"}}`, replace, ""},
		"trailing comma":        {`{"decisions":[{"memory":1,"decision":"replace",},]}`, replace, ""},
		"comment":               {`{"decisions":[{"memory":1,"decision":"replace"} // moved` + "\n]}", replace, ""},
		"unknown field":         {decides(`"memory":1,"decision":"replace","confidence":0.9`), replace, ""},
		"unknown field outside": {`{"mood":"good","decisions":[{"memory":1,"decision":"replace"}]}`, replace, ""},
		"names in another case": {`{"Decisions":[{"Memory":1,"Decision":"replace"}]}`, replace, ""},

		"verb in another case":  {decides(`"memory":1,"decision":"Replace"`), replace, ""},
		"verb with spaces":      {decides(`"memory":1,"decision":" Keep both "`), keep, ""},
		"verb with a hyphen":    {decides(`"memory":1,"decision":"keep-both"`), keep, ""},
		"verb cut short":        {decides(`"memory":1,"decision":"keep"`), keep, ""},
		"relation in capitals":  {decides(`"memory":1,"decision":"replace","relation":"REFINES"`), refine, ""},
		"unknown relation":      {decides(`"memory":1,"decision":"replace","relation":"updates"`), replace, ""},
		"relation null":         {decides(`"memory":1,"decision":"replace","relation":null,"merged":null`), replace, ""},
		"relation of keep_both": {decides(`"memory":1,"decision":"keep_both","relation":"contradicts"`), keep, ""},
		"merged of keep_both":   {decides(`"memory":1,"decision":"keep_both","merged":"A cat."`), keep, ""},
		"merged empty":          {decides(`"memory":1,"decision":"merge","merged":" "`), merge, ""},
		"number as a string":    {decides(`"memory":"1","decision":"replace"`), replace, ""},
		"number with a decimal": {decides(`"memory":1.0,"decision":"replace"`), replace, ""},
		"number as a label":     {decides(`"memory":"memory 1","decision":"replace"`), replace, ""},
		"number with a mark":    {decides(`"memory":"#1","decision":"replace"`), replace, ""},
		"number in brackets":    {decides(`"memory":"[1]","decision":"replace"`), replace, ""},
		"number with 记忆":        {decides(`"memory":"记忆 1","decision":"replace"`), replace, ""},
		"the same decision twice": {`{"decisions":[{"memory":1,"decision":"replace"},{"memory":1,"decision":"replace"}]}`,
			replace, ""},
		"a reason that is a list": {decides(`"memory":1,"decision":"keep_both","why":["x"]`), keep, ""},

		"decision left out":   {`{"decisions":[` + bothKept + `]}`, keep, "does not decide"},
		"memory out of range": {decides(`"memory":3,"decision":"replace"`), keep, "does not decide"},
		"memory 0":            {decides(`"memory":0,"decision":"replace"`), keep, "does not decide"},
		"memory a fraction":   {decides(`"memory":1.5,"decision":"replace"`), keep, "does not decide"},
		"memory a word":       {decides(`"memory":"one","decision":"replace"`), keep, "does not decide"},
		"memory an unknown id": {decides(`"memory":"0198c0de-0000-7000-8000-000000000001","decision":"replace"`), keep,
			"does not decide"},
		"memory missing":   {decides(`"decision":"replace"`), keep, "does not decide"},
		"no object":        {`{"decisions":["replace",` + bothKept + `]}`, keep, "does not decide"},
		"unknown decision": {decides(`"memory":1,"decision":"delete"`), keep, "unknown decision"},
		"decision missing": {decides(`"memory":1`), keep, "unknown decision"},
		"decision null":    {decides(`"memory":1,"decision":null`), keep, "unknown decision"},
		"decision a list":  {decides(`"memory":1,"decision":["replace"]`), keep, ""},
		"two different decisions": {`{"decisions":[{"memory":1,"decision":"replace"},{"memory":1,"decision":"merge"},` +
			bothKept + `]}`, keep, "twice"},
		"merged a number": {decides(`"memory":1,"decision":"merge","merged":7`), keep, ""},
		"merged too long": {decides(`"memory":1,"decision":"merge","merged":"` + strings.Repeat("cat ", 2000) + `"`),
			keep, "merged text"},
		"merged is the prompt": {decides(
			`"memory":1,"decision":"replace","merged":"Decide on every memory once, by its number."`), keep, "merged text"},
		"merged with an invented name": {decides(
			`"memory":1,"decision":"merge","merged":"Has a grey cat called Miso and Tofu."`), keep, "Tofu"},
		"merged with an invented number": {decides(`"memory":1,"decision":"replace","merged":"Has 7 grey cats called Miso."`),
			keep, "7"},
		"merged with an invented statement": {decides(
			`"memory":1,"decision":"replace","merged":"Was convicted of tax fraud last winter and owns a cat."`), keep,
			"neither"},
	} {
		got, err := NewLLM(scripted{answer: c.answer}).Judge(t.Context(), draft, near)
		if err != nil || len(got) != 2 {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		if diff := cmp.Diff(c.first, got[0], cmpopts.IgnoreFields(Verdict{}, "Why")); diff != "" ||
			!strings.Contains(got[0].Why, c.why) || got[1].Decision != KeepBoth {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Of two merges, or of two merged texts, the one for the nearer memory is used.
func TestLLM_UsesOneWording(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"two merges": `{"decisions":[{"memory":1,"decision":"merge"},{"memory":2,"decision":"merge"}]}`,
		"two texts": `{"decisions":[{"memory":1,"decision":"replace","merged":"Has a grey cat."},
			{"memory":2,"decision":"replace","merged":"Has a cat and a dog."}]}`,
	} {
		got, err := NewLLM(scripted{answer: answer}).Judge(t.Context(), draft, near)
		if err != nil || got[0].Decision == KeepBoth || got[1].Decision != KeepBoth || got[1].Why == "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A memory may be named by its id.
func TestLLM_ReadsIDs(t *testing.T) {
	t.Parallel()
	named := saidOn("Owns a grey cat.", 3)
	named.ID = "0198c0de-0000-7000-8000-000000000001"
	got, err := NewLLM(scripted{answer: `{"decisions":[{"memory":"` + named.ID + `","decision":"replace"}]}`}).Judge(
		t.Context(), draft, []memory.Memory{named})
	if err != nil || got[0].Decision != Replace {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestLLM_RefusesAnswersWithoutADecision(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"empty":          "",
		"prose":          "Keep both.",
		"html":           "<!DOCTYPE html><html></html>",
		"cut off":        decides(`"memory":1,"decision":"replace"`)[:40],
		"two objects":    decides(`"memory":1,"decision":"replace"`) + decides(`"memory":1,"decision":"merge"`),
		"no decisions":   `{}`,
		"null":           `{"decisions":null}`,
		"empty list":     `{"decisions":[]}`,
		"only bad ones":  `{"decisions":[{"memory":3,"decision":"replace"},{"memory":1,"decision":"delete"}]}`,
		"duplicate name": decides(`"memory":1,"decision":"keep_both","decision":"replace"`),
	} {
		if got, err := NewLLM(scripted{answer: answer}).Judge(t.Context(), draft, near); !memory.IsKind(err,
			memory.KindBadAnswer) || got != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
