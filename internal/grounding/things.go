package grounding

import (
	"slices"
	"strings"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

var (
	// endingItem matches the last item of a list with which a clause ends, other than a participle or an adverb.
	endingItem = lazyregexp.New(`\b(?:and|or|nor) (?:an? |the )?([a-z]{3,})(?:[.,;]|$)`)
	noItem     = lazyregexp.New(`(?:ed|ing|ly|s?self|selves)$`)
	// reason matches what something is because of.
	reason = lazyregexp.New(`\b(?:because of|due to) ([^,.;]+)`)
	// hanItem matches what follows "and" or a count, where a Chinese text names a thing.
	hanItem = lazyregexp.New(`(?:和|跟|与|、|以及|还有|` +
		`[一两二三四五六七八九十百千\d][个只条台部支辆张位名本件罐套家间所幅把块瓶盒])(\p{Han}{2})`)
	// roleName matches a Chinese name after the role of a person.
	roleName = lazyregexp.New(`(?:房东|主管|组长|同事|邻居|老师|医生|教练|导师|朋友|同学|室友|老板|经理|搭档|客户|领导|师傅)` +
		`([` + surnames + `周林黄何罗梁韩唐]\p{Han})`)
)

// addedThings returns the things that a conclusion adds by their place, where it hardly names anything but things: the
// last item of a list, a reason, what is counted in Chinese, and the name of a person after a role.
func (has Evidence) addedThings(statement string) (things []string) {
	for _, match := range endingItem.FindAllStringSubmatch(statement, -1) {
		if !noItem.MatchString(match[1]) && !slices.ContainsFunc(text.Lexemes(match[1]), has.isKnown) {
			things = append(things, match[1])
		}
	}
	for _, match := range reason.FindAllStringSubmatch(statement, -1) {
		words := slices.DeleteFunc(content(match[1]), func(l string) bool { return pronounsAndTheUser[l] })
		if len(words) > 0 && !slices.ContainsFunc(words, has.isKnown) {
			things = append(things, match[1])
		}
	}
	for _, match := range hanItem.FindAllStringSubmatch(statement, -1) {
		if !has.hasHan(match[1]) && !isTerm(match[1]) {
			things = append(things, match[1])
		}
	}
	for _, match := range roleName.FindAllStringSubmatch(statement, -1) {
		if !noHanNames[match[1]] && !has.contains(match[1]) {
			things = append(things, match[1])
		}
	}
	return things
}

var pronounsAndTheUser = wordSet("the a an his her their its user")

// sameStart is how many letters two words of one root begin with.
const sameStart = 4

// isKnown reports whether a source has a lexeme or one of the same root.
func (has Evidence) isKnown(lexeme string) bool {
	if has.lexemes[lexeme] {
		return true
	}
	for known := range has.lexemes {
		if len(lexeme) >= sameStart && strings.HasPrefix(known, lexeme[:sameStart]) {
			return true
		}
	}
	return false
}

// hasHan reports whether a source has one of some Han characters.
func (has Evidence) hasHan(characters string) bool {
	return slices.ContainsFunc(has.texts, func(said string) bool { return strings.ContainsAny(said, characters) })
}

// isTerm reports whether a Han word is one of terms, which are compared with their equivalents.
func isTerm(word string) bool {
	return slices.ContainsFunc(terms().han, func(t term) bool { return strings.HasPrefix(word, t.form) })
}
