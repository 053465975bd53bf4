package grounding

import (
	_ "embed"
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
)

var (
	//go:embed surnames.txt
	surnamesFile string
	//go:embed nonames.txt
	noNamesFile string
)

var (
	openingWords = wordSet(strings.Join(cues["opening"], " "))
	// opens matches a name with which a statement begins, by the verb after it.
	opens = lazyregexp.New(`^(\p{Lu}\p{Ll}+)(?:['’]s|(?: \p{Lu}\p{Ll}+)* (?:is|was|are|were|has|had|does|did|will|` +
		`would|can|could|may|also|and|[a-z]+(?:s|ed|ught|ew|ent)) )`)
)

// noNameEnd matches the ends of nouns that are no names.
var noNameEnd = lazyregexp.New(`(?:ing|ness|tion|sion|ity|ment|ism|ics|ship|ance|ence|ours?)$`)

// openingName returns the name with which a statement begins; "" if its first word is no name.
func openingName(statement string) string {
	match := opens.FindStringSubmatch(statement)
	if match == nil {
		return ""
	}
	low := strings.ToLower(match[1])
	if noNames[low] || openingWords[low] || months[low] != 0 || weekdays[low] != 0 || spelled.MatchString(low) ||
		noNameEnd.MatchString(low) {
		return ""
	}
	return match[1]
}

// hanSurname matches a Chinese surname at the beginning of a text.
var hanSurname = func() *lazyregexp.Regexp {
	_, list, _ := strings.Cut(surnamesFile, "\n")
	return lazyregexp.New(`^(?:` + strings.Join(strings.Fields(list), "|") + `)`)
}()

var noHanNames = wordSet(func() string {
	_, list, _ := strings.Cut(noNamesFile, "\n")
	return list
}())

var (
	// beforeName matches what a Chinese name may follow.
	beforeName = lazyregexp.New(`(?:[，。；：、“\s]|和|跟|与|由|给|找|陪|请|让|是|被|同|向|及|` +
		`朋友|同学|同事|老板|领导|上司|丈夫|妻子|老公|老婆|爱人|男友|女友|男朋友|女朋友|儿子|女儿|弟弟|妹妹|哥哥|姐姐|医生|老师|教练|` +
		`邻居|室友|表哥|表姐|表弟|表妹|客户|搭档|闺蜜|经理|导师|律师|喜欢|认识|名叫|叫)`)
	// afterName matches what may follow a Chinese name.
	afterName = lazyregexp.New(`^(?:$|[，。；：、”\s]|是|的|和|与|跟|也|在|有|让|说|给|来|去|要|会|想|一起|教|送|住|对|把|将|于|都|` +
		`已|开|不|没|很|导演|先生|女士|小姐|老师|医生|教授|经理|阿姨|叔叔)`)
	// afterNameInConclusion also matches verbs that may follow the user's own name in a fact. The turn need not have that
	// name.
	afterNameInConclusion = lazyregexp.New(afterName.String() + `|^[用做写]`)
	// ofUser matches the name or thing at the beginning of a statement that the statement says to be the user's.
	ofUser = lazyregexp.New(`^(\p{Han}{2,4})是用户的`)
)

// placedNamesIn returns the Chinese names of a statement that begin with a surname, follow a word that may precede a
// name, and are followed by text that matches after. It also returns the name or thing that ofUser finds.
func placedNamesIn(s string, after *lazyregexp.Regexp) (names []string) {
	if !hasHan(s) {
		return nil
	}
	starts := []int{0}
	for _, at := range beforeName.FindAllStringIndex(s, -1) {
		starts = append(starts, at[1])
	}
	for _, start := range starts {
		if name := nameAt(s[start:], after); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if match := ofUser.FindStringSubmatch(s); len(match) > 1 && !strings.Contains(match[1], "的") {
		names = append(names, match[1])
	}
	return names
}

// nameAt returns the Chinese name with which a text begins: a surname and one or two characters, followed by text that
// matches after; "" if the text does not begin with a name.
func nameAt(s string, after *lazyregexp.Regexp) string {
	surname := hanSurname.FindString(s)
	if surname == "" {
		return ""
	}
	end := len(surname)
	for range 2 {
		r, size := utf8.DecodeRuneInString(s[end:])
		if !isHanRune(r) {
			break
		}
		end += size
		name := s[:end]
		if noHanNames[name] || noHanNames[startOf(name)] {
			return ""
		}
		if after.MatchString(s[end:]) {
			return name
		}
	}
	return ""
}

// startOf returns the first two characters of a Chinese name. If lines have the name, they have these.
func startOf(name string) string {
	n := 0
	for i := range name {
		if n == 2 {
			return name[:i]
		}
		n++
	}
	return name
}

func hasHan(s string) bool { return strings.IndexFunc(s, isHanRune) >= 0 }
