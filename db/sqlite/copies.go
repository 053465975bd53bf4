package sqlite

import "context"

// maxCopies is how many copies may run at once.
const maxCopies = 1 << 20

func (s *Store) Copy(ctx context.Context, f func(ctx context.Context) error) error {
	if err := s.copies.Acquire(ctx, 1); err != nil {
		return fault(err, "begin a copy")
	}
	defer s.copies.Release(1)
	return f(ctx)
}

func (s *Store) AwaitCopies(ctx context.Context) error {
	if err := s.copies.Acquire(ctx, maxCopies); err != nil {
		return fault(err, "wait for copies to another vector collection")
	}
	s.copies.Release(maxCopies)
	return nil
}
