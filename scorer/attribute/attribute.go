// Package attribute finds what a statement says about attributes that have one value at a time for a user:
//
//	statement -> clauses -> subject is the user, present, certain -> Claim{home, [porto]}
//
// and, beyond these attributes, what a later statement changes:
//
//	statement -> Change{what has ended or begun again, attitudes, favourites} -> ends an earlier statement, or not
//
// It reads English and Chinese, and prefers to find nothing: claims about other people, the past, plans and a second
// job, telephone number or e-mail address are left out.
package attribute

import (
	"slices"
	"strings"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/text"
)

// Claim is a value of an attribute.
type Claim struct {
	Attribute string   // "home", "employer", ...
	Kind      string   // distinguishes values that may differ, such as "work" of e-mail addresses; usually empty
	Value     []string // words, in lower case
}

// Of returns the claims of a statement.
func Of(statement string) []Claim {
	if strings.ContainsAny(statement, "?？") {
		return nil
	}
	read := ofEnglish
	if text.IsChinese(statement) {
		read = ofChinese
	}
	if claims := read(statement); len(claims) > 0 {
		return claims
	}
	if claims := ofKey(statement); len(claims) > 0 {
		return claims
	}
	return ofManner(statement)
}

// Name returns the user's name that a statement states, in lower case; "" if it states no name.
func Name(statement string) string {
	for _, claim := range Of(statement) {
		if claim.Attribute == name {
			return strings.Join(claim.Value, " ")
		}
	}
	return ""
}

// Common reports whether two statements claim the same attribute.
func Common(a, b []Claim) bool {
	return slices.ContainsFunc(a, func(x Claim) bool { return slices.ContainsFunc(b, x.isOf) })
}

// Contradicted returns the attribute for which two statements claim different values. Two values are equal if one
// has all words of the other. A Chinese value and one of another language are compared if they are listed.
func Contradicted(earlier, later []Claim) (attribute string, contradicted bool) {
	for _, e := range earlier {
		for _, l := range later {
			if e.isOf(l) && e.differs(l) {
				return e.Attribute, true
			}
		}
	}
	return "", false
}

// differs reports whether two values of an attribute are known to be different.
func (c Claim) differs(o Claim) bool {
	if isChinese(c) == isChinese(o) {
		return !has(c.Value, o.Value) && !has(o.Value, c.Value)
	}
	isSame, isKnown := translated(c, o)
	return isKnown && !isSame
}

func (c Claim) isOf(o Claim) bool { return c.Attribute == o.Attribute && c.Kind == o.Kind }

func isChinese(c Claim) bool { return text.IsChinese(strings.Join(c.Value, " ")) }

func has(words, all []string) bool {
	return !slices.ContainsFunc(all, func(w string) bool { return !slices.Contains(words, w) })
}

// All are the names of the attributes.
var All = []string{home, employer, job, name, age, relationship, phone, email, diet, language}

// The attributes.
const (
	home         = "home"
	employer     = "employer"
	job          = "job"
	name         = "name"
	age          = "age"
	relationship = "relationship status"
	phone        = "telephone number"
	email        = "e-mail address"
	diet         = "diet"
	language     = "preferred language"
)

// match returns the first group of a match, or "".
func match(pattern *lazyregexp.Regexp, s string) string {
	if m := pattern.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}
