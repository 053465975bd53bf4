package milvus

import (
	"context"
	"fmt"
	"strings"

	"go.uber.org/zap"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Rebuild fills a collection of its own and moves the alias to it:
//
//	create, index, load -> fill -> all of it shows -> move the alias -> drop the old one
//
// It takes the layout from the options, a changed one too.
func (s *Store) Rebuild(ctx context.Context, fill func(ctx context.Context, into vectorstore.Writer) error) error {
	if err := s.Ensure(ctx); err != nil {
		return err
	}
	base := collectionName(s.options.Collection, s.options.Space)
	if err := s.dropOthers(ctx, base); err != nil {
		return err
	}
	id := memory.NewID()
	name := base + "_" + id[len(id)-8:]
	if err := s.createCollection(ctx, name); err != nil {
		return err
	}
	defer func() {
		if left := s.dropOthers(context.WithoutCancel(ctx), base); left != nil {
			s.options.Logger.Warn("vector collections that are not in use are left over: the next rebuild drops them", zap.Error(left))
		}
	}()
	if err := s.index(ctx, name); err != nil {
		return err
	}
	if err := s.load(ctx, name); err != nil {
		return err
	}
	into := &writer{s.client, s.options.Space, func(ctx context.Context, doing string, f func(context.Context, string) error) error {
		return s.call(ctx, s.options.Timeout, doing, func(ctx context.Context, _ string) error { return f(ctx, name) })
	}}
	if err := fill(ctx, into); err != nil {
		return err
	}
	// A Strong query waits for all that was written: from then on it shows at any level.
	if err := s.call(ctx, setupTimeout, "waiting for the rebuilt vectors", func(ctx context.Context, _ string) error {
		_, err := s.client.Query(ctx, name, nil, fieldID+` == ""`, []string{fieldID}, strong)
		return err
	}); err != nil {
		return err
	}
	if err := s.moveAlias(ctx, name); err != nil {
		// It may have been moved all the same, with only the answer lost.
		found, lost := s.describe(context.WithoutCancel(ctx), s.options.Collection)
		if lost != nil || found.Name != name {
			return err
		}
	}
	return nil
}

// dropOthers drops the collections of this alias and space that the alias does
// not lead to: those of before a rebuild, and of rebuilds that ended half-way.
func (s *Store) dropOthers(ctx context.Context, base string) error {
	var names []string
	err := s.call(ctx, s.options.Timeout, "listing the collections", func(ctx context.Context, _ string) error {
		all, err := s.client.ListCollections(ctx)
		names = nil
		for _, c := range all {
			if c.Name == base || strings.HasPrefix(c.Name, base+"_") {
				names = append(names, c.Name)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	used, err := s.describe(ctx, s.options.Collection)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name != used.Name {
			s.tryDrop(ctx, name)
		}
	}
	return nil
}

// tryDrop drops a collection that nothing leads to.
func (s *Store) tryDrop(ctx context.Context, name string) {
	err := s.call(ctx, setupTimeout, fmt.Sprintf("dropping the collection %q", name), func(ctx context.Context, _ string) error {
		return s.client.DropCollection(ctx, name)
	})
	if err != nil {
		s.options.Logger.Warn("a vector collection that is not in use could not be dropped", zap.String("collection", name), zap.Error(err))
	}
}
