package attribute

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	contractions = strings.NewReplacer("’", "'", "I'm ", "I am ", "i'm ", "i am ", "I've ", "I have ", "i've ", "i have ",
		"we're ", "we are ", "We're ", "We are ", "we've ", "we have ", "We've ", "We have ", "User’s", "User's")
	clauseEnds = regexp.MustCompile(`[,;!]\s|\.(?:\s|$)|\s(?:and|but)\s|[;!]$`)
	theUser    = regexp.MustCompile(`(?i)^(?:i|we|(?:the )?user)\b[^'’]`)
	abbreviate = strings.NewReplacer("St. ", "St ", "Mr. ", "Mr ", "Mrs. ", "Mrs ", "Dr. ", "Dr ")
)

// ofEnglish reads an English statement clause by clause. A clause without a subject belongs to the subject of the
// clause before.
func ofEnglish(statement string) (claims []Claim) {
	statement = abbreviate.Replace(contractions.Replace(strings.TrimSpace(statement)))
	certain := !unlikely.MatchString(statement)
	inLowerCase := strings.ToLower(statement) == statement ||
		strings.ToLower(strings.Replace(statement, "I ", "i ", 1)) == strings.Replace(statement, "I ", "i ", 1)
	add := func(of, kind string, value []string) {
		if len(value) > 0 {
			claims = append(claims, Claim{of, kind, value})
		}
	}
	users := true
	for i, c := range clauseEnds.Split(statement, -1) {
		c = strings.TrimSpace(strings.TrimRight(c, ".!; "))
		switch {
		case theUser.MatchString(c):
			users = true
		case i == 0:
			users = !startsWithOther.MatchString(c)
		}
		if !users && !ownStart.MatchString(c) {
			continue
		}
		certain := !unlikely.MatchString(c) && (certain || i > 0)
		if certain {
			add(home, "", homeIn(c, inLowerCase))
			add(employer, "", employerIn(c))
			add(job, "", jobIn(c))
			add(age, "", ageIn(c))
			add(relationship, "", statusIn(c))
		}
		for _, pattern := range []*regexp.Regexp{named, known} {
			if m := pattern.FindStringSubmatch(c); m != nil {
				add(name, "", words(m[1]))
			}
		}
		if m := call.FindStringSubmatch(c); m != nil {
			add(name, "what to call the user", words(m[1]))
		}
		add(diet, "", dietIn(c, certain))
	}
	add(language, "", languageIn(statement))
	claims = append(claims, numbersIn(statement)...)
	return claims
}

var (
	startsWithOther = regexp.MustCompile(`(?i)^(?:my|our|his|her|their|your|the (?:[^u]|u[^s])|user's|\p{L}+'s)\b`)
	ownStart        = regexp.MustCompile(`(?i)^(?:after [^,]* )?(?:my|our|user's|the user's|i|we|user|call|please)\b`)
)

func homeIn(c string, inLowerCase bool) []string {
	for _, pattern := range []*regexp.Regexp{lives, moved, homed} {
		at := match(pattern, c)
		if name := match(place, at); name != "" && !timeWord[strings.ToLower(name)] {
			return words(name)
		}
		if name := match(lowPlace, at); inLowerCase && !noPlace[name] {
			return words(name)
		}
	}
	return nil
}

var timeWord = set(`monday tuesday wednesday thursday friday saturday sunday january february march april may june july
	august september october november december christmas easter`)

func employerIn(c string) []string {
	for i, pattern := range []*regexp.Regexp{works, joins, employed, joined, switched} {
		at := match(pattern, c)
		if at == "" || group.MatchString(at) {
			continue
		}
		if org := workshop.FindStringSubmatch(at); org != nil {
			if org[2] != "" {
				return words(org[2])
			}
			return words(org[1])
		}
		if name := match(company, at); i < 4 && !timeWord[strings.ToLower(name)] {
			return words(name)
		}
	}
	return nil
}

