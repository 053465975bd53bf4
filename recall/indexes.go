package recall

import (
	"context"
	"hash/maphash"
	"sync"

	"hippocampus/db"
	"hippocampus/internal/cache"
	"hippocampus/internal/memory"
)

// indexes keeps the indexes of the owners that recalled last.
type indexes struct {
	*cache.Cache[*index]
	seed  maphash.Seed
	locks [64]sync.Mutex // each for some of the owners
}

func newIndexes(bytes int) *indexes {
	return &indexes{Cache: cache.New[*index](bytes), seed: maphash.MakeSeed()}
}

func indexKey(owner memory.Owner) string { return owner.AppID + "\x00" + owner.UserID }

// change returns an owner's index after changes since the revision of x, and keeps it.
// If several recalls read the same changes at once, one of them changes the index.
func (i *indexes) change(owner memory.Owner, x *index, changes db.Changes) *index {
	key := indexKey(owner)
	lock := &i.locks[maphash.String(i.seed, key)%uint64(len(i.locks))]
	lock.Lock()
	defer lock.Unlock()
	if kept, ok := i.Get(key); ok && kept.revision >= x.revision && kept.isIn(x.zone) {
		x = kept
	}
	if x.revision >= changes.Revision {
		return x
	}
	x = x.changed(changes)
	i.Add(key, x, x.size())
	return x
}

// grew counts what has been added to an index, if the index is still kept.
func (i *indexes) grew(owner memory.Owner, x *index) {
	key := indexKey(owner)
	if kept, ok := i.Get(key); ok && kept == x {
		i.Add(key, x, x.size())
	}
}

// loadIndex returns the owner's index as of now and the own writes. It reads what has changed
// since the known index or, if that is empty, all documents, and the owner's mode.
func (s *Service) loadIndex(ctx context.Context, owner memory.Owner, known *index) (
	_ *index, own []memory.Memory, mode memory.ModeSetting, err error,
) {
	read, err := s.records.Changes(ctx, owner, known.revision, s.now().Add(-s.set.OwnWindow), s.set.OwnLimit)
	if err != nil {
		return nil, nil, mode, err
	}
	var x *index
	if read.All {
		x = indexOf(read, known.zone)
		s.indexes.Add(indexKey(owner), x, x.size())
	} else {
		x = s.indexes.change(owner, known, read)
	}
	x.off.Store(!read.Mode.Recalls())
	s.save(owner, x)
	return x, read.Unconfirmed, read.Mode, nil
}
