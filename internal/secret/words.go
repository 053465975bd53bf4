package secret

import (
	"slices"
	"strings"

	"hippocampus/internal/lazyregexp"
)

// isWords reports whether plain words are a password: they are quoted, or nothing else is said after the name.
func (f *form) isWords(v value, l link) bool {
	lower := strings.ToLower(v.text)
	switch {
	case mixOf(v.text).letters < 3:
		return false
	case v.quoted():
		first, _, _ := strings.Cut(lower, " ")
		return (!describes(first) || f == phrases && strings.Count(lower, " ") > 1) && isNoExample(v.text)
	case !l.equal && (!l.assigned && !l.words || !clauseEnd.MatchString(v.rest)):
		return false
	}
	return plainWord.MatchString(v.text) && !describes(lower) && !knownNames[lower] && isNoExample(v.text)
}

var (
	plainWord = lazyregexp.New(`^[A-Za-z]{4,32}$`)
	clauseEnd = lazyregexp.New(`^\s*$|^[.!,;)，。！；）]|^\s*\n|^ (?:and|but|so)\b`)
)

// describes reports whether a word describes a password, rather than being one.
func describes(word string) bool {
	return description.MatchString(word) || descriptions[word] || functionWords[word]
}

var (
	description  = lazyregexp.New(`(?:ed|ing|able|ible|less|ful|tive|sive|ous|n't|(?:er|est) than)$`)
	descriptions = wordSet(`
		absent abysmal alphanumeric ancient annoying arbitrary automatic awful bad basic best better big broken
		case-sensitive cheap clear clever common complete complex complicated confidential correct critical cryptic
		different difficult digital down due dynamic easy empty enough equal essential exact fake false fine foolish
		forgotten fresh funny generic global gone good great hard hashed here hidden huge human identical illegal
		impossible incomplete incorrect insecure inside invalid known lame lazy legal local lockscreen long longer
		lost mandatory manual mine missing necessary new nice normal numeric obsolete obvious off ok okay old older
		on online open optional original out outdated personal plain poor possible predictable pretty private public
		random ready real recent required right risky safe same secret secure sensitive separate sensible set shared
		short shorter silly similar simple sound special special-case stale standard static stolen strange strict
		strong stronger stupid sure temporary terrible there thin tough tricky trivial true typical ugly unclear
		unique universal unknown unsafe unset unusual up useless usual valid visible vital weak weaker weird well-
		known whole wrong written yours hers his theirs ours again alone also already always and anyway away back
		before blank by done else ever everywhere first forever friday home immediately instead last later left
		maybe monday next nothing now nowhere often once only outside overdue perhaps please rather saturday server-
		side something somewhere soon sunday then thursday today together tomorrow tonight too tuesday twice
		unfortunately upside very wednesday yesterday yet admin-only bcrypt hash text string number login email
		username birthday name phone one-time`)
	functionWords = wordSet(`
		a about after all an and any are as at be because been but by can could did do does for from had has have he
		her his how i if in into is it its just like may me might more most must my never no nor not of on or our
		same she should so some such than that the their them then there they this to too under until up us very was
		we were what when where which while who why will with words word would you your long longer short digits
		characters letters stored written kept saved inside better worse easy hard safe`)
)

// phraseOf returns the words of a passphrase or of a wallet's recovery phrase at the beginning of a text: three to 24
// words that are not a sentence.
func phraseOf(text string) string {
	words := phraseWords.FindString(text)
	list := strings.Fields(words)
	if slices.ContainsFunc(list, func(word string) bool {
		return len(list) < wallet && functionWords[word] || sentenceWords[word]
	}) {
		return ""
	}
	if words == "" || len(list) < wallet && describes(list[len(list)-1]) || !phraseEnd.MatchString(text[len(words):]) {
		return ""
	}
	return words
}

// wallet is the fewest words of a wallet's recovery phrase. The word list of wallets has words such as "about" and
// "you".
const wallet = 12

var (
	sentenceWords = wordSet("the and for with from have was are but not")
	phraseWords   = lazyregexp.New(`^[a-z]{3,12}(?:[ -][a-z]{3,12}){2,23}`)
	phraseEnd     = lazyregexp.New(`^\s*$|^\s*[.!,;:)，。！；\n"]`)
)
