package reembed

import (
	"context"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Vectors is the serving vector store. Records and queries that name a space go to
// the store of that space.
type Vectors struct{ of *Switch }

var (
	_ vectorstore.Store     = Vectors{}
	_ vectorstore.Rebuilder = Vectors{}
	_ vectorstore.Ensurer   = Vectors{}
	_ vectorstore.Remote    = Vectors{}
)

// Vectors returns the vector store of the serving pair.
func (s *Switch) Vectors() Vectors { return Vectors{s} }

func (v Vectors) serving() vectorstore.Store { return v.of.current().Vectors }

func (v Vectors) in(space memory.Space) (vectorstore.Store, error) {
	p, ok := v.of.find(space)
	if !ok {
		return nil, memory.Errorf(memory.KindUnavailable,
			"the vectors of %s are not open here: embed with the serving model", space.Model)
	}
	return p.Vectors, nil
}

// write calls f with the store of the records' space.
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

func (v Vectors) Insert(ctx context.Context, records []vectorstore.Record) error {
	return v.write(records, func(s vectorstore.Store) error { return s.Insert(ctx, records) })
}

func (v Vectors) Replace(ctx context.Context, records []vectorstore.Record) error {
	return v.write(records, func(s vectorstore.Store) error { return s.Replace(ctx, records) })
}

func (v Vectors) Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	store, err := v.in(q.Space)
	if err != nil {
		return nil, err
	}
	return store.Search(ctx, q)
}

func (v Vectors) Delete(ctx context.Context, ids []string) error { return v.serving().Delete(ctx, ids) }

// DeleteOwner removes an owner's records from the stores of all open spaces.
func (v Vectors) DeleteOwner(ctx context.Context, owner memory.Owner) (int, error) {
	return v.sum(func(s vectorstore.Store) (int, error) { return s.DeleteOwner(ctx, owner) })
}

// CountOwner counts an owner's records in the stores of all open spaces.
func (v Vectors) CountOwner(ctx context.Context, owner memory.Owner) (int, error) {
	return v.sum(func(s vectorstore.Store) (int, error) { return s.CountOwner(ctx, owner) })
}

func (v Vectors) sum(f func(vectorstore.Store) (int, error)) (total int, err error) {
	for _, p := range append(v.of.others(), v.of.current()) {
		n, err := f(p.Vectors)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (v Vectors) Scan(ctx context.Context, after string, limit int, f func(vectorstore.Record) error) error {
	return v.serving().Scan(ctx, after, limit, f)
}

func (v Vectors) Ping(ctx context.Context) error { return v.serving().Ping(ctx) }

// Healthy reports whether the serving store is a healthy vectorstore.Remote.
func (v Vectors) Healthy() bool {
	remote, ok := v.serving().(vectorstore.Remote)
	return ok && remote.Healthy()
}

// Close closes the stores of all spaces.
func (v Vectors) Close() error { return v.of.close() }

// Rebuild rebuilds the serving store. It returns an error of KindConflict during a
// change of the model, which replaces the store.
func (v Vectors) Rebuild(ctx context.Context, fill func(ctx context.Context, into vectorstore.Writer) error) error {
	v.of.mu.RLock()
	settled := v.of.settled
	v.of.mu.RUnlock()
	if !settled {
		return memory.Errorf(memory.KindConflict,
			"memories are being re-embedded, which fills a new vector store: "+
				"rebuild it when GET /v1/stats names only one embedding model")
	}
	store, ok := v.serving().(vectorstore.Rebuilder)
	if !ok {
		return memory.Errorf(memory.KindConflict, "this vector store cannot be rebuilt while it serves")
	}
	return store.Rebuild(ctx, fill)
}

func (v Vectors) Ensure(ctx context.Context) error {
	if m, ok := v.serving().(vectorstore.Ensurer); ok {
		return m.Ensure(ctx)
	}
	return nil
}

// Losses counts the losses of each store while it serves, since a store that begins
// to serve is complete.
func (v Vectors) Losses() int {
	v.of.mu.RLock()
	defer v.of.mu.RUnlock()
	return v.of.count()
}
