package milvus

import (
	"fmt"
	"strings"

	"hippocampus/vectorstore"
)

// escaper makes text safe inside a double-quoted literal of a Milvus
// expression, which has no parameters.
var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)

// quote is the literal of s. Every value of every expression goes through it.
func quote(s string) string { return `"` + escaper.Replace(s) + `"` }

// in is the condition that a field has one of the values.
func in[T ~string](field string, values []T) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = quote(string(v))
	}
	return field + " in [" + strings.Join(quoted, ", ") + "]"
}

// filter is the condition of a query. The equality on user_id, the partition
// key, also confines the search to one partition.
func filter(q vectorstore.Query) string {
	all := []string{fieldUser + " == " + quote(q.Owner.UserID), fieldApp + " == " + quote(q.Owner.AppID)}
	if len(q.Domains) > 0 {
		all = append(all, in(fieldDomain, q.Domains))
	}
	if len(q.Types) > 0 {
		all = append(all, in(fieldType, q.Types))
	}
	if q.AgentID != "" {
		all = append(all, in(fieldAgent, []string{"", q.AgentID}))
	}
	if !q.Since.IsZero() {
		all = append(all, fmt.Sprintf("%s >= %d", fieldCreated, q.Since.UnixMilli()))
	}
	if !q.Until.IsZero() {
		all = append(all, fmt.Sprintf("%s < %d", fieldCreated, q.Until.UnixMilli()))
	}
	return strings.Join(all, " and ")
}
