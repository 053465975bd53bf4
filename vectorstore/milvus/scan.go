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
