package milvus

import (
	"context"
	"fmt"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
	"go.uber.org/zap"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Ensure makes the alias of the space lead to a loaded, indexed collection,
// creating what is absent. Several processes may do so at once, and a process
// that died half-way is caught up with. Errors as in Open.
func (s *Store) Ensure(ctx context.Context) error {
	_, err := s.ensure(ctx)
	return err
}

// ensure is Ensure, and reports whether the alias led nowhere before.
func (s *Store) ensure(ctx context.Context) (absent bool, err error) {
	select {
	case s.ensuring <- struct{}{}:
		defer func() { <-s.ensuring }()
	case <-ctx.Done():
		return false, memory.Errorf(memory.KindUnavailable, "waiting for the vector collection: %w", context.Cause(ctx))
	}

	found, err := s.describe(ctx, s.alias)
	if absent = refusedWith(err, codeCollectionNotFound); absent {
		if found, err = s.create(ctx); err == nil {
			s.losses.Add(1)
		}
	}
	if err != nil {
		return absent, err
	}
	if err := s.accept(found, s.alias); err != nil {
		return absent, err
	}
	if err := s.show(ctx, found.Name); err != nil {
		return absent, err
	}
	if err := s.index(ctx, found.Name); err != nil {
		return absent, err
	}
	if err := s.load(ctx, found.Name); err != nil {
		return absent, err
	}
	// The SDK keeps each described schema; without it the first caller's
	// deadline would hold for everybody who asks at the same time.
	_, err = s.describe(ctx, s.alias)
	return absent, err
}

// describe looks a collection up by its name or alias.
func (s *Store) describe(ctx context.Context, name string) (found *entity.Collection, err error) {
	err = s.call(ctx, s.options.Timeout, fmt.Sprintf("looking up the collection %q", name), func(ctx context.Context, _ string) error {
		found, err = s.client.DescribeCollection(ctx, name)
		return err
	})
	return found, err
}

// create makes the collection and the alias of the space. Where another process was faster
// with either, what it made is taken.
func (s *Store) create(ctx context.Context) (*entity.Collection, error) {
	name := collectionName(s.options.Collection, s.options.Space)
	if err := s.createCollection(ctx, name); err != nil {
		if _, absent := s.describe(ctx, name); absent != nil {
			return nil, err
		}
	}
	return s.lead(ctx, s.alias, name)
}

func (s *Store) createCollection(ctx context.Context, name string) error {
	return s.call(ctx, setupTimeout, fmt.Sprintf("creating the collection %q", name), func(ctx context.Context, _ string) error {
		return s.client.CreateCollection(ctx, newSchema(name, s.options.Space), 1,
			client.WithPartitionNum(int64(s.options.Partitions)),
			client.WithConsistencyLevel(entity.ClBounded),
			client.WithCollectionProperty(propertyModel, s.options.Space.Model))
	})
}

// moveAlias leads an alias, which exists, to the named collection.
func (s *Store) moveAlias(ctx context.Context, alias, name string) error {
	return s.call(ctx, setupTimeout, fmt.Sprintf("moving the alias %q", alias), func(ctx context.Context, _ string) error {
		return s.client.AlterAlias(ctx, name, alias)
	})
}

// lead leads an alias to the named collection, unless it leads to another that
// exists, and returns where it leads.
func (s *Store) lead(ctx context.Context, alias, name string) (*entity.Collection, error) {
	aliasErr := s.call(ctx, setupTimeout, fmt.Sprintf("creating the alias %q", alias), func(ctx context.Context, _ string) error {
		return s.client.CreateAlias(ctx, name, alias)
	})
	found, err := s.describe(ctx, alias)
	if aliasErr == nil || !refusedWith(err, codeCollectionNotFound) {
		return found, err
	}
	if !refusedWith(aliasErr, codeAliasExists) {
		return nil, aliasErr
	}
	// It outlived the collection that it led to.
	if err := s.moveAlias(ctx, alias, name); err != nil {
		return nil, err
	}
	return s.describe(ctx, alias)
}

// accept refuses what an alias leads to when it is not ours or not of our space.
func (s *Store) accept(found *entity.Collection, alias string) error {
	space, ours := spaceOf(found)
	if !ours || found.Name == alias {
		return notOurs(alias)
	}
	if space != s.options.Space {
		return vectorstore.SpaceConflict(fmt.Sprintf("the Milvus collection %q", found.Name), space, s.options.Space,
			fmt.Sprintf("drop the alias %q", alias))
	}
	return nil
}

func notOurs(alias string) error {
	return memory.Errorf(memory.KindConflict,
		"the Milvus collection %q was not made by Hippocampus: choose another MILVUS_MEMORY_COLLECTION, or rename that collection", alias)
}

// show leads the alias for people to the named collection where it leads
// nowhere, and refuses one that leads to a collection of somebody else.
func (s *Store) show(ctx context.Context, name string) error {
	shown, err := s.describe(ctx, s.options.Collection)
	if refusedWith(err, codeCollectionNotFound) {
		shown, err = s.lead(ctx, s.options.Collection, name)
	}
	if err != nil {
		return err
	}
	if _, ours := spaceOf(shown); !ours || shown.Name == s.options.Collection {
		return notOurs(s.options.Collection)
	}
	return nil
}

// Lead leads the alias for people to the collection of this space.
func (s *Store) Lead(ctx context.Context) error {
	found, err := s.describe(ctx, s.alias)
	if err != nil {
		return err
	}
	return s.moveAlias(ctx, s.options.Collection, found.Name)
}

// index adds the indexes that are absent: the vectors', and a scalar one of
// users, which halves the time of a search.
func (s *Store) index(ctx context.Context, collection string) error {
	vectors, err := newIndex(s.options.Index)
	if err != nil {
		return err
	}
	wanted := map[string]entity.Index{fieldEmbedding: vectors, fieldUser: entity.NewScalarIndexWithType(entity.Trie)}
	for field, index := range wanted {
		var found []entity.Index
		err := s.call(ctx, s.options.Timeout, "looking up the index of "+field, func(ctx context.Context, _ string) (err error) {
			found, err = s.client.DescribeIndex(ctx, collection, field)
			return err
		})
		switch {
		case err != nil && !refusedWith(err, codeIndexNotFound):
			return err
		case len(found) > 0:
			if field == fieldEmbedding && found[0].IndexType() != index.IndexType() {
				s.options.Logger.Warn("the vector collection keeps the index that it was created with: rebuild it to change that",
					zap.String("collection", collection), zap.String("index", string(found[0].IndexType())), zap.String("configured", s.options.Index))
			}
			continue
		}
		err = s.call(ctx, setupTimeout, "creating the index of "+field, func(ctx context.Context, _ string) error {
			return s.client.CreateIndex(ctx, collection, field, index, true, client.WithIndexName(field))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// load has Milvus hold the collection in memory, as searching requires.
func (s *Store) load(ctx context.Context, collection string) error {
	return s.call(ctx, setupTimeout, fmt.Sprintf("loading the collection %q", collection), func(ctx context.Context, _ string) error {
		state, err := s.client.GetLoadState(ctx, collection, nil)
		if err == nil && state == entity.LoadStateLoaded {
			return nil
		}
		return s.client.LoadCollection(ctx, collection, false)
	})
}
