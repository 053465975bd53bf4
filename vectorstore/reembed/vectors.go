package reembed

import (
	"context"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Vectors is the vector store that serves. Records and queries go to that of
// their space.
type Vectors struct{ of *Switch }

var (
	_ vectorstore.Store     = Vectors{}
	_ vectorstore.Rebuilder = Vectors{}
	_ vectorstore.Ensurer   = Vectors{}
	_ vectorstore.Remote    = Vectors{}
)

// Vectors is the vector store of whichever pair serves.
func (s *Switch) Vectors() Vectors { return Vectors{s} }

func (v Vectors) serving() vectorstore.Store { return v.of.current().Vectors }

func (v Vectors) in(space memory.Space) (vectorstore.Store, error) {
	p, ok := v.of.find(space)
	if !ok {
		return nil, memory.Errorf(memory.KindUnavailable, "the vectors of %s are not open here: embed with the model that serves", space.Model)
	}
	return p.Vectors, nil
}

// write hands records, all of one space, to its store.
func (v Vectors) write(records []vectorstore.Record, f func(vectorstore.Store) error) error {
	var space memory.Space
	if len(records) > 0 {
		space = records[0].Space
	}
	store, err := v.in(space)
	if err != nil {
		return err
	}
	return f(store)
}

// Insert adds records to the store of their space.
func (v Vectors) Insert(ctx context.Context, records []vectorstore.Record) error {
	return v.write(records, func(s vectorstore.Store) error { return s.Insert(ctx, records) })
}

// Replace replaces records in the store of their space.
func (v Vectors) Replace(ctx context.Context, records []vectorstore.Record) error {
	return v.write(records, func(s vectorstore.Store) error { return s.Replace(ctx, records) })
}

// Search searches the store of the query's space.
func (v Vectors) Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	store, err := v.in(q.Space)
	if err != nil {
		return nil, err
	}
	return store.Search(ctx, q)
}

// Delete deletes from the store that serves.
func (v Vectors) Delete(ctx context.Context, ids []string) error { return v.serving().Delete(ctx, ids) }

// DeleteOwner removes an owner's records from the stores of all open spaces.
func (v Vectors) DeleteOwner(ctx context.Context, owner memory.Owner) (int, error) {
	return v.sum(func(s vectorstore.Store) (int, error) { return s.DeleteOwner(ctx, owner) })
}

// CountOwner counts them.
func (v Vectors) CountOwner(ctx context.Context, owner memory.Owner) (int, error) {
	return v.sum(func(s vectorstore.Store) (int, error) { return s.CountOwner(ctx, owner) })
}

func (v Vectors) sum(f func(vectorstore.Store) (int, error)) (total int, err error) {
	stores := []vectorstore.Store{v.serving()}
	for _, space := range v.of.beside() {
		if p, ok := v.of.find(space); ok {
			stores = append(stores, p.Vectors)
		}
	}
	for _, store := range stores {
		n, err := f(store)
		if total += n; err != nil {
			return total, err
		}
	}
	return total, nil
}

// Scan reads the store that serves.
func (v Vectors) Scan(ctx context.Context, after string, limit int, f func(vectorstore.Record) error) error {
	return v.serving().Scan(ctx, after, limit, f)
}

// Ping asks the store that serves.
func (v Vectors) Ping(ctx context.Context) error { return v.serving().Ping(ctx) }

// Healthy asks the store that serves, which is none where it is no vectorstore.Remote.
func (v Vectors) Healthy() bool {
	remote, ok := v.serving().(vectorstore.Remote)
	return ok && remote.Healthy()
}

// Close closes the stores of all spaces.
func (v Vectors) Close() error { return v.of.close() }

// Rebuild rebuilds the store that serves. KindConflict: it is about to be
// replaced, or has just been.
func (v Vectors) Rebuild(ctx context.Context, fill func(ctx context.Context, into vectorstore.Writer) error) error {
	v.of.mu.RLock()
	settled := v.of.settled
	v.of.mu.RUnlock()
	if !settled {
		return memory.Errorf(memory.KindConflict,
			"memories are being re-embedded, which fills the vector store anew: rebuild it when GET /v1/stats names one embedding model alone")
	}
	store, ok := v.serving().(vectorstore.Rebuilder)
	if !ok {
		return memory.Errorf(memory.KindConflict, "this vector store cannot be rebuilt while it serves")
	}
	return store.Rebuild(ctx, fill)
}

// Ensure mends the store that serves.
func (v Vectors) Ensure(ctx context.Context) error {
	if m, ok := v.serving().(vectorstore.Ensurer); ok {
		return m.Ensure(ctx)
	}
	return nil
}

// Losses counts those of a store while it serves: one that takes over is whole.
func (v Vectors) Losses() int {
	v.of.mu.RLock()
	defer v.of.mu.RUnlock()
	return v.of.count()
}
