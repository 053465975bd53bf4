package write

import (
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// byEdit says why a former wording is superseded.
const byEdit = "a request changed its content"

// rewording holds the data that is read before a fact is reworded.
type rewording struct {
	begun    reading              // of the other fields
	known    []memory.Memory      // facts of the owner; nil if the new words replace nothing by rules
	messages []string             // ids of the messages that it was taken from
	derived  []string             // ids of the memories that were derived from its present wording
	outdated []string             // ids of the memories that it supersedes
	former   string               // id of the one with the new words, if the fact said these before
	later    []string             // ids of those that the fact has superseded since it said so
	embedded map[string][]float32 // of later, by id, if they have no embedding by the model
	model    string
}

// Reword gives a fact other words, by apply, which may run more than once; cause is recorded with each event. The fact
// is said as of now: the facts that it contradicts by rules are superseded, and a judge is asked by the job of
// JudgeAgain. If the fact was taken from messages, or an insight was made of it, its old wording is kept as a memory
// that it supersedes, so that the messages and the insight are former. Giving the fact its old wording back undoes
// that.
func (w *Writer) Reword(
	ctx context.Context, m memory.Memory, cause string, apply func(m *memory.Memory) error,
) (reworded memory.Memory, err error) {
	said := m
	if err := apply(&said); err != nil {
		return memory.Memory{}, err
	}
	r, err := w.readRewording(ctx, m, said)
	if err != nil {
		return memory.Memory{}, err
	}
	var t *transaction
	err = w.Records.InUser(ctx, m.Owner, func(ctx context.Context, tx db.UserTx) error {
		t = &transaction{Recorder: history.NewRecorder(tx, cause, w.Now()), w: w, tx: tx, begun: r.begun}
		if reworded, err = t.reword(ctx, m.ID, r, apply); err != nil {
			return err
		}
		if err := t.flush(ctx); err != nil {
			return err
		}
		return t.Flush(ctx)
	})
	if err != nil {
		return memory.Memory{}, err
	}
	w.push(ctx, m.Owner, t)
	reworded.Embedding = nil
	return reworded, nil
}

// readRewording reads the memories that a rewording of a fact concerns.
func (w *Writer) readRewording(ctx context.Context, before, after memory.Memory) (r rewording, err error) {
	if r.begun, err = w.beginReading(ctx, before.Owner); err != nil {
		return r, err
	}
	sources, err := w.Records.Sources(ctx, before.Owner, []string{before.ID})
	if err != nil {
		return r, err
	}
	for _, m := range sources[before.ID] {
		if m.Type == memory.TypeMessage && !before.Type.IsDerived() {
			r.messages = append(r.messages, m.ID)
		}
	}
	relations, err := w.Records.Relations(ctx, before.AppID, before.ID)
	if err != nil {
		return r, err
	}
	since := map[string]time.Time{} // when memories were superseded, by id
	for _, one := range relations {
		switch {
		case one.To == before.ID && one.Kind == memory.DerivedFrom:
			r.derived = append(r.derived, one.From)
		case one.From == before.ID:
			since[one.To] = one.CreatedAt
		}
	}
	superseded, err := w.Records.Superseded(ctx, before.Owner, before.ID)
	if err != nil {
		return r, err
	}
	r.outdated = memory.IDs(superseded)
	if err := w.leaveOutEarlier(ctx, &r, before.Owner); err != nil {
		return r, err
	}
	isFormer := func(m memory.Memory) bool {
		return SameWords(m.Content, after.Content) && m.CreatedAt.Equal(before.CreatedAt)
	}
	if i := slices.IndexFunc(superseded, isFormer); i >= 0 {
		r.former = superseded[i].ID
		isEarlier := func(m memory.Memory) bool { return since[m.ID].Before(since[r.former]) }
		if err := w.revive(ctx, &r, slices.DeleteFunc(superseded, isEarlier), before); err != nil {
			return r, err
		}
	}
	if w.mayReplace(after.Content) || len(r.later) > 0 {
		r.known, err = w.comparedFacts(ctx, before.Owner)
	}
	return r, err
}

// leaveOutEarlier leaves out what was derived from a former wording of the fact: it does not state the present one.
func (w *Writer) leaveOutEarlier(ctx context.Context, r *rewording, owner memory.Owner) error {
	if len(r.derived) == 0 || len(r.outdated) == 0 {
		return nil
	}
	sources, err := w.Records.Sources(ctx, owner, r.derived)
	r.derived = slices.DeleteFunc(r.derived, func(id string) bool {
		return slices.ContainsFunc(sources[id], func(m memory.Memory) bool { return slices.Contains(r.outdated, m.ID) })
	})
	return err
}

// revive embeds the memories that are active again because the fact does not contradict them any more. Former wordings
// of the fact stay superseded.
func (w *Writer) revive(ctx context.Context, r *rewording, superseded []memory.Memory, of memory.Memory) error {
	by := llm.Serving(w.Embedder)
	r.model = by.Model()
	var ids, texts []string
	for _, m := range superseded {
		if m.CreatedAt.Equal(of.CreatedAt) {
			continue
		}
		r.later = append(r.later, m.ID)
		if m.EmbeddingModel != r.model {
			ids, texts = append(ids, m.ID), append(texts, m.EmbeddedText())
		}
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := llm.EmbedDocuments(ctx, by, texts)
	r.embedded = map[string][]float32{}
	for i := range vectors {
		r.embedded[ids[i]] = vectors[i]
	}
	return err
}

// reword changes the words of the stored fact.
func (t *transaction) reword(
	ctx context.Context, id string, r rewording, apply func(m *memory.Memory) error,
) (reworded memory.Memory, err error) {
	rows, err := t.tx.Memories(ctx, append([]string{id}, r.outdated...))
	if err != nil {
		return memory.Memory{}, err
	}
	var own *memory.Memory
	for i := range rows {
		if rows[i].ID == id {
			own = &rows[i]
		}
	}
	if own == nil {
		return memory.Memory{}, memory.Errorf(memory.KindNotFound, "there is no memory %s", id)
	}
	before := *own
	if err := apply(own); err != nil {
		return memory.Memory{}, err
	}
	if !SameWords(own.Content, before.Content) {
		own.SayAgain(t.w.Now())
	}
	difference := history.Diff(before, *own)
	if difference == nil {
		return *own, nil
	}
	ended, err := t.endReworded(ctx, &before, own)
	if err != nil {
		return memory.Memory{}, err
	}
	t.Note(id, memory.EventUpdated, rewordedDetail{Change: difference, Ended: ended})
	if err := t.Update(ctx, before, own); err != nil {
		return memory.Memory{}, err
	}
	if SameWords(own.Content, before.Content) {
		return *own, nil
	}
	if len(r.messages)+len(r.derived) > 0 {
		t.keepWording(before, r)
	}
	isBack := func(c history.Change) bool {
		was, isReworded := c.From["content"].(string)
		return isReworded && SameWords(was, own.Content)
	}
	if err := history.ResumeFacts(ctx, t.tx, id, isBack); err != nil {
		return memory.Memory{}, err
	}
	revived, err := t.undoSince(ctx, rows, *own, r)
	if err != nil {
		return memory.Memory{}, err
	}
	if err := t.settle(ctx, append(revived, *own), r.known); err != nil {
		return memory.Memory{}, err
	}
	if t.w.Judge != nil {
		t.undecided = append(t.undecided, own)
	}
	stored, err := t.tx.Memories(ctx, []string{id})
	if err != nil {
		return memory.Memory{}, err
	}
	return stored[0], nil
}

// keepWording keeps what a fact said before as a memory that the fact supersedes. It relates what was derived from the
// fact to this memory.
func (t *transaction) keepWording(before memory.Memory, r rewording) {
	former := before
	former.ID, former.Revision = memory.NewID(), 1
	former.Pinned, former.AccessCount = false, 0 // a recall returned the fact
	former.LastSaidAt = time.Time{}              // no event of this memory would explain it
	former.OtherEmbedding, former.OtherModel = nil, ""
	kept := t.add(former, nil)
	for _, message := range r.messages {
		t.relate(kept.ID, memory.DerivedFrom, message)
	}
	for _, derived := range r.derived {
		t.relate(derived, memory.DerivedFrom, kept.ID)
	}
	kept.SayAgain(t.w.Now()) // it counts as said until the edit
	kept.Status, kept.SupersededBy = memory.Superseded, before.ID
	t.Note(kept.ID, memory.EventSuperseded, superseded{
		Change: history.Diff(former, *kept), Relation: memory.Contradicts, Why: byEdit,
	})
	t.relate(before.ID, memory.Contradicts, kept.ID)
	t.outdated = append(t.outdated, former)
}

// undoSince forgets the former wording that is the fact's wording again, so that its messages state the fact. It makes
// active again the memories that the fact has superseded since.
func (t *transaction) undoSince(
	ctx context.Context, rows []memory.Memory, own memory.Memory, r rewording,
) (revived []memory.Memory, err error) {
	for i := range rows {
		m := &rows[i]
		before, kind := *m, memory.EventRestored
		switch {
		case m.Status != memory.Superseded || m.SupersededBy != own.ID:
			continue
		case m.ID == r.former:
			m.Status, m.SupersededBy = memory.Forgotten, ""
			kind = memory.EventForgotten
		case slices.Contains(r.later, m.ID):
			events, err := t.tx.Events(ctx, m.ID)
			if err != nil {
				return nil, err
			}
			m.SupersededBy = ""
			m.Status = memory.Active
			if history.WasCondensed(events, own.ID) {
				m.Status, kind = memory.Consolidated, memory.EventConsolidated
				break
			}
			m.LastAccessedAt = memory.Instant(t.w.Now())
			if embedding := r.embedded[m.ID]; embedding != nil {
				m.Embed(embedding, r.model)
			}
			revived = append(revived, *m)
		default:
			continue
		}
		t.Note(m.ID, kind, history.Diff(before, *m))
		if err := t.Update(ctx, before, m); err != nil {
			return nil, err
		}
	}
	return revived, nil
}
