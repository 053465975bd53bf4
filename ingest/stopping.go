package ingest

import (
	"sync/atomic"

	"hippocampus/internal/memory"
)

// stopping ends a loop over items at the first one that is KindUnavailable: while the database hangs, each further one
// would wait for as long again. It is safe for concurrent use.
type stopping struct{ stopped atomic.Bool }

// errNotTried is the error of the items that come after one that was unavailable.
var errNotTried = memory.Errorf(memory.KindNotTried,
	"this was not tried, since a part of the server that the request needs became unavailable: send it again")

// unless tries one item, or returns errNotTried.
func (s *stopping) unless(try func() error) error {
	if s.stopped.Load() {
		return errNotTried
	}
	return s.always(try)
}

// always tries one item, whatever became of others.
func (s *stopping) always(try func() error) error {
	err := try()
	if memory.IsKind(err, memory.KindUnavailable) {
		s.stopped.Store(true)
	}
	return err
}
