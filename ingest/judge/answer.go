package judge

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"hippocampus/internal/grounding"
	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// decision is a verdict as the model writes it.
type decision struct {
	Memory   any     `json:"memory"` // a number, or a text with one, such as "memory 1"
	Decision string  `json:"decision"`
	Relation *string `json:"relation"`
	Merged   *string `json:"merged"`
	Why      any     `json:"why"`
}

// parse reads an answer. A decision that cannot be used leaves its memory undecided, and an
// undecided memory is kept. It is an error if no decision can be used.
func parse(answer *llm.Answer, draft memory.Memory, near []memory.Memory) ([]Verdict, error) {
	var reply struct {
		Decisions llm.Items[decision] `json:"decisions"`
	}
	if err := answer.Decode(&reply); err != nil {
		return nil, err
	}
	if len(reply.Decisions) == 0 {
		return nil, llm.BadAnswer("the answer has no decisions: decide on every memory, from 1 to %d", len(near))
	}
	verdicts := make([]Verdict, len(near))
	usable := 0
	var refused error
	for i, item := range reply.Decisions {
		place, v, err := read(item, draft, near)
		if err != nil {
			refused = fmt.Errorf("decisions[%d] %w", i, err)
			answer.Salvage("%v", refused)
		}
		if place < 0 {
			continue
		}
		if err != nil {
			v = Verdict{Decision: KeepBoth, Why: fmt.Sprintf("the decision cannot be used: it %v", err)}
		}
		if previous := verdicts[place]; previous.Decision != "" && previous != v {
			v = Verdict{Decision: KeepBoth, Why: "the answer decides on it twice"}
			answer.Salvage("the answer decides on memory %d twice", place+1)
		} else if err == nil {
			usable++
		}
		verdicts[place] = v
	}
	if usable == 0 {
		return nil, llm.BadAnswer("no decision can be used: %w", refused)
	}
	settle(answer, verdicts)
	return verdicts, nil
}

// settle gives KeepBoth to the memories on which the answer does not decide, and to those with a second merge or a
// second merged text, since the new fact can have one wording only.
func settle(answer *llm.Answer, verdicts []Verdict) {
	merged, worded := false, false
	for i := range verdicts {
		v := &verdicts[i]
		why := ""
		switch {
		case v.Decision == "":
			why = "the answer does not decide on it"
		case v.Decision == Merge && merged:
			why = "the answer merges the new fact into another memory also"
		case v.Merged != "" && worded:
			why = "the answer has a merged text for another memory also"
		}
		if why != "" {
			*v = Verdict{Decision: KeepBoth, Why: why}
			answer.Salvage("memory %d is kept: %s", i+1, why)
		}
		merged = merged || v.Decision == Merge
		worded = worded || v.Merged != ""
	}
}

// read turns a decision into a verdict on near[place]. place is -1 if the decision names no memory. The text of an
// error follows the words "the decision".
func read(item llm.Item[decision], draft memory.Memory, near []memory.Memory) (place int, v Verdict, err error) {
	d := item.Value
	if item.Err != nil {
		return placeOf(d.Memory, near), v, item.Err
	}
	if place = placeOf(d.Memory, near); place < 0 {
		return place, v, fmt.Errorf("names no memory from 1 to %d", len(near))
	}
	switch v.Decision = Decision(lettersOf(d.Decision)); v.Decision {
	case "keepboth", "keep":
		v.Decision = KeepBoth
		if why, ok := d.Why.(string); ok {
			v.Why = memory.Clip(strings.TrimSpace(why), maxWhyRunes)
		}
		return place, v, nil
	case Merge:
	case Replace:
		v.Relation = memory.Contradicts
		if d.Relation != nil && lettersOf(*d.Relation) == string(memory.Refines) {
			v.Relation = memory.Refines
		}
	default:
		return place, v, fmt.Errorf("has the unknown decision %.40q", d.Decision)
	}
	if d.Merged != nil {
		v.Merged = strings.TrimSpace(*d.Merged)
	}
	return place, v, checkMerged(v.Merged, draft, near[place])
}

const maxWhyRunes = 200

// checkMerged returns what is wrong with a merged text. An empty text is valid: the draft's wording is used.
func checkMerged(merged string, draft, m memory.Memory) error {
	if merged == "" {
		return nil
	}
	if why := memory.CheckContent(merged, memory.MaxContentRunes); why != "" {
		return fmt.Errorf("has a merged text that %s", why)
	}
	later := grounding.Source{Text: draft.Content, At: draft.CreatedAt}
	former := grounding.Source{Text: m.Content, At: m.CreatedAt}
	if why := grounding.Read(later, former).Why(merged); why != "" {
		return fmt.Errorf("has a merged text that %s", why)
	}
	account := grounding.ReadAccount(grounding.Line{Source: later}, grounding.Line{Source: former})
	if why := account.Opposes(merged); why != "" {
		return fmt.Errorf("has a merged text that %s", why)
	}
	if added := addedWords(merged, draft.Content+" "+m.Content); len(added) > mostAdded || isItem(merged, added) {
		return fmt.Errorf("has a merged text with %q, which neither of the two texts has", added)
	}
	return nil
}

var label = lazyregexp.New(`^\D{0,10}?(\d{1,2})(?:\.0)?\D?$`)

// placeOf returns the place in near of the memory that a decision names by its number, as a
// number or in a text, or by its id; -1 if there is no such memory.
func placeOf(name any, near []memory.Memory) int {
	number := 0
	switch name := name.(type) {
	case float64:
		if number = int(name); float64(number) != name {
			return -1
		}
	case string:
		name = strings.TrimSpace(name)
		for i, m := range near {
			if m.ID != "" && m.ID == name {
				return i
			}
		}
		if match := label.FindStringSubmatch(name); match != nil {
			number, _ = strconv.Atoi(match[1])
		}
	}
	if number < 1 || number > len(near) {
		return -1
	}
	return number - 1
}

// lettersOf returns the letters of a verb in lower case: "keepboth" for "Keep both" and "keep_both".
func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
