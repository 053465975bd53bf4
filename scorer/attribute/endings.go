package attribute

import (
	"strings"

	"hippocampus/internal/lazyregexp"
)

// expand writes contractions out: "I'm not" -> "I am not".
func expand(statement string) string {
	return contractions.Replace(plainApostrophe.Replace(strings.TrimSpace(statement)))
}

var plainApostrophe = strings.NewReplacer("’", "'", "don't", "do not", "doesn't", "does not", "aren't", "are not",
	"isn't", "is not", "can't", "cannot", "Don't", "Do not", "it's", "it is", "anymore", "any more", "haven't", "have not")

// readEnglish reads an English statement clause by clause. Each clause has its own subject.
func (c *Change) readEnglish(statement string) {
	if uncertain.MatchString(statement) {
		return
	}
	c.explicit = true // the expressions match only clauses with the user as subject
	statement = expand(abbreviate.Replace(statement))
	for _, part := range changeEnds.Split(statement, -1) {
		part = strings.TrimRight(part, ".!; ")
		if taken, favourites := englishAttitude(part); taken != nil || favourites != nil {
			c.attitudes = append(c.attitudes, taken...)
			c.favourites = append(c.favourites, favourites...)
			continue
		}
		if !c.leave(part) {
			c.endEnglish(part)
		}
	}
}

// endEnglish reads what a clause ends or begins again. If it ends an attribute, such as the home, it ends no other
// statement with the same words.
func (c *Change) endEnglish(part string) {
	end := func(positive, phrase string) {
		if claims := ofEnglish(positive); len(claims) > 0 {
			c.values = append(c.values, claims...)
		} else if o := englishObject(endTail.ReplaceAllString(phrase, "")); o.isNamed() {
			c.ended = append(c.ended, o)
		}
	}
	switch {
	case rarely.MatchString(part): // something that is done less often has not ended
	case noLonger.MatchString(part):
		m := noLonger.FindStringSubmatch(part)
		end(m[1]+m[2]+m[3], m[3])
	case notAnyMore.MatchString(part):
		m := notAnyMore.FindStringSubmatch(part)
		end(m[1]+be(m[2])+m[3]+m[4], m[3]+m[4])
	case usedTo.MatchString(part) && !past.MatchString(part):
		m := usedTo.FindStringSubmatch(part)
		end(m[1]+m[2], m[2])
	case stopped.MatchString(part):
		m := stopped.FindStringSubmatch(part)
		end("", m[2]+m[3])
	case takenOff.MatchString(part):
		m := takenOff.FindStringSubmatch(part)
		end("", m[2])
	case denies.MatchString(part):
		m := denies.FindStringSubmatch(part)
		if claims := ofEnglish(m[1] + be(m[2]) + m[3]); len(claims) > 0 {
			c.values = append(c.values, claims...)
		} else if o := englishObject(m[3]); len(o.words) > 1 {
			c.denied = append(c.denied, o)
		}
	case again.MatchString(part):
		m := again.FindStringSubmatch(part)
		c.held = ofEnglish(m[1] + m[2] + m[3])
		c.resumed = append(c.resumed, englishObject(m[3]))
	}
}

// be returns the form of "to be" with which a negation begins, and a space; "" if it begins with another verb.
func be(negation string) string {
	switch word, _, _ := strings.Cut(strings.ToLower(negation), " "); word {
	case "am", "are", "is":
		return word + " "
	}
	return ""
}

// leave reads the end of a job or of a home: "I quit my job at Siemens", "I left Siemens in May".
func (c *Change) leave(part string) bool {
	of := func(attribute, value string) {
		c.values = append(c.values, Claim{Attribute: attribute, Value: words(value)})
	}
	if m := quitJob.FindStringSubmatch(part); m != nil {
		if m[2] != "" {
			of(job, m[2])
		} else {
			of(employer, position.ReplaceAllString(m[3], ""))
		}
		return true
	}
	if m := leftFirm.FindStringSubmatch(part); m != nil {
		of(employer, m[2])
		if strings.Contains(m[3], "for good") {
			of(home, m[2])
		}
	}
	if m := notAt.FindStringSubmatch(part); m != nil {
		of(employer, m[2]) // or a club
	}
	if m := leftHome.FindStringSubmatch(part); m != nil {
		of(home, m[2])
		return true
	}
	return false
}

