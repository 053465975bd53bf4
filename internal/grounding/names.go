package grounding

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"hippocampus/internal/lazyregexp"
)

// placesFile holds one place in each line: its name, and the name of its people or language, in English and Chinese.
// organisationsFile holds companies and universities in the same form. Only IsPlace distinguishes the two.
var (
	//go:embed places.txt
	placesFile string
	//go:embed organisations.txt
	organisationsFile string
)

// places holds the words of both files.
var places = sync.OnceValue(func() (p struct {
	of      map[string][]string // words of the same place, by word
	chinese []string            // the Chinese words, longest first
}) {
	p.of = map[string][]string{}
	for line := range strings.Lines(placesFile + organisationsFile) {
		words := strings.Fields(line)
		for _, w := range words {
			p.of[plain(w)] = words
			if w[0] >= 0xe4 { // a Han character
				p.chinese = append(p.chinese, w)
			}
		}
	}
	slices.SortFunc(p.chinese, func(a, b string) int { return len(b) - len(a) })
	return p
})

// plain is a text in lower case, without accents and with plain apostrophes.
func plain(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == '’' || r == '‘':
			b.WriteByte('\'')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return norm.NFC.String(b.String())
}

// wordsOf splits a plain text into its Latin words.
func wordsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) || unicode.Is(unicode.Han, r) })
}

