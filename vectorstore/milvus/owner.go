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

// DeleteOwner removes the owner's records from every collection of the alias.
// Their ids are looked up at Strong consistency and then deleted: a delete by
// another field than the key would look them up less strictly.
func (s *Store) DeleteOwner(ctx context.Context, owner memory.Owner) (deleted int, err error) {
	err = s.eachOwned(ctx, owner, func(collection string, ids []string) error {
		deleted += len(ids)
		in := &writer{s.client, s.options.Space, func(ctx context.Context, doing string, f func(context.Context, string) error) error {
			return s.call(ctx, s.options.Timeout, doing, func(ctx context.Context, _ string) error { return f(ctx, collection) })
		}}
		return in.Delete(ctx, ids)
	})
	return deleted, err
}

// CountOwner counts the owner's records in every collection of the alias, by
// their ids: Milvus' own count includes deleted ones.
func (s *Store) CountOwner(ctx context.Context, owner memory.Owner) (held int, err error) {
	err = s.eachOwned(ctx, owner, func(_ string, ids []string) error {
		held += len(ids)
		return nil
	})
	return held, err
}

// eachOwned hands the ids of the owner's records to f, page by page and
// collection by collection.
func (s *Store) eachOwned(ctx context.Context, owner memory.Owner, f func(collection string, ids []string) error) error {
	if err := vectorstore.CheckOwner(owner); err != nil {
		return err
	}
	collections, err := s.collections(ctx)
	if err != nil {
		return err
	}
	for _, name := range collections {
		for after, more := "", true; more; {
			ids, err := s.owned(ctx, name, owner, after)
			if refusedWith(err, codeCollectionNotFound) {
				break // dropped meanwhile, with all that it held
			}
			if err != nil {
				return err
			}
			if more = len(ids) == scanPage; more {
				after = ids[len(ids)-1]
			}
			if len(ids) == 0 {
				break
			}
			if err := f(name, ids); err != nil && !refusedWith(err, codeCollectionNotFound) {
				return err
			}
		}
	}
	return nil
}

// owned reads a page of the ids of the owner's records in one collection. One
// that a rebuild has left half-made, or that was released, is loaded first.
func (s *Store) owned(ctx context.Context, collection string, owner memory.Owner, after string) (ids []string, err error) {
	condition := filter(vectorstore.Query{Owner: owner}) + " and " + fieldID + " > " + quote(after)
	query := func(ctx context.Context, _ string) error {
		rows, err := s.client.Query(ctx, collection, nil, condition, []string{fieldID}, strong, client.WithLimit(scanPage))
		if err != nil {
			return err
		}
		column, ok := rows.GetColumn(fieldID).(*entity.ColumnVarChar)
		if !ok {
			return fmt.Errorf("no texts came back for %s", fieldID)
		}
		ids = slices.Sorted(slices.Values(column.Data()))
		return nil
	}
	const doing = "looking up a user's vectors"
	err = s.call(ctx, s.options.Timeout, doing, query)
	if refusedWith(err, codeCollectionNotLoaded) {
		if err = s.index(ctx, collection); err == nil {
			err = s.load(ctx, collection)
		}
		if err == nil {
			err = s.call(ctx, s.options.Timeout, doing, query)
		}
	}
	return ids, err
}

// collections lists those of the alias, of whatever space: the one in use, those
// that are being filled, and those that were left over.
func (s *Store) collections(ctx context.Context) (names []string, err error) {
	var all []*entity.Collection
	err = s.call(ctx, s.options.Timeout, "listing the collections", func(ctx context.Context, _ string) (err error) {
		all, err = s.client.ListCollections(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if !strings.HasPrefix(c.Name, s.options.Collection+"_") {
			continue
		}
		found, err := s.describe(ctx, c.Name)
		if refusedWith(err, codeCollectionNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		space, ours := spaceOf(found)
		base := collectionName(s.options.Collection, space)
		if ours && (c.Name == base || strings.HasPrefix(c.Name, base+"_")) {
			names = append(names, c.Name)
		}
	}
	return names, nil
}