const (
	// someone matches the beginning of a clause up to its subject; the group is the subject. quickly matches words between
	// the subject and the verb.
	someone = `(?i)^` + openings + `(?:it turns out (?:that )?)?((?:i|we|(?:the )?user) )`
	quickly = `(?:(?:am|are|is|have|has|just|now|currently|recently|finally|already|officially|both|all|completely|` +
		`sadly|actually|been|got|also|then|even|really|simply|can|could) )*`
	// when matches words after something that has ended.
	when = `(?: (?:in (?:january|february|march|april|may|june|july|august|september|october|november|december|spring|` +
		`summer|autumn|winter|(?:19|20)\d\d|the (?:spring|summer|autumn|winter|end))|last \w+|this (?:week|month|year|` +
		`spring|summer|autumn|winter)|yesterday|recently|(?:(?:a|\w+) (?:few )?(?:days?|weeks?|months?|years?)|long) ` +
		`ago|(?:after|since|due to|thanks to|when) .*|for (?:good|my health|ever|(?:health|money|personal|family) ` +
		`reasons)|now|completely|entirely|altogether|these days|either|at last|already|today|` +
		`on (?:mon|tues|wednes|thurs|fri|satur|sun)day))`
)

var (
	uncertain = lazyregexp.New(`(?i)\b(?:if|unless|whether|says?|said|told|tells?|asks?|asked|wrote|writes|imagine|` +
		`pretend|translate|maybe|perhaps|for now|temporarily|for (?:a|the) (?:\w+ )?(?:while|day|week|month|moment|time)|` +
		`until|your?|almost|nearly|wish)\b|["“”]`)
	changeEnds = lazyregexp.New(`[,;!:]\s|\.(?:\s|$)|\s(?:and|but|so|because|although|though|while|which|who)\s|[;!]$`)
	endTail    = lazyregexp.New(`(?i)` + when + `+$`)

	noLonger   = lazyregexp.New(someone + `(` + quickly + `)no longer (.+)$`)
	notAnyMore = lazyregexp.New(someone + quickly + `((?:do |does |am |are |is |have |can)not (?:really )?)(.+?) ` +
		`(?:any more|any longer)(.*)$`)
	rarely = lazyregexp.New(`(?i)\b(?:much|often|a lot|as (?:much|many|fast|well)|always|only|just|think|` +
		`thinking)(?: |$)`)
	usedTo  = lazyregexp.New(someone + quickly + `used to (.+)$`)
	past    = lazyregexp.New(`(?i)\b(?:child|kid|teenager|student|boy|girl|school|was|were|used to (?:have|own|be))\b`)
	stopped = lazyregexp.New(someone + quickly + `(?:stopped (\w+ing\b.*)|(?:quit|gave up|given up|ceased|` +
		`cancell?ed|left|sold|got rid of|gotten rid of|gave away|deleted|closed|ended|returned|(?:had|` +
		`have) to (?:give up|stop|quit|sell|cancel)|dropped out of|unsubscribed from|dropped|gone off|c[ao]me off|` +
		`stepped down from|(?:handed|gave|given) back|thr(?:ew|own) (?:out|away)|abandoned|uninstalled|scrapped) ` +
		`(?:on )?(.+))$`)
	takenOff = lazyregexp.New(`(?i)^(?:(?:(?:my|our|the) (?:[\p{L}'-]+ ){1,2}|they )(?:just |have |has )?` +
		`(?:took|taken|moved) (?:me|us) off|` + someone[len("(?i)^"):] + quickly +
		`(?:was |were )?(?:taken|moved) off) (.+)$`)
	denies = lazyregexp.New(someone + quickly + `((?:do |does |am |are |is |can)not )(.+)$`)
	again  = lazyregexp.New(someone + `(` + quickly + `)(?:(?:started|begun|began|taken up|took up|resumed|` +
		`gone back to|went back to|back to) )?(.+) again\b`)

	quitJob = lazyregexp.New(someone + quickly + `(?:(?:quit|left|lost|resigned from|gave up|given up) ` +
		`(?:my|our|the|his|her|their) job|resigned|retired|(?:was|were) (?:made redundant|laid off|fired|sacked|let go)|` +
		`(?:made redundant|laid off|fired|sacked|let go)|unemployed|out of work)` +
		`(?: (?:as (?:an? )?([\p{L}-]+)|(?:at|from|by|with) (.+?)))?` + when + `*$`)
	position = lazyregexp.New(`(?i)^(?:my|our|the|his|her|their) (?:job|position|post|role)(?: (?:at|with|of) )?`)
	leftFirm = lazyregexp.New(someone + quickly + `(?:left|quit) ((?-i:` + capital + `)|` +
		`the [\p{L} ]+?)(` + when + `*)$`)
	notAt = lazyregexp.New(someone + quickly + `no longer (?:with|at|employed (?:at|` +
		`by)) ((?-i:` + capital + `))` + when + `*$`)
	leftHome = lazyregexp.New(someone + quickly + `moved (?:away from|out of) ((?-i:` + capital + `))` + when + `*$`)
)
