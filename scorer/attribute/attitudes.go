package attribute

import (
	"slices"
	"strings"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

// attitude is the user's attitude to an object: a like or dislike, a fear or an allergy, or the absence of either.
type attitude struct {
	kind     string   // liking, fear or allergy
	positive bool     // likes it, is afraid of it, is allergic to it
	words    []string // English: lexemes of the object
	core     []string // those of words that are before the first preposition
	han      string   // Chinese: the object
}

const (
	liking  = "liking"
	fear    = "fear"
	allergy = "allergy"
)

// reverses reports whether an earlier attitude is the opposite of a later one. A user who does not like films likes no
// horror films, but a user who likes horror films may still dislike films.
func (a attitude) reverses(earlier attitude) bool {
	switch {
	case a.kind != earlier.kind || a.positive == earlier.positive || (a.han == "") != (earlier.han == ""):
		return false
	case a.han != "":
		return a.han == earlier.han || !a.positive && strings.HasSuffix(earlier.han, a.han)
	case slices.Equal(a.words, earlier.words):
		return true
	}
	n := len(earlier.core) - len(a.words)
	return !a.positive && n >= 0 && slices.Equal(a.words, earlier.core[n:])
}

// isMentionedIn reports whether a statement has the words of the object.
func (a attitude) isMentionedIn(statement string) bool {
	if a.han != "" {
		return strings.Contains(statement, a.han)
	}
	return has(plainWords(statement), a.words)
}

// englishAttitude reads the attitude or the favourite that a clause of an expanded statement states.
func englishAttitude(part string) (attitudes []attitude, favourites []Claim) {
	if m := favourite.FindStringSubmatch(part); m != nil {
		kind := strings.Join(plainWords(m[1]), " ")
		return nil, []Claim{{Attribute: "favourite", Kind: kind, Value: words(endTail.ReplaceAllString(m[2], ""))}}
	}
	if m := isFavourite.FindStringSubmatch(part); len(m) > 0 && !pronoun.MatchString(m[1]) {
		kind := strings.Join(plainWords(feltTail.ReplaceAllString(m[2], "")), " ")
		return nil, []Claim{{Attribute: "favourite", Kind: kind, Value: words(m[1])}}
	}
	if m := prefersTo.FindStringSubmatch(part); m != nil {
		kinds := []string{strings.ToLower(m[1]), strings.ToLower(m[2])}
		slices.Sort(kinds)
		favourites = []Claim{{Attribute: "favourite", Kind: strings.Join(kinds, " or "), Value: words(m[1])}}
	}
	for _, f := range feelings {
		m := f.pattern.FindStringSubmatch(part)
		if m == nil {
			continue
		}
		named := strings.TrimSpace(feltTail.ReplaceAllString(m[1], ""))
		if pronoun.MatchString(named) {
			return nil, favourites
		}
		core := named
		if at := preposition.FindStringIndex(named); at != nil {
			core = named[:at[0]]
		}
		a := attitude{kind: f.kind, positive: f.positive, words: objectWords(named), core: objectWords(core)}
		if len(a.core) == 0 {
			return nil, favourites
		}
		if f.kind == liking && strings.Contains(part, "prefer") {
			a.words = a.core // "tea to coffee"
		}
		return []attitude{a}, favourites
	}
	return nil, favourites
}

// objectWords returns the lexemes of an object without verbs such as "eating".
func objectWords(s string) []string {
	all := plainWords(s)
	if kept := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return useVerb[w] }); len(kept) > 0 {
		return kept
	}
	return all
}

// plainWords returns the lexemes of a text, with the same lexeme for words that mean the same.
func plainWords(s string) []string {
	lexemes := text.Lexemes(s)
	for i, w := range lexemes {
		if plain := plainWord[w]; plain != "" {
			lexemes[i] = plain
		}
	}
	return lexemes
}

var plainWord = map[string]string{"movi": "film", "subscript": "subscrib", "membership": "member", "lesson": "class",
	"coriand": "cilantro", "colour": "color", "smoker": "smoke"}

