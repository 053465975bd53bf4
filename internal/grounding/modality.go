package grounding

import (
	_ "embed"
	"strings"

	"hippocampus/internal/lazyregexp"
)

var (
	modals     = phrasesOf("modal")
	plans      = phrasesOf("plan", "wish", "desire")
	ahead      = phrasesOf("ahead")
	conditions = phrasesOf("condition")
	filler     = phrasesOf("filler")
	times      = phrasesOf("time")

	// wished matches 想, "want to", and the words in which 想 has another sense.
	wished = lazyregexp.New(`想法|想象|想起|想到|想念|理想|思想|梦想|猜想|联想|感想|设想|想家|想`)

	// beforeCondition matches the space before a condition, where a clause ends.
	beforeCondition = lazyregexp.New(`(?i) (if|unless|in case|as long as|provided that)\b`)

	// monthOfMay matches "May" as a month, since the month is no possibility.
	monthOfMay = lazyregexp.New(`(\d(?:st|nd|rd|th)? |\b(?:in|of|since|until|by|before|after|from|to|early|mid|` +
		`late|last|next|this|every) )May\b|\bMay( \d)`)
)

func withoutMay(words string) string {
	if !strings.Contains(words, "May") {
		return words
	}
	return monthOfMay.ReplaceAllString(words, "$1$2")
}

// readModality sets whether a clause is modal, and returns its words without those that make it modal.
func (c *clause) readModality(tokens []string, han string) (restTokens []string, restHan string) {
	c.ahead = ahead.has(tokens, "") || han != "" && !strings.ContainsAny(han, "了过已")
	tokens, han, conditionCount := conditions.cut(tokens, han, "")
	tokens, han, modalCount := modals.cut(tokens, han, "")
	tokens, han, planCount := plans.cut(tokens, han, "")
	han = wished.ReplaceAllStringFunc(han, func(word string) string {
		if word != "想" {
			return word
		}
		planCount++
		return ""
	})
	c.conditional = conditionCount > 0
	c.planned = planCount > 0 && modalCount+conditionCount == 0
	c.modal = modalCount+planCount+conditionCount > 0
	if c.modal {
		tokens, han, _ = times.cut(tokens, han, "")
	}
	return tokens, han
}

// shareCondition gives all clauses of a sentence the condition that one of them states.
func shareCondition(sentence []clause) {
	for _, c := range sentence {
		if !c.conditional {
			continue
		}
		for i := range sentence {
			sentence[i].modal, sentence[i].planned = true, false
		}
	}
}

//go:embed forms.txt
var formsFile string

// forms maps each form of a word of forms.txt to the word; hanForms matches the Han forms.
var forms, hanForms = func() (map[string]string, *lazyregexp.Regexp) {
	of := map[string]string{}
	var han []string
	for _, e := range entriesOf(formsFile) {
		for _, form := range listed(e.right) {
			of[form] = e.left
			if isHan(form) {
				han = append(han, form)
			}
		}
	}
	return of, anyOf(han)
}()

// formsOf returns tokens and Han text in which each form is replaced by its word.
func formsOf(tokens []string, han string) (words []string, hanWords string) {
	for _, token := range tokens {
		if word, ok := forms[token]; ok {
			token = word
		}
		words = append(words, token)
	}
	return words, hanForms.ReplaceAllStringFunc(han, func(form string) string { return forms[form] })
}
