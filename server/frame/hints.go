package frame

import (
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"hippocampus/internal/nearest"
)

// otherNames maps names that clients of other servers use, in lower case without separators, to ours. The first of our
// names that is known is suggested.
var otherNames = map[string][]string{
	"topk": {"limit"}, "k": {"limit"}, "n": {"limit"}, "maxresults": {"limit"}, "numresults": {"limit"},
	"pagesize": {"limit"}, "q": {"query"}, "question": {"query"}, "prompt": {"query"}, "search": {"query"},
	"input": {"query", "content"}, "text": {"query", "content"}, "memory": {"content"}, "data": {"content"},
	"fact": {"content"}, "user": {"user_id"}, "uid": {"user_id"}, "groupid": {"user_id"}, "containertag": {"user_id"},
	"agent": {"agent_id"}, "sessionid": {"conversation_id"}, "threadid": {"conversation_id"},
	"runid": {"conversation_id"}, "chatid": {"conversation_id"}, "timestamp": {"at"}, "createdat": {"at"},
	"date": {"at", "since"}, "score": {"importance"}, "threshold": {"min_confidence"}, "minscore": {"min_confidence"},
	"category": {"domain", "domains"}, "categories": {"domains", "tags"}, "filters": {"filter"}, "turnid": {"id"},
	"timezone": {"time_zone"}, "tz": {"time_zone"}, "maxtokens": {"max_tokens"}, "before": {"until"}, "after": {"since"},
}

// longestName is the greatest length, in bytes, of a name that is compared with others.
const longestName = 64

// hintAt returns the end of a message about a field or parameter that does not exist: what was probably meant, such as
// ": did you mean user_id?", or "".
func hintAt(name string, known []string) string {
	if len(name) > longestName {
		return ""
	}
	if name == "messages" && slices.Contains(known, "content") {
		return ": a list of messages is a turn, send it to POST /v1/turns"
	}
	plain := withoutSeparators(name)
	for _, candidate := range known {
		if withoutSeparators(candidate) == plain {
			return ": did you mean " + candidate + "?"
		}
	}
	for _, ours := range otherNames[plain] {
		if slices.Contains(known, ours) {
			return ": did you mean " + ours + "?"
		}
	}
	if near := nearest.Name(name, known); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

func withoutSeparators(name string) string { return separators.Replace(strings.ToLower(name)) }

// propertiesOf lists the names of a schema's fields by alphabet.
func propertiesOf(schema *openapi3.Schema) []string {
	return slices.Sorted(maps.Keys(schema.Properties))
}
