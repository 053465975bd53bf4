package attribute

import (
	"cmp"
	"strconv"
	"strings"

	"hippocampus/internal/lazyregexp"
)

var (
	contractions = strings.NewReplacer("’", "'", "I'm ", "I am ", "i'm ", "i am ", "I've ", "I have ", "i've ", "i have ",
		"we're ", "we are ", "We're ", "We are ", "we've ", "we have ", "We've ", "We have ", "User’s", "User's")
	clauseEnds = lazyregexp.New(`[,;!]\s|\.(?:\s|$)|\s(?:and|but)\s|[;!]$`)
	theUser    = lazyregexp.New(`(?i)^(?:i|we|(?:the )?user)\b[^'’]`)
	reports    = lazyregexp.New(`(?i)\b(?:says?|said|tells?|told|asks?|asked|writes?|wrote|reads?|heard)\b`)
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
	users, explicit := true, false
	clauses := statement
	if theUser.MatchString(statement) && !reports.MatchString(statement) {
		clauses = strings.ReplaceAll(statement, ": ", ", ")
	}
	for i, c := range clauseEnds.Split(clauses, -1) {
		c = strings.TrimSpace(strings.TrimRight(c, ".!; "))
		switch {
		case theUser.MatchString(c):
			users, explicit = true, true
		case i == 0:
			users = !startsWithOther.MatchString(c)
		}
		if (!users || i > 0 && !explicit) && !ownStart.MatchString(c) {
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
		for _, pattern := range []*lazyregexp.Regexp{named, known, renamed} {
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
	startsWithOther = lazyregexp.New(`(?i)^(?:my|our|his|her|their|your|the (?:[^u]|u[^s])|user's|\p{L}+'s)\b`)
	ownStart        = lazyregexp.New(`(?i)^(?:after [^,]* )?(?:my|our|user's|the user's|i|we|user|call|` +
		`please)\b`)
)

func homeIn(c string, inLowerCase bool) []string {
	for _, pattern := range []*lazyregexp.Regexp{lives, moved, homed} {
		at := match(pattern, c)
		if name := match(place, at); name != "" && !noTown[strings.ToLower(name)] {
			return words(name)
		}
		if name := match(lowPlace, at); inLowerCase && !noPlace[name] {
			return words(name)
		}
	}
	return nil
}

var noTown = set(`monday tuesday wednesday thursday friday saturday sunday january february march april may june july
	august september october november december christmas easter google zoom teams slack linux windows mac macos ios
	android gmail notion discord whatsapp signal telegram python rust go java typescript react vue postgres aws azure
	kubernetes github gitlab spotify netflix iphone`)

var timeWord = set(`monday tuesday wednesday thursday friday saturday sunday january february march april may june july
	august september october november december christmas easter`)

func employerIn(c string) []string {
	for i, pattern := range []*lazyregexp.Regexp{works, joins, employed, joined, switched} {
		at := match(pattern, c)
		if at == "" || leisure.MatchString(at) {
			continue
		}
		if org := workshop.FindStringSubmatch(at); org != nil {
			if org[2] != "" {
				return words(org[2])
			}
			return words(org[1])
		}
		if name := match(company, at); i < 3 && !timeWord[strings.ToLower(name)] {
			return words(name)
		}
	}
	return nil
}

func jobIn(c string) []string {
	for _, pattern := range []*lazyregexp.Regexp{occupied, became, asJob, myJob} {
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
	for _, pattern := range []*lazyregexp.Regexp{turned, aged, ageIs} {
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
	for _, pattern := range []*lazyregexp.Regexp{status, marries, partner} {
		phrase := strings.ToLower(pattern.FindString(c))
		if phrase == "" {
			continue
		}
		for _, of := range statusOf {
			if strings.Contains(phrase, of.word) {
				return []string{of.status}
			}
		}
		return []string{"partner"}
	}
	return nil
}

func dietIn(c string, certain bool) []string {
	if meatless.MatchString(c) {
		return []string{"vegetarian"}
	}
	kind := strings.ToLower(cmp.Or(match(isDiet, c), match(eats, c), match(gone, c)))
	if kind == "" || !certain {
		return nil
	}
	switch kind {
	case "meat", "everything", "omnivore":
		return []string{"all"}
	default:
		return []string{strings.Replace(kind, "pescetarian", "pescatarian", 1)}
	}
}

func languageIn(statement string) []string {
	for _, pattern := range []*lazyregexp.Regexp{answers, talks, prefers} {
		if name := match(pattern, statement); name != "" {
			return words(name)
		}
	}
	return nil
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