// noNames are words with a capital that name nothing: pronouns, titles, and the person that memories are about.
var noNames = wordSet(`i user users a the he she they it we you my his her their our your its mr mrs ms dr prof mom mum
	dad ok okay tv pc id cv pm am ad bc no not and or but so as at by for from in of on to with if when while since after
	before this that these those there here now both all each one two also`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

var (
	latinWord = lazyregexp.New(`\p{Latin}[\p{Latin}\p{M}]*(?:['’-]\p{Latin}[\p{Latin}\p{M}]*)*`)
	// begins matches text after which a capital begins a sentence, a quotation or an item of a list.
	begins = lazyregexp.New(`(?:^|[.!?;:。！？；：\n•"“‘(（「]|\n[-*])\s*$`)
	// shortened matches text before the full stop that ends with an abbreviation.
	shortened = lazyregexp.New(`\b(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|[A-Z])\.\s*$`)
)

// namesIn returns the Latin words of a text that name someone or something: those with a capital within a sentence,
// those at the beginning of a sentence that are followed by "'s" or by "and" and another name, and places. Months and
// days of the week are dates.
func namesIn(s string) (names []string) {
	for _, n := range placedNames(s) {
		names = append(names, n.name)
	}
	return names
}

// placedName is a name of a text, and the text before it if the name is Latin.
type placedName struct{ name, before string }

// placedNames is namesIn with the places of the names.
func placedNames(s string) (names []placedName) {
	found := latinWord.FindAllStringIndex(s, -1)
	for i, at := range found {
		word := s[at[0]:at[1]]
		stem := withoutPossessive(word)
		low := plain(stem)
		before := s[:at[0]]
		switch {
		case noNames[low] || months[low] != 0 || weekdays[strings.TrimSuffix(low, "s")] != 0:
		case i > 0 && found[i-1][1] == at[0] || strings.HasSuffix(before, "@"):
		case places().of[low] != nil && (firstUpper(word) || len(low) > 4 && low != "turkey" && low != "polish"):
			names = append(names, placedName{stem, before})
		case !firstUpper(word) || unicode.IsUpper([]rune(word)[0]) && joined(before):
		case !begins.MatchString(before) || shortened.MatchString(before):
			names = append(names, placedName{stem, before})
		case stem != word || followedByName(s[at[1]:]):
			names = append(names, placedName{stem, before})
		}
	}
	for _, name := range chineseNamesIn(s) {
		names = append(names, placedName{name: name})
	}
	return names
}

// joined reports whether text that precedes a word ends within a number or a code, as in "5G".
func joined(before string) bool {
	return before != "" && before[len(before)-1] >= '0' && before[len(before)-1] <= '9'
}

var andName = lazyregexp.New(`^ (?:and|&) \p{Lu}\p{Ll}`)

func followedByName(after string) bool { return andName.MatchString(after) }

func firstUpper(word string) bool { return unicode.IsUpper([]rune(word)[0]) }

func withoutPossessive(word string) string {
	return strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s")
}

// surnames are the surnames with which few other words begin.
const surnames = "王李张刘陈杨赵吴徐孙朱郭郑谢邓曹彭冯沈吕"

var (
	chineseName = lazyregexp.New(`(?:名叫|叫做|叫作|改名为|改叫|名字是|名为|叫)“?(\p{Han}{2,4})`)
	nickname    = lazyregexp.New(`[小老阿][` + surnames + `]`)
	titled      = lazyregexp.New(`[` + surnames + `黄周林何罗高梁韩](?:先生|女士|小姐|老师|医生|教授|经理|阿姨|叔叔)`)
	relation    = lazyregexp.New(`(?:朋友|同事|老板|丈夫|妻子|老公|老婆|男友|女友|儿子|女儿|弟弟|妹妹|哥哥|姐姐|医生|老师)` +
		`(?:是|叫)?([` + surnames + `]\p{Han}{1,2})`)
	// nameEnd matches what follows a name of unknown length.
	nameEnd = lazyregexp.New(`[的了着在和与是去来有也都会把被就很已从]`)
	// noChineseName are words that look like names.
	noChineseName = lazyregexp.New(`小孙[子女]|谢谢|陈年|陈列|王国|王子|李子|张罗|叫(?:外卖|醒|车|人|停|好|嚷|喊)`)
)

// chineseNamesIn returns Chinese names by the words around them.
func chineseNamesIn(s string) []string {
	if !strings.ContainsFunc(s, isHanRune) {
		return nil
	}
	var names []string
	s = noChineseName.ReplaceAllString(s, "，")
	for _, pattern := range []*lazyregexp.Regexp{chineseName, relation} {
		for _, match := range pattern.FindAllStringSubmatch(s, -1) {
			name := match[1]
			if end := nameEnd.FindStringIndex(name); end != nil {
				name = name[:end[0]]
			}
			if len(name) > len("王") {
				names = append(names, name)
			}
		}
	}
	names = append(names, nickname.FindAllString(s, -1)...)
	return append(names, titled.FindAllString(s, -1)...)
}

// chinesePlacesIn returns the Chinese places of places.txt in a text.
func chinesePlacesIn(s string) []string {
	if !strings.ContainsFunc(s, isHanRune) {
		return nil
	}
	var found []string
	for _, place := range places().chinese {
		if strings.Contains(s, place) {
			found = append(found, place)
			s = strings.ReplaceAll(s, place, "，")
		}
	}
	return found
}

// minPart is the least length of a name that may be a part of a longer word, such as of an address.
const minPart = 4

// name reports whether a source has a name, or a word of the same place.
func (has Evidence) name(name string) bool {
	low := plain(name)
	if has.words[low] || has.place(low) {
		return true
	}
	for _, part := range strings.FieldsFunc(low, func(r rune) bool { return r == '-' || r == '\'' }) {
		if !has.words[part] && (len(part) < minPart || !has.contains(part)) {
			return false
		}
	}
	return true
}

// place reports whether a source has a word of the same place.
func (has Evidence) place(word string) bool {
	return slices.ContainsFunc(places().of[plain(word)], func(w string) bool {
		return has.words[plain(w)] || w[0] >= 0xe4 && has.contains(w)
	})
}

// contains reports whether a source contains a text that is not delimited: a Chinese one, or a part of an address.
func (has Evidence) contains(s string) bool {
	return slices.ContainsFunc(has.texts, func(t string) bool { return strings.Contains(t, s) })
}

// IsPlace reports whether a word is one of places.txt.
func IsPlace(word string) bool {
	low := plain(word)
	return places().of[low] != nil && !slices.Contains(strings.Fields(organisationsFile), low)
}
