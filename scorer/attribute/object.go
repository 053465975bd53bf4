package attribute

import (
	"slices"
	"strings"

	"hippocampus/internal/lazyregexp"
)

// object is something that the user has ended or does again, such as "play tennis" or 打网球.
type object struct {
	words     []string // English: lexemes, without verbs such as "have" if there are others
	verb, han string   // Chinese: the possible verbs, a character each, and what follows the verb
}

// englishObject returns the object that a phrase names.
func englishObject(phrase string) object {
	words := plainWords(phrase)
	if full := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return lightVerb[w] }); len(full) > 0 {
		words = full
	}
	return object{words: words}
}

var lightVerb = set("take have go do get own use attend part account")

// isNamed reports whether the object has words.
func (o object) isNamed() bool { return len(o.words) > 0 || o.han != "" }

// has reports whether the object that the user does again is the one that had ended.
func (o object) has(ended object) bool {
	if ended.han != "" {
		return strings.Contains(o.han, ended.han)
	}
	return len(o.words) > 0 && len(ended.words) > 0 && has(o.words, ended.words)
}

// isJobOf reports whether the object is a claimed job: "teaching" is the job of a teacher.
func (o object) isJobOf(claims []Claim) bool {
	return len(o.words) == 1 && len(o.words[0]) > 3 && slices.ContainsFunc(claims, func(c Claim) bool {
		return c.Attribute == job && strings.HasPrefix(c.Value[0], o.words[0])
	})
}

// isDoneIn reports whether a statement says that the user does or has the object.
func (o object) isDoneIn(statement string) bool {
	if o.han != "" {
		return o.isDoneInChinese(statement)
	}
	if len(o.words) == 0 || !has(plainWords(statement), o.words) {
		return false
	}
	statement = expand(statement)
	verb := match(does, statement)
	if verb == "" || isPast(verb) || notDone.MatchString(statement) {
		return false
	}
	return len(o.words) > 1 || o.standsAloneIn(statement, verb)
}

// standsAloneIn reports whether the only word of an object has its usual meaning in a statement with a verb. "run" has
// it in "I run every morning", but not in "I run a bakery"; "gym" has it in "I go to the gym", but not in "I clean the
// gym".
func (o object) standsAloneIn(statement, verb string) bool {
	isVerb := slices.Equal(plainWords(verb), o.words)
	switch {
	case o.words[0] == "smoke":
		return true
	case !isVerb && !havingVerb.MatchString(verb):
		return false
	case o.words[0] == "drink":
		return alcohol.MatchString(statement)
	}
	said := strings.FieldsFunc(strings.ToLower(statement), func(r rune) bool { return strings.ContainsRune(" ,.;!", r) })
	i := slices.IndexFunc(said, func(w string) bool { return slices.Equal(plainWords(w), o.words) })
	return i >= 0 && (i+1 == len(said) || followers.MatchString(said[i+1]))
}

var (
	// does matches the verb of a statement about the user.
	does = lazyregexp.New(`(?i)^` + openings + `(?:i|we|(?:the )?user) (?:(?:have|has) been |(?:have|has) got |am |` +
		`are |is |(?:have|has) (?:just|recently) )?(?:just |now |currently |still |both |all |also |only |usually |` +
		`often |always |` +
		`sometimes |really |mostly |regularly )*([\p{L}'-]+)`)
	// havingVerb matches verbs after which an object of one word is something that the user has or does.
	havingVerb = lazyregexp.New(`(?i)^(?:have|has|got|own|owns|drives?|rides?|use|uses|go|goes|going|sings?|` +
		`plays?|attends?|` +
		`belong|joined|subscribed?|bought|adopted|keeps?|takes?|taking|eats?|drinks?|pay|read|reads|on|studies|study|` +
		`learn|learns|` +
		`learning|studying|practi[cs]es?|do|does|teach|teaches|speaks?)$`)
	notDone = lazyregexp.New(`(?i)\b(?:not|never|no longer|used to|if|when|while|would|could|might|maybe|` +
		`wants?|hopes?|` +
		`wish|plans?|will|going to|should|must|needs?|(?:have|has) to|loves?|likes?|enjoys?|hates?|prefers?|allergic|` +
		`afraid|` +
		`scared|ago|yesterday|last|was|were|and|but|quit|stopped|gave up|given up|cancel\w+|looking for|think|thinking|` +
		`dream|said|says|remember|without|no|saving|sold|got rid|decided)\b|n't\b|["“”]`)
	followers = lazyregexp.New(`^(?:every|each|on|in|at|with|for|from|most|almost|once|twice|three|four|five|six|` +
		`daily|weekly|regularly|often|sometimes|about|around|along|to|called|named|now|again|alone|outdoors|as|since|` +
		`because|who|that|which|\d+|there|here|together|competitively|professionally|too)$`)
	alcohol = lazyregexp.New(`(?i)\b(?:beers?|wine|alcohol|whisky|whiskey|vodka|gin|rum|cocktails?|spirits)\b`)
)

// isPast reports whether a verb is about the past. Verbs that begin something lasting, such as "joined", are not.
func isPast(verb string) bool {
	verb = strings.ToLower(verb)
	return pastVerb[verb] || strings.HasSuffix(verb, "ed") && verb != "need" && !begins[verb]
}

var (
	begins   = set("joined started subscribed signed adopted enrolled booked rented registered")
	pastVerb = set(`went did took saw ran sang wrote drank ate drove rode swam taught learnt made met left lost sold read
		gave spent said found forgot`)
)

// isDoneInChinese is isDoneIn for a Chinese object: a clause of the user has the verb and, after it, the object.
func (o object) isDoneInChinese(statement string) bool {
	if !strings.Contains(statement, o.han) || hanNotDone.MatchString(statement) || hanNotUser.MatchString(statement) {
		return false
	}
	for _, c := range hanClauseEnds.Split(hanBooks.Replace(strings.ReplaceAll(statement, "用户", "我")), -1) {
		if i := strings.IndexAny(c, o.verb); i >= 0 && strings.Contains(c[i+len("有"):], o.han) {
			return true
		}
	}
	return false
}

var (
	hanNotDone = lazyregexp.New(`[不没别想戒怕卖]|退|取消|可能|决定|问|打算|准备|计划|希望|以前|曾|过去|如果|要是|喜欢|爱|讨厌|过敏|昨天|[和也还]|说`)
	hanNotUser = lazyregexp.New(`^(?:我|用户)的?[^和跟与陪带给教，]{0,2}(?:爸|妈|哥|弟|姐|妹|爷|奶|叔|姨|舅|姑|老公|老婆|丈夫|妻子|先生|` +
		`太太|男友|女友|朋友|儿子|女儿|孩子|同事|同学|邻居|室友|老板|经理|上司|闺蜜|家人|父母)|^(?:他|她|它|你|这|那|对方|人家)`)
)
