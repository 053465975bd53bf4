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
//	create, index, load -> fill -> all of it shows -> move the aliases -> drop the old one
//
// It takes the layout from the options, a changed one too.
func (s *Store) Rebuild(ctx context.Context, fill func(ctx context.Context, into vectorstore.Writer) error) error {
	if err := s.Ensure(ctx); err != nil {
		return err
	}
	if err := s.dropOthers(ctx); err != nil {
		return err
	}
	id := memory.NewID()
	name := collectionName(s.options.Collection, s.options.Space) + "_" + id[len(id)-8:]
	if err := s.createCollection(ctx, name); err != nil {
		return err
	}
	defer func() {
		if left := s.dropOthers(context.WithoutCancel(ctx)); left != nil {
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
	if err := s.moveAlias(ctx, s.alias, name); err != nil {
		// It may have been moved all the same, with only the answer lost.
		found, lost := s.describe(context.WithoutCancel(ctx), s.alias)
		if lost != nil || found.Name != name {
			return err
		}
	}
	shown, err := s.describe(ctx, s.options.Collection)
	if err == nil {
		if space, _ := spaceOf(shown); space == s.options.Space {
			err = s.moveAlias(ctx, s.options.Collection, name)
		}
	}
	if err != nil { // nothing of ours goes by it
		s.options.Logger.Warn("the alias for people could not be moved to the rebuilt vectors", zap.String("alias", s.options.Collection), zap.Error(err))
	}
	return nil
}

// Drop drops the collections of the space and its alias, and closes the store.
func (s *Store) Drop(ctx context.Context) error {
	err := s.call(ctx, setupTimeout, fmt.Sprintf("dropping the alias %q", s.alias), func(ctx context.Context, alias string) error {
		return s.client.DropAlias(ctx, alias)
	})
	if err != nil {
		if _, absent := s.describe(ctx, s.alias); !refusedWith(absent, codeCollectionNotFound) {
			return err
		}
	}
	names, err := s.ofSpace(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		s.tryDrop(ctx, name)
	}
	if names, err = s.ofSpace(ctx); err == nil && len(names) > 0 {
		err = memory.Errorf(memory.KindUnavailable, "the Milvus collections %q could not be dropped", names)
	}
	if err != nil {
		return err
	}
	return s.Close()
}

// dropOthers drops the collections of this space that its alias does not lead
// to: those of before a rebuild, and of rebuilds that ended half-way.
func (s *Store) dropOthers(ctx context.Context) error {
	names, err := s.ofSpace(ctx)
	if err != nil {
		return err
	}
	used, err := s.describe(ctx, s.alias)
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

// ofSpace lists the collections of this space.
func (s *Store) ofSpace(ctx context.Context) (names []string, err error) {
	base := collectionName(s.options.Collection, s.options.Space)
	err = s.call(ctx, s.options.Timeout, "listing the collections", func(ctx context.Context, _ string) error {
		all, err := s.client.ListCollections(ctx)
		names = nil
		for _, c := range all {
			if c.Name == base || strings.HasPrefix(c.Name, base+"_") {
				names = append(names, c.Name)
			}
		}
		return err
	})
	return names, err
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
