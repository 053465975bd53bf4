package attribute

import (
	"slices"
	"strings"

	"hippocampus/internal/grounding"
	"hippocampus/internal/text"
)

// translated compares a Chinese value of an attribute with one of another language, by the lists of package grounding.
// isKnown reports whether the lists have the values; they have no names of persons.
func translated(a, b Claim) (isSame, isKnown bool) {
	han, latin := a, b
	if !isChinese(a) {
		han, latin = b, a
	}
	value, names := han.Value[0], append(slices.Clone(latin.Value), strings.Join(latin.Value, ""))
	var ofHan, ofLatin []string
	switch han.Attribute {
	case home:
		ofHan, ofLatin = grounding.Names(grounding.PlaceIn(value)), grounding.Names(names[len(names)-1])
		isKnown = slices.ContainsFunc(ofHan, isLatin) || slices.ContainsFunc(ofLatin, text.IsChinese)
	case employer, language:
		ofHan, ofLatin = grounding.Names(strings.TrimSuffix(value, "公司")), grounding.Names(names[len(names)-1])
		isKnown = slices.ContainsFunc(ofHan, isLatin) && slices.ContainsFunc(ofLatin, text.IsChinese)
	case job:
		ofHan, ofLatin = grounding.Occupations(value), grounding.Occupations(names[len(names)-1])
		isKnown = ofHan != nil && ofLatin != nil
	}
	isSame = slices.ContainsFunc(names, func(name string) bool { return slices.Contains(ofHan, name) }) ||
		slices.ContainsFunc(ofLatin, func(name string) bool { return text.IsChinese(name) && strings.Contains(value, name) })
	return isSame, isKnown
}

func isLatin(s string) bool { return !text.IsChinese(s) }
