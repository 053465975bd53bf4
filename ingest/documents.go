package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/ingest/passage"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
	"hippocampus/internal/secret"
	"hippocampus/internal/text"
)

// GivenDocument is a document that an app gives for a user.
type GivenDocument struct {
	Owner       memory.Owner
	AgentID     string
	ClientID    string
	Title       string // empty: the one that the content gives itself
	URL         string
	ContentType memory.ContentType
	Content     string
	At          time.Time // zero: now
	Tags        []string
	Metadata    json.RawMessage
}

// StoredDocument is what became of a document.
type StoredDocument struct {
	Document memory.SourceDocument
	Fresh    bool // it is a new document or version
	Added    int  // passages
	Kept     int  // passages of the version before
	Gone     int  // passages of the version before that were forgotten
	LeftOut  int  // passages that the app's policy never keeps
}

// importancePassage is between that of the user's messages and of what a chat backend calls important.
const importancePassage = 0.5

// WriteDocument stores a document in the place of the one with the same client's id, else with the same URL, else with
// the same text. Passages that the version before has stay the memories that they are, those that are gone are
// forgotten, and new ones become memories: all in one transaction. The same again changes nothing. KindInvalid: it has
// no text, or too many passages.
func (s *Service) WriteDocument(ctx context.Context, given GivenDocument) (stored StoredDocument, err error) {
	read := passage.Read(given.Content, given.ContentType)
	if given.Title == "" {
		given.Title = read.Title
	}
	passages, leftOut, err := s.readable(ctx, given.Owner.AppID, read.Passages)
	if err != nil {
		return stored, err
	}
	if n := len(passages); n == 0 || n > memory.MaxDocumentPassages {
		message := "has no text that can be remembered"
		if n > 0 {
			message = fmt.Sprintf("has %d passages, and at most %d are allowed: divide it", n, memory.MaxDocumentPassages)
		}
		return stored, memory.Invalid(memory.Field{Path: "content", Message: message})
	}
	w := &documentWrite{Service: s, given: given, passages: passages}
	w.hash()
	for range plans {
		if stored, err = w.run(ctx); !errors.Is(err, errOutdated) {
			break
		}
	}
	stored.LeftOut = leftOut
	return stored, err
}

// readable cuts secrets out of passages, and leaves out those that the app's policy never keeps.
func (s *Service) readable(
	ctx context.Context, appID string, read []passage.Passage,
) (kept []passage.Passage, leftOut int, err error) {
	rules, err := s.policyOf(ctx, appID)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range read {
		if s.set.CutSecrets { // tags may have hidden one from the check of the request
			p.Content, _ = secret.Cut(p.Content)
		}
		if rules.NeverKeeps(p.Content) != "" {
			leftOut++
			continue
		}
		kept = append(kept, p)
	}
	return kept, leftOut, nil
}

// documentWrite is a document that is being stored.
type documentWrite struct {
	*Service
	given    GivenDocument
	passages []passage.Passage
	hashes   []string // of the passages
	whole    string   // hash of the document

	before memory.SourceDocument // the version before
	known  bool                  // there is one
	after  memory.SourceDocument
	kept   map[string]int // by id of the memories that stay, the places of their passages
	gone   []string       // ids
}

func hashOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

func (w *documentWrite) hash() {
	g := w.given
	for _, p := range w.passages {
		w.hashes = append(w.hashes, hashOf(p.Content))
	}
	w.whole = hashOf(append(slices.Clone(w.hashes), g.Title, g.URL, string(g.Metadata), strings.Join(g.Tags, "\x00"))...)
}

// run plans the changes, embeds new passages, and stores all unless the document has changed since.
func (w *documentWrite) run(ctx context.Context) (stored StoredDocument, err error) {
	if err := w.find(ctx); err != nil {
		return stored, err
	}
	if w.known && w.before.Hash == w.whole && w.before.ForgottenAt.IsZero() {
		return StoredDocument{Document: w.before, Kept: len(w.before.Passages)}, nil
	}
	added, err := w.complete(ctx, w.plan())
	if err != nil {
		return stored, err
	}
	_, err = w.Writer.Write(ctx, write.Batch{
		Owner: w.given.Owner, Cause: w.cause(), Drafts: draftsOf(added, write.Alone),
		First: func(ctx context.Context, tx db.UserTx) error {
			now, known, err := tx.SourceDocumentByRef(ctx, w.given.AgentID, w.after.Ref)
			if err != nil {
				return err
			}
			if known != w.known || now.Version != w.before.Version || !now.ForgottenAt.Equal(w.before.ForgottenAt) {
				return errOutdated
			}
			return tx.NoteActivity(ctx, w.given.AgentID, w.Now())
		},
		Also: func(ctx context.Context, tx db.UserTx, changes *history.Recorder, _ []write.Written) error {
			if err := w.settle(ctx, tx, changes); err != nil {
				return err
			}
			return tx.PutSourceDocument(ctx, w.after)
		},
	})
	return StoredDocument{
		Document: w.after, Fresh: true, Added: len(added), Kept: len(w.kept), Gone: len(w.gone),
	}, err
}

