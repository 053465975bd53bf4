package grounding

import "strings"

// Why returns what is wrong with a statement that adds something to its sources, as in `adds "Kyoto" and "1931",
// which its sources do not have`; "" if it adds nothing.
func (has Evidence) Why(statement string) string {
	added := has.Added(statement)
	if len(added) == 0 {
		return ""
	}
	return `adds "` + strings.Join(added, `" and "`) + `", which its sources do not have`
}

// Added returns what a conclusion from the sources adds to them: what Invented returns, and relatives, illnesses and
// other conditions. A trait or an occupation is no addition, since a conclusion may find it.
func (has Evidence) Added(statement string) []string {
	return append(has.Invented(statement), has.missingTerms(statement, true)...)
}
