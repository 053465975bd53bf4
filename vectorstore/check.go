package vectorstore

import (
	"fmt"
	"math"
	"slices"

	"hippocampus/internal/memory"
)

// The limits of what every store holds and answers.
const (
	MaxIDBytes    = 36    // a UUID in its canonical form
	MaxLimit      = 16384 // hits of one search
	maxLabelBytes = 64    // domain, type
)

// CheckRecords returns an error of KindInvalid that names each wrong field if a
// store of this space cannot hold the records. Ids must not repeat.
func CheckRecords(space Space, records []Record) error {
	var wrong memory.Fields
	seen := make(map[string]bool, len(records))
	for i, r := range records {
		check := func(field, why string) {
			if why != "" { // formats the path of a wrong field only
				wrong.Add(fmt.Sprintf("records[%d].%s", i, field), why)
			}
		}
		check("id", checkRecordID(r.ID))
		if seen[r.ID] {
			check("id", "repeats the id of an earlier record")
		}
		seen[r.ID] = true
		check("app_id", memory.CheckID(r.AppID, false))
		check("user_id", memory.CheckUser(r.UserID))
		check("agent_id", memory.CheckID(r.AgentID, true))
		check("domain", checkLabel(string(r.Domain)))
		check("type", checkLabel(string(r.Type)))
		check("content", memory.CheckContent(r.Content, memory.MaxContentRunes))
		check("embedding", checkEmbedding(space, r.Embedding))
		check("space", checkSpace(space, r.Space))
	}
	return wrong.Err()
}

// CheckQuery returns an error of KindInvalid if a store of this space cannot
// answer the query.
func CheckQuery(space Space, q Query) error {
	var wrong memory.Fields
	wrong.Add("app_id", memory.CheckID(q.Owner.AppID, false))
	wrong.Add("user_id", memory.CheckUser(q.Owner.UserID))
	wrong.Add("agent_id", memory.CheckID(q.AgentID, true))
	for i, d := range q.Domains {
		wrong.Add(fmt.Sprintf("domains[%d]", i), checkLabel(string(d)))
	}
	for i, t := range q.Types {
		wrong.Add(fmt.Sprintf("types[%d]", i), checkLabel(string(t)))
	}
	if q.Limit < 1 || q.Limit > MaxLimit {
		wrong.Add("limit", fmt.Sprintf("is %d: give 1 to %d", q.Limit, MaxLimit))
	}
	wrong.Add("embedding", checkEmbedding(space, q.Embedding))
	wrong.Add("space", checkSpace(space, q.Space))
	return wrong.Err()
}

// checkScan returns an error of KindInvalid if a scan has wrong arguments.
func checkScan(after string, limit int) error {
	var wrong memory.Fields
	if after != "" {
		wrong.Add("after", checkRecordID(after))
	}
	if limit < 1 {
		wrong.Add("limit", fmt.Sprintf("is %d: give at least 1", limit))
	}
	return wrong.Err()
}

// CheckOwner returns an error of KindInvalid if no record can have this owner.
func CheckOwner(owner memory.Owner) error {
	var wrong memory.Fields
	wrong.Add("app_id", memory.CheckID(owner.AppID, false))
	wrong.Add("user_id", memory.CheckUser(owner.UserID))
	return wrong.Err()
}

// StorableIDs returns the ids that a record can have.
func StorableIDs(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return checkRecordID(id) != "" })
}

// SpaceConflict is the error, of KindConflict, of opening a store that holds
// vectors of another space. place names the store; remedy completes the sentence
// "set the embedding model back, or".
func SpaceConflict(place string, found, configured Space, remedy string) error {
	return memory.Errorf(memory.KindConflict,
		"%s holds vectors of the embedding model %q (%d numbers), but the configured one is %q (%d numbers): "+
			"set the embedding model back, or %s",
		place, found.Model, found.Dim, configured.Model, configured.Dim, remedy)
}

func checkRecordID(id string) string {
	if len(id) > MaxIDBytes {
		return fmt.Sprintf("has %d bytes: at most %d are allowed", len(id), MaxIDBytes)
	}
	return memory.CheckID(id, false)
}

func checkLabel(s string) string {
	if len(s) > maxLabelBytes {
		return fmt.Sprintf("has %d bytes: at most %d are allowed", len(s), maxLabelBytes)
	}
	return memory.CheckID(s, true)
}

// checkEmbedding refuses vectors without a direction, since they have no cosine.
func checkEmbedding(space Space, v []float32) string {
	if len(v) != space.Dim {
		return fmt.Sprintf("has %d numbers: this store holds vectors of %d", len(v), space.Dim)
	}
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 || math.IsNaN(square) || math.IsInf(square, 0) {
		return "is zero or not finite: give a unit vector"
	}
	return ""
}

func checkSpace(space, given Space) string {
	if given != space && given != (Space{}) {
		return fmt.Sprintf("is %s with %d numbers: this store holds vectors of %s with %d",
			given.Model, given.Dim, space.Model, space.Dim)
	}
	return ""
}