func (w *documentWrite) cause() string { return "document " + w.after.ID }

// find reads the version before.
func (w *documentWrite) find(ctx context.Context) error {
	g := w.given
	ref := memory.RefOf(g.ClientID, g.URL, hashOf(w.hashes...))
	return w.Records.InUser(ctx, g.Owner, func(ctx context.Context, tx db.UserTx) (err error) {
		w.before, w.known, err = tx.SourceDocumentByRef(ctx, g.AgentID, ref)
		w.after.Ref = ref
		return err
	})
}

// plan returns the memories of new passages, without embeddings.
func (w *documentWrite) plan() (added []memory.Memory) {
	g, now := w.given, memory.Instant(w.Now())
	w.after = memory.SourceDocument{
		ID: memory.NewID(), Owner: g.Owner, AgentID: g.AgentID, Ref: w.after.Ref, ClientID: g.ClientID, Title: g.Title,
		URL: g.URL, ContentType: g.ContentType, Version: w.before.Version + 1, Hash: w.whole, Tags: g.Tags,
		Metadata: g.Metadata, At: memory.Instant(g.At), CreatedAt: now, ChangedAt: now,
	}
	if g.At.IsZero() {
		w.after.At = now
	}
	left := map[string][]string{} // ids of the version before, by hash
	if w.known {
		w.after.ID, w.after.CreatedAt = w.before.ID, w.before.CreatedAt
	}
	if w.before.ForgottenAt.IsZero() {
		for _, p := range w.before.Passages {
			left[p.Hash] = append(left[p.Hash], p.MemoryID)
		}
	}
	w.kept, w.gone = map[string]int{}, nil
	for place, p := range w.passages {
		hash := w.hashes[place]
		id := ""
		if ids := left[hash]; len(ids) > 0 {
			id, left[hash] = ids[0], ids[1:]
			w.kept[id] = place
		} else {
			m := w.memory(place, p)
			id, added = m.ID, append(added, m)
		}
		w.after.Passages = append(w.after.Passages, memory.Passage{MemoryID: id, Hash: hash})
	}
	for _, p := range w.before.Passages {
		if slices.Contains(left[p.Hash], p.MemoryID) {
			w.gone = append(w.gone, p.MemoryID)
		}
	}
	return added
}

// memory is a new passage. It is pinned: the document, and not the time, decides how long it stays.
func (w *documentWrite) memory(place int, p passage.Passage) memory.Memory {
	m := memory.Memory{
		ID: memory.NewID(), Owner: w.given.Owner, AgentID: w.given.AgentID, Speaker: memory.SpeakerDocument,
		Content: p.Content, Type: memory.TypeMessage, Domain: w.Guess(p.Content), Tags: w.given.Tags,
		Importance: importancePassage, Metadata: w.citation(place, w.after.Version).Cite(w.given.Metadata), Pinned: true,
		CreatedAt: w.after.At,
	}
	m.Lexemes = text.Join(text.Lexemes(m.IndexedText()))
	return m
}

func (w *documentWrite) citation(place, since int) memory.Citation {
	return memory.Citation{
		ID: w.after.ID, Title: w.after.Title, URL: w.after.URL, Heading: w.passages[place].Heading, Passage: place + 1,
		Since: since,
	}
}

// settle forgets the passages that are gone, and corrects the citations of those that stay.
func (w *documentWrite) settle(ctx context.Context, tx db.UserTx, changes *history.Recorder) error {
	ids := slices.Clone(w.gone)
	for _, p := range w.after.Passages {
		if _, stays := w.kept[p.MemoryID]; stays {
			ids = append(ids, p.MemoryID)
		}
	}
	found, err := tx.Memories(ctx, ids)
	if err != nil {
		return err
	}
	for i := range found {
		m, before := &found[i], found[i]
		kind := memory.EventUpdated
		if place, stays := w.kept[m.ID]; stays {
			m.Metadata = w.citation(place, max(1, m.Citation().Since)).Cite(w.given.Metadata)
			m.Tags = w.given.Tags
		} else {
			kind = memory.EventForgotten
			_ = forget(m)
		}
		if err := update(ctx, changes, before, m, kind); err != nil {
			return err
		}
	}
	return nil
}

// update stores a change with its event, if it is one.
func update(
	ctx context.Context, changes *history.Recorder, before memory.Memory, m *memory.Memory, kind memory.EventKind,
) error {
	difference := history.Diff(before, *m)
	if difference == nil {
		return nil
	}
	changes.Note(m.ID, kind, difference)
	return changes.Update(ctx, before, m)
}
