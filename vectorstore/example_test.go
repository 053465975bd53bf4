package vectorstore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"hippocampus/internal/bilingual"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/sqlitevec"
)

// A store is opened for the space of one embedder. Records and queries carry
// vectors of that embedder, and a search finds records of one owner only.
func ExampleStore() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "vectors")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	embedder := bilingual.New()
	store, err := sqlitevec.Open(ctx, sqlitevec.Options{
		Path: filepath.Join(dir, "vectors.db"), Space: llm.SpaceOf(embedder),
	})
	if err != nil {
		panic(err)
	}
	defer store.Close()

	ada := memory.Owner{AppID: "app", UserID: "ada"}
	contents := []string{"Ada adopted a puppy.", "Ada works in a factory."}
	vectors, err := embedder.Embed(ctx, llm.ForDocument, contents)
	if err != nil {
		panic(err)
	}
	var records []vectorstore.Record
	byID := map[string]string{}
	for i, content := range contents {
		m := memory.Memory{ID: memory.NewID(), Owner: ada, Content: content, Embedding: vectors[i]}
		records = append(records, vectorstore.RecordOf(m))
		byID[m.ID] = content
	}
	if err := store.Insert(ctx, records); err != nil {
		panic(err)
	}

	query, err := embedder.Embed(ctx, llm.ForQuery, []string{"Does she have a dog?"})
	if err != nil {
		panic(err)
	}
	hits, err := store.Search(ctx, vectorstore.Query{Owner: ada, Embedding: query[0], Limit: 1})
	if err != nil {
		panic(err)
	}
	for _, hit := range hits {
		fmt.Println(byID[hit.ID])
	}
	// Output: Ada adopted a puppy.
}
