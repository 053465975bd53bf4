package milvus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// scanPage is how many records one query of a scan brings: 16 MB of the
// longest contents.
const scanPage = 1000

// scanned are the fields that a scan reads.
var scanned = []string{fieldID, fieldApp, fieldUser, fieldAgent, fieldDomain, fieldType, fieldContent, fieldCreated}

// Scan reads records in id order at Strong consistency, page by page. An error
// of f ends it and is returned as it is.
func (s *Store) Scan(ctx context.Context, after string, limit int, f func(vectorstore.Record) error) error {
	if err := vectorstore.CheckScan(after, limit); err != nil {
		return err
	}
	for limit > 0 {
		page, err := s.page(ctx, after, min(limit, scanPage))
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := f(r); err != nil {
				return err
			}
			after = r.ID
		}
		limit -= len(page)
		if len(page) < scanPage {
			return nil
		}
	}
	return nil
}

// page reads the first records after an id. Milvus merges the rows of its
// segments by primary key, so that a limit keeps the least ids.
func (s *Store) page(ctx context.Context, after string, limit int) ([]vectorstore.Record, error) {
	var records []vectorstore.Record
	err := s.read(ctx, "scanning vectors", func(ctx context.Context, collection string) error {
		rows, err := s.client.Query(ctx, collection, nil, fieldID+" > "+quote(after), scanned, strong, client.WithLimit(int64(limit)))
		if err != nil {
			return err
		}
		records, err = recordsOf(rows)
		return err
	})
	slices.SortFunc(records, func(a, b vectorstore.Record) int { return cmp.Compare(a.ID, b.ID) })
	return records, err
}

// recordsOf turns the columns of a query back into records without embeddings.
func recordsOf(rows client.ResultSet) ([]vectorstore.Record, error) {
	texts := make(map[string][]string, len(scanned))
	for _, field := range scanned[:len(scanned)-1] {
		column, ok := rows.GetColumn(field).(*entity.ColumnVarChar)
		if !ok {
			return nil, fmt.Errorf("no texts came back for %s", field)
		}
		texts[field] = column.Data()
	}
	created, ok := rows.GetColumn(fieldCreated).(*entity.ColumnInt64)
	if !ok {
		return nil, fmt.Errorf("no numbers came back for %s", fieldCreated)
	}
	for field, values := range texts {
		if len(values) != created.Len() {
			return nil, fmt.Errorf("%d values of %s came back for %d rows", len(values), field, created.Len())
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
