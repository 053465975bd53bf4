package proof

import (
	"context"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// mortalVectors are the vector store as a process sees it that can die.
type mortalVectors struct {
	*fuse
	real vectorstore.Store
}

var (
	_ vectorstore.Rebuilder = (*mortalVectors)(nil)
	_ vectorstore.Mender    = (*mortalVectors)(nil)
	_ vectorstore.Remote    = (*mortalVectors)(nil)
)

// Close is what the system does for a process that has died, too.
func (s *mortalVectors) Close() error { return s.real.Close() }

// Rebuild changes nothing when the process dies before the change-over, which
// is the last that Rebuild does.
func (s *mortalVectors) Rebuild(ctx context.Context, fill func(ctx context.Context, into vectorstore.Writer) error) error {
	return act(s.fuse, "Rebuild", func() error {
		return s.real.(vectorstore.Rebuilder).Rebuild(ctx, func(ctx context.Context, into vectorstore.Writer) error {
			if err := fill(ctx, &mortalWriter{s.fuse, into}); err != nil {
				return err
			}
			return s.alive()
		})
	})
}

func (s *mortalVectors) Ensure(ctx context.Context) error {
	return act(s.fuse, "Ensure", func() error { return s.real.(vectorstore.Mender).Ensure(ctx) })
}

// Healthy is known to the process itself, as Losses is.
func (s *mortalVectors) Healthy() bool { return s.real.(vectorstore.Remote).Healthy() }

// Losses is known to the process itself.
func (s *mortalVectors) Losses() int { return s.real.(vectorstore.Mender).Losses() }

func (s *mortalVectors) CountOwner(ctx context.Context, owner memory.Owner) (int, error) {
	return get(s.fuse, "CountOwner", func() (int, error) { return s.real.CountOwner(ctx, owner) })
}

func (s *mortalVectors) Delete(ctx context.Context, ids []string) error {
	return act(s.fuse, "Delete", func() error { return s.real.Delete(ctx, ids) })
}

func (s *mortalVectors) DeleteOwner(ctx context.Context, owner memory.Owner) (int, error) {
	return get(s.fuse, "DeleteOwner", func() (int, error) { return s.real.DeleteOwner(ctx, owner) })
}

func (s *mortalVectors) Insert(ctx context.Context, records []vectorstore.Record) error {
	return act(s.fuse, "Insert", func() error { return s.real.Insert(ctx, records) })
}

func (s *mortalVectors) Ping(ctx context.Context) error {
	return act(s.fuse, "Ping", func() error { return s.real.Ping(ctx) })
}

func (s *mortalVectors) Replace(ctx context.Context, records []vectorstore.Record) error {
	return act(s.fuse, "Replace", func() error { return s.real.Replace(ctx, records) })
}

func (s *mortalVectors) Scan(ctx context.Context, after string, limit int, f func(vectorstore.Record) error) error {
	return act(s.fuse, "Scan", func() error { return s.real.Scan(ctx, after, limit, f) })
}

func (s *mortalVectors) Search(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	return get(s.fuse, "Search", func() ([]vectorstore.Hit, error) { return s.real.Search(ctx, q) })
}

// mortalWriter fills a collection for a process that can die.
type mortalWriter struct {
	*fuse
	real vectorstore.Writer
}

func (s *mortalWriter) Insert(ctx context.Context, records []vectorstore.Record) error {
	return act(s.fuse, "fill Insert", func() error { return s.real.Insert(ctx, records) })
}

func (s *mortalWriter) Replace(ctx context.Context, records []vectorstore.Record) error {
	return act(s.fuse, "fill Replace", func() error { return s.real.Replace(ctx, records) })
}

func (s *mortalWriter) Delete(ctx context.Context, ids []string) error {
	return act(s.fuse, "fill Delete", func() error { return s.real.Delete(ctx, ids) })
}
