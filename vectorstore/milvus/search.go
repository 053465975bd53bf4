package milvus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// The consistency levels in use. Strong waits 200 to 400 ms for all writes
// under way; Bounded answers in 2 ms and may miss the last seconds.
var (
	strong     = client.WithSearchQueryConsistencyLevel(entity.ClStrong)
	bounded    = client.WithSearchQueryConsistencyLevel(entity.ClBounded)
	eventually = client.WithSearchQueryConsistencyLevel(entity.ClEventually)
)

// minEF is the least size of the candidate list of an HNSW search (ef).
const minEF = 64

// Search finds the nearest records at Bounded consistency. Of records with equal
// similarity at the limit, an arbitrary subset is returned.
func (s *Store) Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	if err := vectorstore.CheckQuery(s.options.Space, q); err != nil {
		return nil, err
	}
	// FLAT has no parameters and ignores this one.
	ef, err := entity.NewIndexHNSWSearchParam(max(q.Limit, minEF))
	if err != nil {
		return nil, fmt.Errorf("searching vectors: %w", err)
	}
	var hits []vectorstore.Hit
	err = s.read(ctx, "searching vectors", func(ctx context.Context) error {
		results, err := s.client.Search(ctx, s.alias, nil, filter(q), nil,
			[]entity.Vector{entity.FloatVector(q.Embedding)}, fieldEmbedding, entity.COSINE, q.Limit, ef, bounded)
		if err != nil {
			return err
		}
		hits, err = hitsOf(results)
		return err
	})
	return hits, err
}

// hitsOf checks and orders the results of a search with one vector.
func hitsOf(results []client.SearchResult) ([]vectorstore.Hit, error) {
	if len(results) != 1 {
		return nil, fmt.Errorf("the answer has %d results for one vector", len(results))
	}
	result := results[0]
	ids, ok := result.IDs.(*entity.ColumnVarChar)
	switch {
	case result.Err != nil:
		return nil, result.Err
	case !ok || ids.Len() != len(result.Scores):
		return nil, errors.New("the ids of the answer do not match its scores")
	}
	hits := make([]vectorstore.Hit, ids.Len())
	for i, id := range ids.Data() {
		// Rounding may put the cosine of a vector with itself slightly above 1.
		hits[i] = vectorstore.Hit{ID: id, Similarity: max(-1, min(1, float64(result.Scores[i])))}
	}
	slices.SortFunc(hits, vectorstore.CompareHits)
	return hits, nil
}

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

// scannedFields are the fields that a scan reads, the texts first.
var scannedFields = []string{
	fieldID, fieldApp, fieldUser, fieldAgent, fieldDomain, fieldType, fieldContent, fieldCreated,
}

// Scan reads records at Strong consistency. Milvus merges the rows of its
// segments by primary key, so that a limit keeps the smallest ids.
func (s *Store) Scan(ctx context.Context, after string, limit int, f func(vectorstore.Record) error) error {
	return vectorstore.ScanPages(after, limit, func(after string, limit int) (page []vectorstore.Record, err error) {
		err = s.read(ctx, "scanning vectors", func(ctx context.Context) error {
			rows, err := s.client.Query(ctx, s.alias, nil, fieldID+" > "+quote(after), scannedFields, strong,
				client.WithLimit(int64(limit)))
			if err != nil {
				return err
			}
			page, err = recordsOf(rows)
			return err
		})
		slices.SortFunc(page, func(a, b vectorstore.Record) int { return cmp.Compare(a.ID, b.ID) })
		return page, err
	}, f)
}

// recordsOf makes records, without embeddings, from the columns of a query.
func recordsOf(rows client.ResultSet) ([]vectorstore.Record, error) {
	texts := make(map[string][]string, len(scannedFields))
	for _, field := range scannedFields[:len(scannedFields)-1] {
		column, ok := rows.GetColumn(field).(*entity.ColumnVarChar)
		if !ok {
			return nil, fmt.Errorf("the answer has no text column %s", field)
		}
		texts[field] = column.Data()
	}
	created, ok := rows.GetColumn(fieldCreated).(*entity.ColumnInt64)
	if !ok {
		return nil, fmt.Errorf("the answer has no integer column %s", fieldCreated)
	}
	for field, values := range texts {
		if len(values) != created.Len() {
			return nil, fmt.Errorf("the answer has %d values of %s for %d rows", len(values), field, created.Len())
		}
	}
	records := make([]vectorstore.Record, created.Len())
	for i, at := range created.Data() {
		records[i] = vectorstore.Record{
			ID:        texts[fieldID][i],
			Owner:     memory.Owner{AppID: texts[fieldApp][i], UserID: texts[fieldUser][i]},
			AgentID:   texts[fieldAgent][i],
			Domain:    memory.Domain(texts[fieldDomain][i]),
			Type:      memory.Type(texts[fieldType][i]),
			Content:   texts[fieldContent][i],
			CreatedAt: time.UnixMilli(at).UTC(),
		}
	}
	return records, nil
}
