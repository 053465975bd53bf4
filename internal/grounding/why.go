package grounding

import (
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
)

// Why returns what is wrong with a conclusion that adds something to its sources, as in `adds "Kyoto" and "1931", which
// its sources do not have`; "" if it adds nothing. Additions are: what Invented returns; Chinese names of persons that
// the words around them show, except at the beginning of a clause; relatives, illnesses and other conditions; and what
// named matches. A trait or an occupation is no addition, since a conclusion may find it.
func (has Evidence) Why(statement string) string {
	added := slices.Concat(has.Invented(statement), has.missingTerms(statement, true))
	for _, name := range placedNamesIn(statement, afterNameInConclusion) {
		if !beginsClause(statement, name) && !slices.Contains(added, name) && !has.contains(startOf(name)) {
			added = append(added, name)
		}
	}
	for _, thing := range has.addedThings(statement) {
		if !slices.Contains(added, thing) {
			added = append(added, thing)
		}
	}
	for _, words := range named.FindAllString(statement, -1) {
		if !has.contains(plain(words)) {
			added = append(added, words)
		}
	}
	if len(added) == 0 {
		return ""
	}
	return `adds "` + strings.Join(added, `" and "`) + `", which its sources do not have`
}

// beginsClause reports whether a name is the subject of a clause of a conclusion. It then is the user's name, which the
// sources need not have.
func beginsClause(statement, name string) bool {
	before, _, _ := strings.Cut(statement, name)
	last, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || strings.ContainsRune("，。；：、 ", last)
}

// named matches text that the sources must have in the same words: a level or a code, such as B2, the title of a work,
// a Chinese name of a group of companies, the end of a Chinese name of an illness, a prize, a year at school, and an
// entrance examination.
var named = lazyregexp.New(`\b\p{Lu}{1,3}\d{1,4}\b|《[^《》]+》|\p{Han}{2}集团|\p{Han}(?:症|炎|癌|溃疡|综合征)|` +
	`[特一二三四]等奖|[初高大][一二三四]|[中高]考`)