var useVerb = set("eat drink watch listen play go music do")

// feelings are the expressions of an attitude to an object, which is their first group. They are tried in this order.
var feelings = []struct {
	kind     string
	positive bool
	pattern  *lazyregexp.Regexp
}{
	{fear, false, felt(`(?:(?:am |is |are )?(?:not|no longer) (?:really )?(?:afraid|scared|terrified|frightened) of|` +
		`used to be (?:afraid|scared|terrified) of|(?:got over|gotten over|overcame|overcome|conquered|lost) (?:my|` +
		`our|their|his|her) fear of) `)},
	{fear, true, felt(`(?:(?:a bit |really |terribly |very |still |so )*(?:afraid|scared|terrified|frightened) of|` +
		`a fear of) `)},
	{allergy, false, felt(`(?:(?:am |is |are )?(?:not|no longer) (?:actually )?allergic|used to be allergic) to `)},
	{allergy, true, felt(`(?:badly |severely |very |mildly |still |highly )*allergic to `)},
	{liking, false, felt(`(?:really |absolutely |simply )*(?:hates?|dislikes?|detests?|loathes?|despises?|(?:cannot|` +
		`can not) (?:stand|bear)|(?:do|does) not (?:really |even |particularly )?(?:like|love|enjoy|care for)|no longer ` +
		`(?:likes?|loves?|enjoys?|a fan of|fond of|into)|stopped (?:liking|loving|enjoying)|(?:am |is |` +
		`are )?not (?:really |` +
		`a big )?(?:fond of|into|a fan of|keen on)|(?:gone|went) off|(?:grown |become )?(?:tired|sick) of|lost interest in|` +
		`used to (?:like|love|enjoy|be into|be fond of|be a fan of)|come to (?:hate|dislike)|grown to (?:hate|dislike)) `)},
	{liking, true, felt(`(?:really |absolutely |simply |still |truly |do |always )*(?:likes?|loves?|enjoys?|` +
		`adores?|prefers?|` +
		`(?:very |really |quite )?(?:fond of|into|keen on)|(?:a (?:big |huge )?)?fan of|(?:come|grown|learnt|learned|` +
		`started|begun|began) to (?:like|love|enjoy)|started (?:liking|loving|enjoying)|used to (?:hate|dislike)|` +
		`crazy about) `)},
}

func felt(verb string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?i)^` + openings + `(?:it turns out (?:that )?)?(?:i|we|(?:the )?user) ` + quickly + verb +
		`(.+)$`)
}

var (
	favourite = lazyregexp.New(`(?i)^` + openings + `(?:my|(?:the )?user's) (?:new |` +
		`current )?favou?rite ((?:[\p{L}'-]+ )` +
		`{1,4}?)(?:of all (?:time )?|right now |these days |at the moment )*(?:is|has changed to|has become)(?: now|` +
		` actually)? ` +
		`(.+)$`)
	isFavourite = lazyregexp.New(`(?i)^` + openings + `([\p{L}' -]+?) (?:is|are)(?: now)? my (?:new |` +
		`current )?favou?rite ` +
		`([\p{L}' -]+)$`)
	prefersTo = lazyregexp.New(`(?i)^` + openings + `(?:i|we|(?:the )?user) ` + quickly + `prefers? ([\p{L} -]+?) ` +
		`(?:to|over) ([\p{L} -]+?)(?: now| these days)*$`)

	feltTail = lazyregexp.New(`(?i)(?: (?:any more|now|these days|again|at all|a lot|so much|very much|too|` +
		`either|more ` +
		`than \w+|the most|most|best|lately|nowadays|yet|in general|since .*|after all.*|especially .*))+$`)
	pronoun = lazyregexp.New(`(?i)^(?:it|that|this|these|those|them|him|her|how|what|when|the (?:first|` +
		`second|last|other|idea|way|answer|look)|to be)\b`)
	preposition = lazyregexp.New(`(?i) (?:in|on|at|with|for|as|from|about|during|to|over|by|near|of|than)\b`)
)
