package milvus

import (
	"context"
	"fmt"
	"slices"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"
	"go.uber.org/zap"

	"hippocampus/vectorstore"
)

// The sizes of one message to Milvus. 256 records of the longest content and
// 4,096 numbers are 9 MB; Milvus takes 64.
const (
	insertChunk = 256
	deleteChunk = 512
)

// Insert adds records. On an error some of them may have been added: push them
// again by Replace.
func (s *Store) Insert(ctx context.Context, records []vectorstore.Record) error {
	if err := vectorstore.CheckRecords(s.options.Space, records); err != nil {
		return err
	}
	return s.insert(ctx, records)
}

// Replace deletes the records' ids and inserts them. Between the two steps a
// search may find neither state.
func (s *Store) Replace(ctx context.Context, records []vectorstore.Record) error {
	if err := vectorstore.CheckRecords(s.options.Space, records); err != nil {
		return err
	}
	ids := make([]string, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	if err := s.Delete(ctx, ids); err != nil {
		return err
	}
	return s.insert(ctx, records)
}

// Delete removes the records of these ids.
func (s *Store) Delete(ctx context.Context, ids []string) error {
	for chunk := range slices.Chunk(vectorstore.StorableIDs(ids), deleteChunk) {
		err := s.write(ctx, "deleting vectors", func(ctx context.Context, collection string) error {
			return s.client.Delete(ctx, collection, "", in(fieldID, chunk))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) insert(ctx context.Context, records []vectorstore.Record) error {
	for chunk := range slices.Chunk(records, insertChunk) {
		columns := columnsOf(s.options.Space, chunk)
		err := s.write(ctx, "inserting vectors", func(ctx context.Context, collection string) error {
			taken, err := s.client.Insert(ctx, collection, "", columns...)
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

// write is call for a change. A collection that was dropped or released
// meanwhile is ensured once; after a drop it holds only what is written from
// here on, until the vectors are rebuilt.
func (s *Store) write(ctx context.Context, doing string, f func(ctx context.Context, collection string) error) error {
	err := s.call(ctx, s.options.Timeout, doing, f)
	if !refusedWith(err, codeCollectionNotFound, codeCollectionNotLoaded) {
		return err
	}
	s.options.Logger.Warn("the vector collection was dropped or released and is ensured again: if it was dropped, rebuild the vectors",
		zap.String("collection", s.options.Collection), zap.Error(err))
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
