package facts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/scorer"
)

// wording is how the memory of a fact is worded, rated and dated.
type wording struct {
	content string
	// importance of the statement if it is certain; nil: that of such statements
	importance *float64
	said       time.Time // zero: now
}

// wordingOf returns the wording of evidence in its canonical form.
func wordingOf(e Evidence) wording {
	w := wording{content: e.Sentence, importance: e.Importance, said: e.SaidAt}
	if w.content == "" {
		w.content = Sentence(e.Type, e.Key, e.Value)
	}
	return w
}

// ImportanceAs is the importance of a memory in a domain that holds the evidence's sentence.
func (e Evidence) ImportanceAs(domain memory.Domain) float64 {
	return wordingOf(e).importanceOf(e.Sentence, domain, e.Confidence)
}

// importanceOf is the importance of a memory of a fact with this wording.
func (w wording) importanceOf(content string, domain memory.Domain, confidence float64) float64 {
	if w.importance != nil {
		return weighed(*w.importance, confidence)
	}
	return Importance(content, domain, confidence)
}

// Importance of the memory of a fact, with four decimals. It lies between 0.7, the default
// threshold of the gate, at a confidence of 0, and the importance of such statements in a turn at 1.
func Importance(content string, domain memory.Domain, confidence float64) float64 {
	return weighed(scorer.Importance(content, domain), confidence)
}

// weighed is the importance of a fact whose statement has the importance rated if it is certain.
func weighed(rated, confidence float64) float64 {
	const least = 0.7
	return math.Round(1e4*(min(least, rated)+max(0, rated-least)*confidence)) / 1e4
}

// general are the types that say nothing about a key.
var general = []string{"profile", "personal", "person", "user", "preference", "preferences", "fact", "general"}

// Sentence is a fact as a sentence about the user, such as "The user's work address is 5 High Street.",
// if its value is one short text or a list of texts; else it is Content. Type and key are canonical.
func Sentence(factType, key string, value json.RawMessage) string {
	const longest = 80 // characters; longer values are sentences of their own
	var one string
	var several []string
	chinese := text.IsChinese(key)
	verb := " is "
	if json.Unmarshal(value, &one) != nil || one == "" {
		if json.Unmarshal(value, &several) != nil || len(several) == 0 {
			return Content(key, value)
		}
		verb = " are "
		one = strings.Join(several, map[bool]string{false: ", ", true: "、"}[chinese])
	}
	one = strings.TrimRight(one, ".。")
	if utf8.RuneCountInString(one) > longest || strings.ContainsAny(one, "\n。") || strings.Contains(one, ". ") {
		return Content(key, value)
	}
	subject := strings.ReplaceAll(key, "_", " ")
	if !slices.Contains(general, factType) && !strings.Contains(key, factType) && text.IsChinese(factType) == chinese {
		subject = strings.ReplaceAll(factType, "_", " ") + map[bool]string{false: " "}[chinese] + subject
	}
	if chinese {
		return "用户的" + subject + "是" + one + "。"
	}
	return "The user's " + subject + verb + one + "."
}

// Content is a fact as an entry of a list, such as "home city: Lisbon": the key
// in words, and the value as people write it. A longer value is cut at
// memory.MaxContentRunes, with an ellipsis.
func Content(key string, value json.RawMessage) string {
	var v any
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	_ = dec.Decode(&v) // cannot fail for a canonical value
	content := []rune(strings.ReplaceAll(key, "_", " ") + ": " + words(v))
	if len(content) > memory.MaxContentRunes {
		return string(content[:memory.MaxContentRunes-1]) + "…"
	}
	return string(content)
}

// words is a value as people write it: lists with commas, objects as "key: value".
func words(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = words(item)
		}
		return strings.Join(items, ", ")
	case map[string]any:
		var items []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			items = append(items, strings.ReplaceAll(key, "_", " ")+": "+words(v[key]))
		}
		return strings.Join(items, "; ")
	case nil:
		return "none"
	}
	return fmt.Sprint(v)
}
