package grounding

import "strings"

// Why returns what is wrong with a statement that adds something to its sources, as in `adds "Kyoto" and "1931",
// which its sources do not have`; "" if it adds nothing.
func (has Evidence) Why(statement string) string {
	invented := has.Invented(statement)
	if invented == nil {
		return ""
	}
	return `adds "` + strings.Join(invented, `" and "`) + `", which its sources do not have`
}
