package milvus

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Rebuild fills a new collection and moves the alias to it:
//
//	create, index, load -> fill -> wait until searches find everything -> move the aliases -> drop the old one
//
// The new collection has the layout of the options, which may have changed.
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
		if err := s.dropOthers(context.WithoutCancel(ctx)); err != nil {
			s.options.Logger.Warn("unused vector collections are left behind: the next rebuild drops them", zap.Error(err))
		}
	}()
	if err := s.createIndexes(ctx, name); err != nil {
		return err
	}
	if err := s.load(ctx, name); err != nil {
		return err
	}
	if err := fill(ctx, s.writerTo(name)); err != nil {
		return err
	}
	// A Strong query waits for all writes: after it, queries of any level see them.
	err := s.call(ctx, setupTimeout, "waiting for the rebuilt vectors", func(ctx context.Context) error {
		_, err := s.client.Query(ctx, name, nil, fieldID+` == ""`, []string{fieldID}, strong)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.moveAlias(ctx, s.alias, name); err != nil {
		// The alias may have been moved even so, if only the answer was lost.
		found, lookupErr := s.describe(context.WithoutCancel(ctx), s.alias)
		if lookupErr != nil || found.Name != name {
			return err
		}
	}
	public, err := s.describe(ctx, s.options.Collection)
	if err == nil {
		if space, _ := spaceOf(public); space == s.options.Space {
			err = s.moveAlias(ctx, s.options.Collection, name)
		}
	}
	if err != nil { // Hippocampus does not use the public alias
		s.options.Logger.Warn("the public alias could not be moved to the rebuilt vectors",
			zap.String("alias", s.options.Collection), zap.Error(err))
	}
	return nil
}

// Drop drops the collections of the space and its alias, and closes the store.
func (s *Store) Drop(ctx context.Context) error {
	err := s.call(ctx, setupTimeout, fmt.Sprintf("dropping the alias %q", s.alias), func(ctx context.Context) error {
		return s.client.DropAlias(ctx, s.alias)
	})
	if err != nil {
		if _, missing := s.describe(ctx, s.alias); !refusedWith(missing, codeCollectionNotFound) {
			return err
		}
	}
	base := collectionName(s.options.Collection, s.options.Space)
	names, err := s.collectionsNamed(ctx, base)
	if err != nil {
		return err
	}
	for _, name := range names {
		s.tryDrop(ctx, name)
	}
	if names, err = s.collectionsNamed(ctx, base); err == nil && len(names) > 0 {
		err = memory.Errorf(memory.KindUnavailable, "the Milvus collections %q could not be dropped", names)
	}
	if err != nil {
		return err
	}
	return s.Close()
}

// dropOthers drops the collections of this space that its alias does not point
// to: replaced ones, and those of unfinished rebuilds.
func (s *Store) dropOthers(ctx context.Context) error {
	names, err := s.collectionsNamed(ctx, collectionName(s.options.Collection, s.options.Space))
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

// tryDrop drops an unused collection and logs an error.
func (s *Store) tryDrop(ctx context.Context, name string) {
	err := s.call(ctx, setupTimeout, fmt.Sprintf("dropping the collection %q", name), func(ctx context.Context) error {
		return s.client.DropCollection(ctx, name)
	})
	if err != nil {
		s.options.Logger.Warn("an unused vector collection could not be dropped",
			zap.String("collection", name), zap.Error(err))
	}
}
