package milvus

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
	"go.uber.org/zap"

	"hippocampus/vectorstore"
)

// The sizes of one message to Milvus, which takes 64 MiB. It makes one of its
// own for each partition that a message writes to, so that few large ones are
// less work than many.
const (
	insertChunk = 1000     // records
	insertBytes = 32 << 20 // of their contents, vectors and bytesBeside
	bytesBeside = 1 << 10  // of the other fields of a record, at most
	deleteChunk = 512
)

// writer writes to one collection, by its name or its alias.
type writer struct {
	client client.Client
	space  vectorstore.Space
	// write runs one change, telling f the collection.
	write func(ctx context.Context, doing string, f func(ctx context.Context, collection string) error) error
}

// Insert adds records. On an error some of them may have been added: push them
// again by Replace.
func (w *writer) Insert(ctx context.Context, records []vectorstore.Record) error {
	if err := vectorstore.CheckRecords(w.space, records); err != nil {
		return err
	}
	return w.insert(ctx, records)
}

// Replace deletes the records' ids and inserts them. Between the two steps a
// search may find neither state.
func (w *writer) Replace(ctx context.Context, records []vectorstore.Record) error {
	if err := vectorstore.CheckRecords(w.space, records); err != nil {
		return err
	}
	ids := make([]string, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	if err := w.Delete(ctx, ids); err != nil {
		return err
	}
	return w.insert(ctx, records)
}

// Delete removes the records of these ids.
func (w *writer) Delete(ctx context.Context, ids []string) error {
	for chunk := range slices.Chunk(vectorstore.StorableIDs(ids), deleteChunk) {
		err := w.write(ctx, "deleting vectors", func(ctx context.Context, collection string) error {
			return w.client.Delete(ctx, collection, "", in(fieldID, chunk))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) insert(ctx context.Context, records []vectorstore.Record) error {
	for chunk := range messages(records) {
		columns := columnsOf(w.space, chunk)
		err := w.write(ctx, "inserting vectors", func(ctx context.Context, collection string) error {
			taken, err := w.client.Insert(ctx, collection, "", columns...)
			if err == nil && taken.Len() != len(chunk) {
				err = fmt.Errorf("%d of %d rows were taken", taken.Len(), len(chunk))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// messages cuts records, in order, into the parts that are one message each.
func messages(records []vectorstore.Record) iter.Seq[[]vectorstore.Record] {
	return func(yield func([]vectorstore.Record) bool) {
		begin, bytes := 0, 0
		for i, r := range records {
			size := len(r.Content) + 4*len(r.Embedding) + bytesBeside
			if i > begin && (i-begin == insertChunk || bytes+size > insertBytes) {
				if !yield(records[begin:i]) {
					return
				}
				begin, bytes = i, 0
			}
			bytes += size
		}
		if begin < len(records) {
			yield(records[begin:])
		}
	}
}

// ensured is call for a change. A collection that was dropped or released
// meanwhile is ensured once; after a drop (see Losses) it holds only what is
// written from here on, until everything is pushed again.
func (s *Store) ensured(ctx context.Context, doing string, f func(ctx context.Context, collection string) error) error {
	err := s.call(ctx, s.options.Timeout, doing, f)
	if !gone(err) {
		return err
	}
	s.options.Logger.Warn("the vector collection was dropped, replaced or released and is ensured again",
		zap.String("collection", s.alias), zap.Error(err))
	if err := s.Ensure(ctx); err != nil {
		return err
	}
	return s.call(ctx, s.options.Timeout, doing, f)
}

// columnsOf turns records into one column a field.
func columnsOf(space vectorstore.Space, records []vectorstore.Record) []entity.Column {
	text := func(field string, of func(vectorstore.Record) string) entity.Column {
		values := make([]string, len(records))
		for i, r := range records {
			values[i] = of(r)
		}
		return entity.NewColumnVarChar(field, values)
	}
	embeddings, created := make([][]float32, len(records)), make([]int64, len(records))
	for i, r := range records {
		embeddings[i], created[i] = r.Embedding, r.CreatedAt.UnixMilli()
	}
	return []entity.Column{
		text(fieldID, func(r vectorstore.Record) string { return r.ID }),
		entity.NewColumnFloatVector(fieldEmbedding, space.Dim, embeddings),
		text(fieldApp, func(r vectorstore.Record) string { return r.AppID }),
		text(fieldUser, func(r vectorstore.Record) string { return r.UserID }),
		text(fieldAgent, func(r vectorstore.Record) string { return r.AgentID }),
		text(fieldDomain, func(r vectorstore.Record) string { return string(r.Domain) }),
		text(fieldType, func(r vectorstore.Record) string { return string(r.Type) }),
		text(fieldContent, func(r vectorstore.Record) string { return r.Content }),
		entity.NewColumnInt64(fieldCreated, created),
	}
}
