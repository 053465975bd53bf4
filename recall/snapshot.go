package recall

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/lang/todo"
	"hippocampus/internal/memory"
)

// snapshotFormat changes with the fields of a snapshot, and with what an index holds of a
// text: the hash of a lexeme, and the cues.
const snapshotFormat = 13

// snapshot is an index in columns, as it is stored.
type snapshot struct {
	Format int
	Zone   string // in which the days of About are read

	IDs                 []byte // 16 of each document
	Repeat              []uint64
	Importance          []float64
	Question            []float64
	Created, Accessed   []int64
	Length, Said        []uint32
	Kind, Tags, Speaker []uint32
	Timed, Clause       []bool
	ToDo                []todo.State
	Expires             []int64
	About               []int32 // of each document: from and until of two ranges of days
	Lexemes             []uint64

	Kinds    []kind
	TagLists [][]string
	Speakers []string
	Called   []string
	CalledBy []uint32 // of each document

	ByID, Sequence []uint32
	Taken, Former  []uint32   // document and message, in turns
	Whole          []bool     // of each of Former
	Stated         [][]uint64 // likewise
}

func zoneName(zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	return zone.String()
}

// encode returns the index as it is stored.
func (x *index) encode() ([]byte, error) {
	s := snapshot{
		Format: snapshotFormat, Zone: zoneName(x.zone), Lexemes: x.lexemes, Kinds: x.kinds, TagLists: x.tagLists,
		Speakers: x.speakers, Called: x.called, ByID: x.byID, Sequence: x.sequence,
	}
	for doc := range x.docs {
		d := &x.docs[doc]
		s.IDs, s.Repeat = append(s.IDs, d.id[:]...), append(s.Repeat, d.repeat)
		s.Importance, s.Question = append(s.Importance, d.importance), append(s.Question, d.question)
		s.Created, s.Accessed = append(s.Created, d.created), append(s.Accessed, x.accessed[doc].Load())
		s.Length, s.Said = append(s.Length, d.length), append(s.Said, d.said)
		s.Kind = append(s.Kind, d.kind)
		s.Tags, s.Speaker = append(s.Tags, d.tags), append(s.Speaker, d.speaker)
		for _, a := range d.about {
			s.About = append(s.About, a.from, a.until)
		}
		s.Timed, s.CalledBy = append(s.Timed, d.timed), append(s.CalledBy, d.called)
		s.ToDo = append(s.ToDo, d.todo)
		s.Clause, s.Expires = append(s.Clause, d.clause), append(s.Expires, d.expires)
	}
	for _, t := range x.taken {
		s.Taken = append(s.Taken, t.doc, t.message)
	}
	for _, o := range x.outdated {
		s.Former = append(s.Former, o.doc, o.message)
		s.Whole, s.Stated = append(s.Whole, o.whole), append(s.Stated, o.stated)
	}
	var data bytes.Buffer
	err := gob.NewEncoder(&data).Encode(s)
	return data.Bytes(), err
}

// Indexes of owners with many documents are stored, so that a process that does not know an
// owner yet reads the changes since then only. Reading fewer documents takes little time.
const (
	leastStored   = 1000 // documents
	storedChanges = 8    // an index is stored after changes of 1/8 of its documents
	storeTimeout  = 5 * time.Second
)

// saving is an index to be stored.
type saving struct {
	owner memory.Owner
	x     *index
}

// claimSave reports whether the index should be stored, because the owner has many documents and many of
// them have changed since an index was stored. Then the caller stores it, or sets unsaved again.
func (x *index) claimSave() (unsaved int64, claimed bool) {
	n := int64(len(x.docs))
	unsaved = x.unsaved.Load()
	return unsaved, n >= leastStored && unsaved >= n/storedChanges && x.unsaved.CompareAndSwap(unsaved, 0)
}

// save queues the index for storing if many of its changes are not stored. It does nothing if the queue is full: a
// later change queues the index.
func (s *Service) save(owner memory.Owner, x *index) {
	unsaved, claimed := x.claimSave()
	if !claimed {
		return
	}
	select {
	case s.saves <- saving{owner, x}:
	default:
		x.unsaved.Store(unsaved)
	}
}

// Run stores indexes until the context ends, and then those that still wait, for up to storeTimeout. It
// works on one at a time.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(growInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case save := <-s.saves:
			s.storeQueued(ctx, save)
		case <-ticker.C:
			s.storeGrown(ctx, s.growth.take(false))
		case <-ctx.Done():
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	for {
		select {
		case save := <-s.saves:
			s.storeQueued(last, save)
		default:
			s.storeGrown(last, s.growth.take(true))
			return
		}
	}
}

// store stores an index, also if ctx is canceled. After a failure all of its documents count as not stored, so that the
// next change of the index queues it again.
func (s *Service) store(ctx context.Context, save saving) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	data, err := save.x.encode()
	if err == nil {
		err = s.records.SaveIndex(ctx, save.owner, save.x.revision, data)
	}
	if err == nil || errors.Is(err, db.ErrErasing) {
		return nil
	}
	save.x.unsaved.Add(int64(len(save.x.docs)))
	return err
}

// storeQueued stores an index that waited for it.
func (s *Service) storeQueued(ctx context.Context, save saving) {
	if err := s.store(ctx, save); err != nil {
		s.log.Warn("the index of a user is not stored: first recalls of the user take longer", zap.Error(err))
	}
}

// stored returns the owner's stored index, or an empty index of revision 0 if there is no index in this zone.
func (s *Service) stored(ctx context.Context, owner memory.Owner, zone *time.Location) (*index, error) {
	revision, data, err := s.records.Index(ctx, owner)
	if err != nil || data == nil {
		return &index{zone: zone}, err
	}
	x, err := decode(revision, data, zone)
	if err != nil {
		s.log.Info("the stored index of a user is not used", zap.Error(err))
		return &index{zone: zone}, nil
	}
	return x, nil
}

// cacheStored caches the owner's stored index, if there is one, and returns it like stored.
func (s *Service) cacheStored(ctx context.Context, owner memory.Owner, zone *time.Location) (*index, error) {
	x, err := s.stored(ctx, owner, zone)
	if err == nil && x.revision > 0 {
		s.indexes.Add(indexKey(owner), x, x.size())
	}
	return x, err
}
