package recall

import (
	"cmp"
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/router"
)

// sight is what can be learnt of a query without one part waiting for another.
type sight struct {
	route     router.Route
	smallTalk bool         // nothing needs to be searched
	embedder  llm.Embedder // for this query, whichever serves when it ends
	vector    []float32    // nil: the embedder is away
	index     *index
	presumed  bool // that the index is of this moment, and that there are no own writes
	own       []memory.Memory
	terms     []string

	compared bool // all embeddings of the owner were read, and the vector store is not asked
	searched bool // the vector store has answered, so or so
	stored   []near
	refused  error
}

// errPresumed says that what was presumed of an owner's memories does not hold,
// or that it would take long to find out.
var errPresumed = errors.New("the owner's memories have changed")

// look routes, embeds and reads in parallel, and compares a few memories, or
// searches where the index has no say in which domains. Small talk ends the
// embedding early; the reads of the database are short, and ending them would
// close their connections.
//
// An index that held at the last query is presumed to hold still, which is
// confirmed beside the last read: who recalls and does not write is spared a
// round trip.
func (s *Service) look(ctx context.Context, q Query) (sight, error) {
	seen := sight{embedder: llm.Serving(s.embedder), terms: terms(q.Text)}
	kept, known := s.indexes.Get(keyOf(q.Owner))
	if known && kept.held.Load() {
		seen.index, seen.presumed = kept, true
	}
	embedding, needless := context.WithCancel(ctx)
	defer needless()
	group, ctx := errgroup.WithContext(ctx)
	if !seen.presumed {
		group.Go(func() (err error) {
			seen.index, seen.own, err = s.known(ctx, q.Owner)
			return err
		})
	}
	routed := make(chan struct{})
	route := func() error {
		defer close(routed)
		seen.route = s.route(ctx, q)
		if seen.smallTalk = len(q.Domains) == 0 && seen.route.SmallTalk(); seen.smallTalk {
			needless()
		}
		return nil
	}
	if vector, kept := s.embedded(seen.embedder, q.Text); kept {
		seen.vector = vector
		_ = route() // there is nothing else to do
	} else {
		group.Go(route)
		seen.vector = s.embed(embedding, seen.embedder, q.Text)
		<-routed
	}
	widens := len(q.Domains) == 0 && len(seen.route.Domains) > 0
	var failed error
	if seen.vector != nil && !seen.smallTalk {
		if !known || len(kept.docs) <= s.set.CompareLimit {
			failed = s.compareFew(ctx, q, &seen)
		}
		if failed == nil && !seen.compared && !widens && !q.beyondVectors() {
			seen.searched = true
			seen.stored, seen.refused = s.search(ctx, q, seen.embedder, seen.vector, q.Domains)
		}
	}
	if err := cmp.Or(group.Wait(), failed); err != nil || seen.vector == nil || seen.smallTalk {
		return seen, err
	}
	s.reembed(embedding, seen)
	return seen, nil
}

// lookAgain reads what was presumed.
func (s *Service) lookAgain(ctx context.Context, q Query, seen sight) (sight, error) {
	var err error
	seen.presumed = false
	if seen.index, seen.own, err = s.known(ctx, q.Owner); err == nil && seen.vector != nil {
		s.reembed(ctx, seen)
	}
	return seen, err
}

// known is what is known of an owner's memories: the index of this moment's
// revision, kept from an earlier query or made anew, and the newest writes.
func (s *Service) known(ctx context.Context, owner memory.Owner) (*index, []memory.Memory, error) {
	since := s.ownSince()
	before, kept := s.indexes.Get(keyOf(owner))
	if kept {
		revision, own, err := s.records.RevisionAndUnconfirmed(ctx, owner, since, s.set.OwnLimit)
		if err != nil {
			return nil, nil, err
		}
		if before.revision == revision {
			before.held.Store(len(own) == 0)
			return before, own, nil
		}
	}
	// What is written since its revision is in the index, or not: it is among the
	// newest writes, too.
	survey, err := s.records.RevisionDocumentsAndUnconfirmed(ctx, owner, since, s.set.OwnLimit)
	if err != nil {
		return nil, nil, err
	}
	x := indexOf(survey.Documents)
	x.revision = survey.Revision // or a later one: then it is made once more
	s.indexes.Add(keyOf(owner), x, x.size())
	return x, survey.Unconfirmed, nil
}

// keyOf names an owner's index among those that are kept.
func keyOf(owner memory.Owner) string { return owner.AppID + "\x00" + owner.UserID }

// ownSince is since when a confirmed write may be missing from searches.
func (s *Service) ownSince() time.Time { return s.now().Add(-s.set.OwnWindow) }
