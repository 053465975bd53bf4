package milvus

import (
	"context"
	"fmt"
	"strings"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Ensure points the alias of the space to a loaded, indexed collection and
// creates what is missing. Several processes may do so at once. It completes
// what a crashed process left unfinished. Errors as in Open.
func (s *Store) Ensure(ctx context.Context) error {
	select {
	case s.ensuring <- struct{}{}:
		defer func() { <-s.ensuring }()
	case <-ctx.Done():
		return memory.Errorf(memory.KindUnavailable, "waiting for the vector collection: %w", context.Cause(ctx))
	}

	found, err := s.describe(ctx, s.alias)
	if refusedWith(err, codeCollectionNotFound) {
		if found, err = s.create(ctx); err == nil {
			s.losses.Add(1)
		}
	}
	if err != nil {
		return err
	}
	if err := s.checkCollection(found, s.alias); err != nil {
		return err
	}
	if err := s.ensurePublicAlias(ctx, found.Name); err != nil {
		return err
	}
	if err := s.createIndexes(ctx, found.Name); err != nil {
		return err
	}
	if err := s.load(ctx, found.Name); err != nil {
		return err
	}
	// The SDK caches each described schema. Without the cache, the deadline of
	// the first caller would apply to all concurrent callers.
	_, err = s.describe(ctx, s.alias)
	return err
}

// describe looks a collection up by its name or alias.
func (s *Store) describe(ctx context.Context, name string) (found *entity.Collection, err error) {
	action := fmt.Sprintf("looking up the collection %q", name)
	err = s.call(ctx, s.options.Timeout, action, func(ctx context.Context) error {
		found, err = s.client.DescribeCollection(ctx, name)
		return err
	})
	return found, err
}

// create creates the collection and the alias of the space. If another process
// has created either in the meantime, create uses that.
func (s *Store) create(ctx context.Context) (*entity.Collection, error) {
	name := collectionName(s.options.Collection, s.options.Space)
	if err := s.createCollection(ctx, name); err != nil {
		if _, missing := s.describe(ctx, name); missing != nil {
			return nil, err
		}
	}
	return s.createAlias(ctx, s.alias, name)
}

func (s *Store) createCollection(ctx context.Context, name string) error {
	return s.call(ctx, setupTimeout, fmt.Sprintf("creating the collection %q", name), func(ctx context.Context) error {
		return s.client.CreateCollection(ctx, newSchema(name, s.options.Space), 1,
			client.WithPartitionNum(int64(s.options.Partitions)),
			client.WithConsistencyLevel(entity.ClBounded),
			client.WithCollectionProperty(propertyModel, s.options.Space.Model))
	})
}

// moveAlias points an existing alias to the named collection.
func (s *Store) moveAlias(ctx context.Context, alias, name string) error {
	return s.call(ctx, setupTimeout, fmt.Sprintf("moving the alias %q", alias), func(ctx context.Context) error {
		return s.client.AlterAlias(ctx, name, alias)
	})
}

// createAlias points an alias to the named collection, unless it points to
// another existing one, and returns the collection that it points to.
func (s *Store) createAlias(ctx context.Context, alias, name string) (*entity.Collection, error) {
	action := fmt.Sprintf("creating the alias %q", alias)
	aliasErr := s.call(ctx, setupTimeout, action, func(ctx context.Context) error {
		return s.client.CreateAlias(ctx, name, alias)
	})
	found, err := s.describe(ctx, alias)
	if aliasErr == nil || !refusedWith(err, codeCollectionNotFound) {
		return found, err
	}
	if !refusedWith(aliasErr, codeAliasExists) {
		return nil, aliasErr
	}
	// The alias exists, but its collection has been dropped.
	if err := s.moveAlias(ctx, alias, name); err != nil {
		return nil, err
	}
	return s.describe(ctx, alias)
}

// checkCollection refuses the collection of an alias if Hippocampus did not
// create it or it is for another space.
func (s *Store) checkCollection(found *entity.Collection, alias string) error {
	space, ours := spaceOf(found)
	if !ours || found.Name == alias {
		return foreignCollection(alias)
	}
	if space != s.options.Space {
		return vectorstore.SpaceConflict(fmt.Sprintf("the Milvus collection %q", found.Name), space, s.options.Space,
			fmt.Sprintf("drop the alias %q", alias))
	}
	return nil
}

func foreignCollection(alias string) error {
	return memory.Errorf(memory.KindConflict, "the Milvus collection %q was not created by Hippocampus: "+
		"choose another MILVUS_MEMORY_COLLECTION, or rename that collection", alias)
}

// ensurePublicAlias points the public alias to the named collection if it does
// not exist, and refuses it if it points to a collection of another program.
func (s *Store) ensurePublicAlias(ctx context.Context, name string) error {
	found, err := s.describe(ctx, s.options.Collection)
	if refusedWith(err, codeCollectionNotFound) {
		found, err = s.createAlias(ctx, s.options.Collection, name)
	}
	if err != nil {
		return err
	}
	if _, ours := spaceOf(found); !ours || found.Name == s.options.Collection {
		return foreignCollection(s.options.Collection)
	}
	return nil
}

// SetAlias points the public alias to the collection of this space.
func (s *Store) SetAlias(ctx context.Context) error {
	found, err := s.describe(ctx, s.alias)
	if err != nil {
		return err
	}
	return s.moveAlias(ctx, s.options.Collection, found.Name)
}

// createIndexes creates the missing indexes: one of the vectors, and a scalar one
// of the users, which halves the time of a search.
func (s *Store) createIndexes(ctx context.Context, collection string) error {
	vectors, err := newIndex(s.options.Index)
	if err != nil {
		return err
	}
	wanted := map[string]entity.Index{fieldEmbedding: vectors, fieldUser: entity.NewScalarIndexWithType(entity.Trie)}
	for field, index := range wanted {
		var found []entity.Index
		err := s.call(ctx, s.options.Timeout, "looking up the index of "+field, func(ctx context.Context) (err error) {
			found, err = s.client.DescribeIndex(ctx, collection, field)
			return err
		})
		switch {
		case err != nil && !refusedWith(err, codeIndexNotFound):
			return err
		case len(found) > 0:
			if field == fieldEmbedding && found[0].IndexType() != index.IndexType() {
				s.options.Logger.Warn("the vector collection keeps its index: rebuild it to use the configured one",
					zap.String("collection", collection), zap.String("index", string(found[0].IndexType())),
					zap.String("configured", s.options.Index))
			}
			continue
		}
		err = s.call(ctx, setupTimeout, "creating the index of "+field, func(ctx context.Context) error {
			return s.client.CreateIndex(ctx, collection, field, index, true, client.WithIndexName(field))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// loadAttempts is how often a collection is loaded while the parts of Milvus do not answer each other in time, as on a
// busy machine. Loading what is loaded already changes nothing.
const loadAttempts = 3

// load loads the collection into the memory of Milvus, which a search requires.
func (s *Store) load(ctx context.Context, collection string) (err error) {
	action := fmt.Sprintf("loading the collection %q", collection)
	for range loadAttempts {
		err = s.call(ctx, setupTimeout, action, func(ctx context.Context) error {
			state, err := s.client.GetLoadState(ctx, collection, nil)
			if err == nil && state == entity.LoadStateLoaded {
				return nil
			}
			return s.client.LoadCollection(ctx, collection, false)
		})
		if !refusedWith(err, codeUnexpected) || !strings.Contains(err.Error(), codes.DeadlineExceeded.String()) {
			break
		}
	}
	return err
}
