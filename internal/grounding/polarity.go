package grounding

import (
	"slices"
	"strings"
	"unicode"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

// clause is a part of a sentence that affirms or denies something.
type clause struct {
	words       string   // as they were said
	content     []string // lexemes, without those that say only that it is so, or that someone likes it
	denied      bool
	modal       bool // it is possible, wished or planned, or has a condition
	planned     bool // it is only planned or wished
	ahead       bool // it may be about what is still to come
	unclear     bool // it is a question, or depends on something else
	conditional bool // it states the condition
}

// reading is how the clauses of a text are read.
type reading struct {
	unclear  phrases // with one of these a clause is unclear
	isModal  bool    // wishes and possibilities are compared: they are modal and not unclear
	hasForms bool    // forms and synonyms of a word count as the word
}

var (
	ofFacts    = reading{unclear: phrasesOf("neutral", "wish", "modal", "plan", "condition")}
	ofAccounts = reading{unclear: phrasesOf("neutral"), isModal: true, hasForms: true}
)

var (
	clauseEnd = lazyregexp.New(`[.!?;,。！？；，、\n]+(?:\s|$)|[。！？；，\n]+|` +
		`(?i)\b(?:but|and|because|so|though|although|while|since|when)\b|但是?|可是|因为|所以|然后`)
	undenied = phrasesOf("undenied")
	negative = phrasesOf("negative")
	light    = phrasesOf("light")
	pronouns = phrasesOf("pronoun")
	// plainDenial matches a denied word whose first character makes another word with 不: 不同, "different", 不过, "but".
	plainDenial = lazyregexp.New("不(同意|过敏)")
)

func isHanRune(r rune) bool { return unicode.Is(unicode.Han, r) }

// clausesOf returns the clauses of a text.
func clausesOf(s string, as reading) (clauses []clause) {
	if as.isModal {
		s = beforeCondition.ReplaceAllString(s, ", $1")
	}
	sentence := 0 // the first clause of the sentence
	for start := 0; start < len(s); {
		end, next := len(s), len(s)
		if at := clauseEnd.FindStringIndex(s[start:]); at != nil {
			end, next = start+at[0], start+at[1]
		}
		c := clauseOf(s[start:end], as)
		c.unclear = c.unclear || strings.ContainsAny(s[end:next], "?？")
		if c.content == nil && pronouns.has(tokensOf(plain(c.words)), c.words) && len(clauses) > 0 {
			c.content = clauses[len(clauses)-1].content
		}
		if c.content != nil || c.conditional {
			clauses = append(clauses, c)
		}
		if next == len(s) || strings.ContainsAny(s[end:next], ".!?;。！？；\n") {
			shareCondition(clauses[sentence:])
			sentence = len(clauses)
		}
		start = next
	}
	return slices.DeleteFunc(clauses, func(c clause) bool { return c.content == nil })
}

// clauseOf reads a clause.
func clauseOf(words string, as reading) clause {
	c := clause{words: strings.TrimSpace(words)}
	said := plain(withoutMay(words))
	tokens, han := tokensOf(said), plainDenial.ReplaceAllString(hanOf(said), "不 $1")
	if as.hasForms {
		tokens, han = formsOf(tokens, han)
	}
	tokens, han, _ = undenied.cut(tokens, han, " ")
	c.unclear = as.unclear.has(tokens, han) || strings.HasSuffix(han, "吗") || strings.HasSuffix(han, "呢")
	tokens, han, denials := negative.cut(tokens, han, "")
	c.denied = denials == 1
	c.unclear = c.unclear || denials > 1
	if as.isModal {
		tokens, han = c.readModality(tokens, han)
	}
	tokens, han, _ = light.cut(tokens, han, "")
	if as.isModal {
		tokens, han, _ = filler.cut(tokens, han, "")
	}
	for _, token := range tokens {
		c.content = append(c.content, text.Lexemes(token)...)
	}
	c.content = append(c.content, text.Lexemes(han)...)
	return c
}

// content returns the lexemes of a text that say something.
func content(s string) (lexemes []string) {
	for _, c := range clausesOf(s, ofFacts) {
		lexemes = append(lexemes, c.content...)
	}
	return lexemes
}

// contradicted returns the words of the user that say the opposite of a fact; "" if no words do, or if other words
// of the user state it.
func (t *Talk) contradicted(fact string) string {
	return contradicted(t.clauses, clausesOf(fact, ofFacts), nameOf(fact), clause.states)
}

// contradicted is Talk.contradicted for clauses that were said, and for the clauses of a fact that begins with name.
// For states, see deniedBy.
func contradicted(
	all, clauses []clause, name string, states func(said clause, terms []string) bool,
) string {
	named := text.Lexemes(name)
	for _, c := range clauses {
		c.content = without(c.content, named)
		if c.unclear || len(clauses) > 1 && len(c.content) < 2 {
			continue
		}
		if against := c.deniedBy(all, clauses, states); against != "" {
			return against
		}
	}
	return ""
}

// deniedBy returns the words of a clause that says the opposite of c, or says that c is only possible or wished. It
// returns "" if there is no such clause, if another clause agrees with c, or if one of the clauses around c repeats the
// denial, which is then about someone else. states reports whether a clause that was said is about some terms.
func (c clause) deniedBy(all, around []clause, states func(said clause, terms []string) bool) (against string) {
	for _, said := range all {
		switch {
		case !states(said, c.content):
		case said.unclear || said.agreesWith(c):
			return ""
		case c.modal && !said.modal, said.modal && !c.modal && c.denied, // one leaves the other open
			said.planned && c.ahead && said.denied == c.denied,
			said.modal && c.isLiking():
		case !said.isIn(around):
			against = said.words
		}
	}
	return against
}

// agreesWith reports whether a clause that was said states a clause with the same terms.
func (c clause) agreesWith(about clause) bool {
	return c.denied == about.denied && (c.modal == about.modal || c.denied || about.modal)
}

// isIn reports whether one of some clauses says the same.
func (c clause) isIn(clauses []clause) bool {
	return slices.ContainsFunc(clauses, func(other clause) bool {
		return other.denied == c.denied && other.modal == c.modal && !other.unclear && other.states(c.content)
	})
}

// nameOf returns the word with which a fact begins if it may name the user, else "".
func nameOf(fact string) string {
	word, _, _ := strings.Cut(fact, " ")
	if word == "" || !firstUpper(word) || noNames[plain(word)] || openingWords[plain(word)] {
		return ""
	}
	return word
}

func without(lexemes, some []string) []string {
	return slices.DeleteFunc(slices.Clone(lexemes), func(l string) bool { return slices.Contains(some, l) })
}

// broad is the most lexemes that a clause which states a fact may have for each lexeme of the fact.
const broad = 4

// states reports whether a clause has the terms of a fact.
func (c clause) states(terms []string) bool {
	if len(terms) == 0 || len(c.content) > broad*len(terms) {
		return false
	}
	missing := 0
	for _, term := range terms {
		if !slices.Contains(c.content, term) {
			missing++
		}
	}
	return missing == 0 || 4*missing <= len(terms) && len(terms) >= 4
}
