package milvus

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// DeleteOwner removes the owner's records from every collection of Hippocampus.
// It looks their ids up at Strong consistency and deletes by id: Milvus would
// evaluate a delete by another field at a weaker level.
func (s *Store) DeleteOwner(ctx context.Context, owner memory.Owner) (deleted int, err error) {
	err = s.eachOwned(ctx, owner, func(collection string, ids []string) error {
		deleted += len(ids)
		return s.writerTo(collection).Delete(ctx, ids)
	})
	return deleted, err
}

// CountOwner counts the ids of the owner's records in every collection of
// Hippocampus: the count that Milvus offers includes deleted records.
func (s *Store) CountOwner(ctx context.Context, owner memory.Owner) (held int, err error) {
	err = s.eachOwned(ctx, owner, func(_ string, ids []string) error {
		held += len(ids)
		return nil
	})
	return held, err
}

// eachOwned calls f with each page of ids of the owner's records in each collection.
func (s *Store) eachOwned(
	ctx context.Context, owner memory.Owner, f func(collection string, ids []string) error,
) error {
	if err := vectorstore.CheckOwner(owner); err != nil {
		return err
	}
	collections, err := s.collections(ctx)
	if err != nil {
		return err
	}
	for _, name := range collections {
		for after, more := "", true; more; {
			ids, err := s.ownedIDs(ctx, name, owner, after)
			if err == nil && len(ids) > 0 {
				after = ids[len(ids)-1]
				err = f(name, ids)
			}
			more = err == nil && len(ids) == ownedPage
			// A collection that was dropped in the meantime holds no records.
			if err != nil && !refusedWith(err, codeCollectionNotFound) {
				return err
			}
		}
	}
	return nil
}

// ownedPage is how many ids of an owner's records are read at once.
const ownedPage = 1000

// ownedIDs reads a page of the ids of the owner's records in one collection. It
// first loads a collection that a rebuild left unfinished or that was released.
func (s *Store) ownedIDs(
	ctx context.Context, collection string, owner memory.Owner, after string,
) (ids []string, err error) {
	condition := filter(vectorstore.Query{Owner: owner}) + " and " + fieldID + " > " + quote(after)
	query := func(ctx context.Context) error {
		rows, err := s.client.Query(ctx, collection, nil, condition, []string{fieldID}, strong, client.WithLimit(ownedPage))
		if err != nil {
			return err
		}
		column, ok := rows.GetColumn(fieldID).(*entity.ColumnVarChar)
		if !ok {
			return fmt.Errorf("the answer has no text column %s", fieldID)
		}
		ids = slices.Sorted(slices.Values(column.Data()))
		return nil
	}
	const action = "looking up a user's vectors"
	err = s.read(ctx, action, query)
	if refusedWith(err, codeCollectionNotLoaded) {
		if err = s.createIndexes(ctx, collection); err == nil {
			err = s.load(ctx, collection)
		}
		if err == nil {
			err = s.read(ctx, action, query)
		}
	}
	return ids, err
}

// collections lists the collections of every space: those in use, those that
// are being filled, and those that were left behind.
func (s *Store) collections(ctx context.Context) (names []string, err error) {
	all, err := s.collectionsNamed(ctx, s.options.Collection)
	if err != nil {
		return nil, err
	}
	for _, name := range all {
		found, err := s.describe(ctx, name)
		if refusedWith(err, codeCollectionNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		space, ours := spaceOf(found)
		if ours && hasBase(name, collectionName(s.options.Collection, space)) {
			names = append(names, name)
		}
	}
	return names, nil
}

// collectionsNamed lists the collections whose names are the base or extend it.
func (s *Store) collectionsNamed(ctx context.Context, base string) (names []string, err error) {
	err = s.call(ctx, s.options.Timeout, "listing the collections", func(ctx context.Context) error {
		all, err := s.client.ListCollections(ctx)
		names = nil
		for _, c := range all {
			if hasBase(c.Name, base) {
				names = append(names, c.Name)
			}
		}
		return err
	})
	return names, err
}

func hasBase(name, base string) bool { return name == base || strings.HasPrefix(name, base+"_") }
