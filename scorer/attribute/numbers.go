package attribute

import (
	"strings"

	"hippocampus/internal/lazyregexp"
)

// numbersIn returns telephone numbers and e-mail addresses. A number or address other than the private one has a kind.
func numbersIn(statement string) (claims []Claim) {
	for sentence := range strings.SplitSeq(statement, "; ") {
		if m := ownPhone.FindStringSubmatch(sentence); m != nil {
			if kind := kindOf(m[1]); kind == "" || !bareNumber.MatchString(sentence) {
				claims = append(claims, Claim{phone, kind, []string{digitsOf(m[2])}})
			}
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

// bareNumber matches a number that need not be a telephone number.
var bareNumber = lazyregexp.New(`(?i)\b(?:card|account|house|customer|member|licen[cs]e|passport|` +
	`security|order|ticket) number`)

var usual = set("new current main own phone mobile cell telephone contact the")

// kindOf returns the adjectives that distinguish a number or an address from the user's main one.
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
