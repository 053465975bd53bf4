package profile

import (
	"regexp"
	"slices"
	"strings"

	"hippocampus/internal/grounding"
	"hippocampus/internal/memory"
	"hippocampus/scorer/attribute"
)

// byAttribute fills a field with what the first of the statements that claims its attribute says. It leaves the field
// to the model if that statement claims several values, or one that does not fit.
func (p Property) byAttribute(statements []statement) *Field {
	for _, s := range statements {
		claims := slices.DeleteFunc(slices.Clone(s.claims), func(c attribute.Claim) bool {
			return c.Attribute != p.Attribute || c.Kind != ""
		})
		if len(claims) == 0 {
			continue
		}
		words := strings.Join(claims[0].Value, " ")
		value, ok := p.fit(asWritten(s.Content, claims[0].Value))
		if len(claims) > 1 || !ok || words == "" {
			return nil
		}
		f := &Field{Value: value, Sources: []memory.Memory{s.Memory}, Confidence: byRules, By: ByRules}
		if s.Type.IsInferred() {
			f.Confidence = inferred
		}
		return f
	}
	return nil
}

// fit returns a value of the rules in the type of the field. ok is false if it does not fit.
func (p Property) fit(s string) (value any, ok bool) {
	if p.Type != "string" {
		n, ok := grounding.Number(s)
		return int64(n), ok
	}
	if p.Enum == nil {
		return s, p.Format != "email" || address.MatchString(s)
	}
	i := slices.IndexFunc(p.Enum, func(e string) bool { return strings.EqualFold(e, s) })
	if i < 0 {
		return nil, false
	}
	return p.Enum[i], true
}

// asWritten returns words, which are in lower case, as a statement has them one after another; as they are if it does
// not.
func asWritten(statement string, words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = regexp.QuoteMeta(w)
	}
	pattern, err := regexp.Compile(`(?i)` + strings.Join(quoted, `[\s'’.,&/-]+`))
	if err != nil || !pattern.MatchString(statement) {
		return strings.Join(words, " ")
	}
	return pattern.FindString(statement)
}
