package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// end ends the conversation, so that a summary is made of it.
func (k *talk) end(*rapid.T) {
	ended := k.ask("POST", "/v1/conversations/c-"+k.user+"/end", object{"user_id": k.user, "wait": true}, 200, 404)
	k.did = append(k.did, fmt.Sprintf("end the conversation: %d", ended.status))
}

// derive makes an insight of a fact, as a reflection does.
func (k *talk) derive(rt *rapid.T) {
	facts := slices.DeleteFunc(k.listed("active"), func(m object) bool { return m["type"] != "fact" })
	if len(facts) == 0 {
		return
	}
	slices.SortFunc(facts, func(a, b object) int { return strings.Compare(order(a), order(b)) })
	fact := facts[rapid.IntRange(0, len(facts)-1).Draw(rt, "fact")]
	for _, value := range slices.Concat(someHomes, someLoves) {
		if strings.Contains(fact["content"].(string), value) {
			k.notes++
			insight := maps.Clone(fact)
			insight["id"], insight["type"] = uuid.Must(uuid.NewV7()).String(), "reflection"
			insight["content"] = fmt.Sprintf("Insight %d is about %s.", k.notes, value)
			relation := object{
				"from": insight["id"], "to": fact["id"], "kind": "derived_from", "created_at": insight["created_at"],
			}
			k.ask("POST", "/v1/import", exported(k.T, object{
				"memory": insight, "events": []object{}, "relations": []object{relation},
			}), 200)
			k.did = append(k.did, fmt.Sprintf("derive %q", insight["content"]))
			return
		}
	}
}

// exported is an export of one line.
func exported(t rapid.TB, line object) string {
	var lines strings.Builder
	encoder := json.NewEncoder(&lines)
	for _, line := range []any{
		object{"format": "hippocampus-export", "version": 2, "exported_at": minutes(0)}, line, object{"end": object{}},
	} {
		if err := encoder.Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	return lines.String()
}

// isMadeOfOthers reports whether a memory is the assistant's, a summary or an insight.
func isMadeOfOthers(m object) bool {
	return m["said_by"] == "assistant" || m["type"] == "summary" || m["type"] == "reflection"
}
