package db

import (
	"context"
	"iter"

	"hippocampus/internal/memory"
)

// All iterates over a list that is read in pages. list returns at most limit
// items after the given one; the zero T asks for the first page. An error of
// list is the last thing that is yielded.
func All[T any](limit int, list func(after T, limit int) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var last T
		for {
			page, err := list(last, limit)
			if err != nil {
				yield(last, err)
				return
			}
			for _, last = range page {
				if !yield(last, nil) {
					return
				}
			}
			if len(page) < limit {
				return
			}
		}
	}
}

// MemoryLister is the part of Reads that ActiveMemories needs.
type MemoryLister interface {
	ListMemories(ctx context.Context, f MemoryFilter) ([]memory.Memory, error)
}

// ActiveMemories iterates over an owner's active memories, newest first.
func ActiveMemories(ctx context.Context, records MemoryLister, owner memory.Owner) iter.Seq2[memory.Memory, error] {
	return All(memory.MaxPage, func(after memory.Memory, limit int) ([]memory.Memory, error) {
		f := MemoryFilter{Owner: owner, Statuses: []memory.Status{memory.Active}, Limit: limit}
		if after.ID != "" {
			f.Before = &Position{At: after.CreatedAt, ID: after.ID}
		}
		return records.ListMemories(ctx, f)
	})
}
