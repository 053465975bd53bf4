package milvus

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
	"go.uber.org/zap"

	"hippocampus/vectorstore"
)

// The sizes of one message to Milvus, which accepts 64 MiB. Milvus splits each
// message by partition, so that few large messages are less work than many.
const (
	insertChunk = 1000     // records
	insertBytes = 32 << 20 // bytes of contents, vectors and otherBytes
	otherBytes  = 1 << 10  // bytes of the other fields of a record, at most
	deleteChunk = 512      // ids
)

// writer writes to one collection.
type writer struct {
	client     client.Client
	space      vectorstore.Space
	collection string // name or alias
	call       func(ctx context.Context, action string, f func(ctx context.Context) error) error
}

// writerTo returns a writer to a collection that is not in use.
func (s *Store) writerTo(collection string) *writer {
	call := func(ctx context.Context, action string, f func(ctx context.Context) error) error {
		return s.call(ctx, s.options.Timeout, action, f)
	}
	return &writer{client: s.client, space: s.options.Space, collection: collection, call: call}
}

// Insert adds records. After an error some of them may have been added; Replace
// then pushes them again.
func (w *writer) Insert(ctx context.Context, records []vectorstore.Record) error {
	if err := vectorstore.CheckRecords(w.space, records); err != nil {
		return err
	}
	return w.insert(ctx, records)
}

// Replace deletes the records' ids and inserts the records. Between the two
// steps a search may find neither version.
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

// Delete removes the records with these ids.
func (w *writer) Delete(ctx context.Context, ids []string) error {
	for chunk := range slices.Chunk(vectorstore.StorableIDs(ids), deleteChunk) {
		err := w.call(ctx, "deleting vectors", func(ctx context.Context) error {
			return w.client.Delete(ctx, w.collection, "", in(fieldID, chunk))
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
		err := w.call(ctx, "inserting vectors", func(ctx context.Context) error {
			inserted, err := w.client.Insert(ctx, w.collection, "", columns...)
			if err == nil && inserted.Len() != len(chunk) {
				err = fmt.Errorf("%d of %d rows were written", inserted.Len(), len(chunk))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// messages splits records, in order, into parts that fit one message each.
func messages(records []vectorstore.Record) iter.Seq[[]vectorstore.Record] {
	return func(yield func([]vectorstore.Record) bool) {
		begin, bytes := 0, 0
		for i, r := range records {
			size := len(r.Content) + 4*len(r.Embedding) + otherBytes
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

// callLoaded is call for a write. If the collection was replaced or released, it loads the present one and repeats the
// write once. A collection that was dropped stays missing (ErrGone): all records must be due before it exists again,
// otherwise a search would take the few records that are written next for all records.
func (s *Store) callLoaded(ctx context.Context, action string, f func(ctx context.Context) error) error {
	err := s.call(ctx, s.options.Timeout, action, f)
	if !isGone(err) {
		return err
	}
	if _, missing := s.describe(ctx, s.alias); errors.Is(missing, vectorstore.ErrGone) {
		return missing
	}
	s.options.Logger.Warn("the vector collection was replaced or released and is loaded again",
		zap.String("collection", s.alias), zap.Error(err))
	if err := s.Ensure(ctx); err != nil {
		return err
	}
	return s.call(ctx, s.options.Timeout, action, f)
}

// columnsOf turns records into one column for each field.
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