func jobIn(c string) []string {
	for _, pattern := range []*regexp.Regexp{occupied, asJob, myJob} {
		if m := pattern.FindStringSubmatch(c); m != nil {
			all := words(jobEnd.ReplaceAllString(m[1], ""))
			if len(all) > 0 {
				return all[len(all)-1:] // a nurse who becomes a paediatric nurse is one
			}
		}
	}
	return nil
}

func ageIn(c string) []string {
	for _, pattern := range []*regexp.Regexp{aged, ageIs} {
		if m := pattern.FindStringSubmatch(c); m != nil {
			years := spelledNumber(m[1])
			if years >= 5 && years <= 120 {
				return []string{strconv.Itoa(years)}
			}
		}
	}
	return nil
}

func spelledNumber(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	total := 0
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return r == ' ' || r == '-' }) {
		for base, list := range map[int]string{1: units, 10: teens} {
			for i, u := range strings.Split(strings.Trim(list, "(?:)"), "|") {
				if u == w {
					total += base + i
				}
			}
		}
		for i, t := range strings.Split(strings.Trim(tens, "(?:)"), "|") {
			if t == w {
				total += 10 * (i + 2)
			}
		}
	}
	return total
}

func statusIn(c string) []string {
	for _, pattern := range []*regexp.Regexp{status, partner} {
		if m := pattern.FindStringSubmatch(c); m != nil {
			if is := statusOf[strings.ToLower(m[1])]; is != "" {
				return []string{is}
			}
			return []string{"partner"}
		}
	}
	return nil
}

func dietIn(c string, certain bool) []string {
	if meatless.MatchString(c) {
		return []string{"vegetarian"}
	}
	m := eats.FindStringSubmatch(c)
	if m == nil || !certain {
		return nil
	}
	switch kind := strings.ToLower(m[1]); kind {
	case "meat", "everything", "omnivore":
		return []string{"all"}
	default:
		return []string{strings.Replace(kind, "pescetarian", "pescatarian", 1)}
	}
}

func languageIn(statement string) []string {
	if m := answers.FindStringSubmatch(statement); m != nil && addressed.MatchString(statement) {
		return words(m[1])
	}
	return nil
}

// numbersIn returns telephone numbers and e-mail addresses. Another than the private one has a kind.
func numbersIn(statement string) (claims []Claim) {
	for sentence := range strings.SplitSeq(statement, "; ") {
		if m := ownPhone.FindStringSubmatch(sentence); m != nil {
			claims = append(claims, Claim{phone, kindOf(m[1]), []string{digitsOf(m[2])}})
		} else if m := callMe.FindStringSubmatch(sentence); m != nil {
			claims = append(claims, Claim{phone, "", []string{digitsOf(m[1])}})
		} else if m := newPhone.FindStringSubmatch(sentence); m != nil {
			claims = append(claims, Claim{phone, "", []string{digitsOf(m[1])}})
		}
		at := address.FindStringIndex(sentence)
		if at == nil {
			continue
		}
		value := []string{strings.ToLower(sentence[at[0]:at[1]])}
		if m := ownEmail.FindStringSubmatch(sentence[:at[0]]); m != nil {
			claims = append(claims, Claim{email, kindOf(m[1]), value})
		} else if writeMe.MatchString(sentence[:at[0]]) {
			claims = append(claims, Claim{email, "", value})
		}
	}
	return claims
}

var usual = set("new current main own phone mobile cell telephone contact the")

// kindOf returns the adjectives that tell a number or an address from the user's main one.
func kindOf(adjectives string) string {
	var kind []string
	for w := range strings.FieldsSeq(strings.ToLower(adjectives)) {
		if !usual[w] {
			kind = append(kind, w)
		}
	}
	return strings.Join(kind, " ")
}

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

var fillers = set("the a an of my our new small big local")

// words returns the words of a value in lower case, without articles.
func words(s string) (list []string) {
	isSpace := func(r rune) bool { return r == ' ' || r == ',' || r == '.' }
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), isSpace) {
		if w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s"); w != "" && !fillers[w] {
			list = append(list, w)
		}
	}
	return list
}
