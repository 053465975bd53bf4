package main

import (
	"context"
	"path/filepath"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/milvus"
	"hippocampus/vectorstore/pgvector"
	"hippocampus/vectorstore/sqlitevec"
)

// scripted is the embedding space of the model endpoint.
var scripted = vectorstore.Space{Model: "scripted", Dim: llmtest.Dim}

// vectors reads all records of the vector store, not through the proxies.
func (k *keeper) vectors(ctx context.Context) (all []Vector, err error) {
	store, err := k.openVectors(ctx)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	const page = 1000
	for after := ""; ; after = all[len(all)-1].ID {
		before := len(all)
		if err := store.Scan(ctx, after, page, func(r vectorstore.Record) error {
			all = append(all, Vector{ID: r.ID, User: r.UserID})
			return nil
		}); err != nil {
			return nil, err
		}
		if len(all)-before < page {
			return all, nil
		}
	}
}

func (k *keeper) openVectors(ctx context.Context) (vectorstore.Store, error) {
	switch {
	case k.stores.Milvus != "":
		return milvus.Open(ctx, milvus.Options{
			Addr: k.stores.Milvus, Collection: k.stores.Collection, Space: scripted, Partitions: 4, Timeout: time.Minute,
		})
	case k.stores.Database != "":
		return pgvector.Open(ctx,
			pgvector.Options{URL: k.stores.Database, Space: scripted, Timeout: time.Minute, Plain: true})
	}
	return sqlitevec.Open(ctx, sqlitevec.Options{
		Path: filepath.Join(k.folder, "data", sqlitevec.FileName(scripted)), Space: scripted,
	})
}
