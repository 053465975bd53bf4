// Package episodes groups the memories of a user by time and meaning:
//
//	active statements -> episodes (a trip, a project), each with telling terms -> themes of similar episodes
//	stored rows + memories of now -> episodes as they are read
//
// Episodes are derived, and can be made again at any time: the same memories give the same episodes. What is read is
// checked against the memories of now, so that what is forgotten or superseded is in no episode and no title. What has
// expired stays: a plan whose day has passed says what happened.
package episodes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Records is the part of the database that episodes use.
type Records interface {
	jobs.OwnerLister
	db.Episodes
	Documents(ctx context.Context, owner memory.Owner) ([]db.Document, error)
	EachEmbedding(ctx context.Context, owner memory.Owner, model string, limit int,
		f func(id string, embedding []float32)) error
	Hydrate(ctx context.Context, owner memory.Owner, ids, embedded []string) ([]memory.Memory, error)
	CountActive(ctx context.Context, owner memory.Owner) (int, error)
	State(ctx context.Context, owner memory.Owner) (db.UserState, error)
	EnqueueForConversation(ctx context.Context, c memory.Conversation, job db.Job) error
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
}

// Parts are what a Service works with.
type Parts struct {
	Records     Records
	Embedder    llm.Embedder
	Calibration func(memory.Space) memory.Calibration // of similarities; zero: words decide alone
	Chat        llm.Chat                              // nil: episodes are named by their terms
	Now         func() time.Time
}

// Service makes and reads episodes. It is safe for concurrent use.
type Service struct{ Parts }

// New makes a service.
func New(p Parts) *Service { return &Service{p} }

// maxStatements is how many statements of a user, the latest, are grouped.
const maxStatements = 10_000

// Made is the result of one run for a user.
type Made struct {
	Episodes int  `json:"episodes"`
	Themes   int  `json:"themes"`
	Changed  int  `json:"changed"` // episodes that are new or differ from before
	Gone     int  `json:"gone"`    // that are no episodes any more
	Same     bool `json:"same"`    // no memory has changed since the last run, which was not repeated
}

// label is what a row keeps for people.
type label struct {
	Terms []Term `json:"terms"`
	Theme []Term `json:"theme,omitempty"` // terms of the theme
	Core  bool   `json:"core,omitempty"`  // the episode is condensed
	Name  *name  `json:"name,omitempty"`  // by a model; nil: it was not asked, without a title: its answer was refused
}

// Make groups the memories of a user again, and stores what has changed. Unless a memory has changed since the last
// run, it does nothing. KindConflict: the user was erased in the meantime.
func (s *Service) Make(ctx context.Context, owner memory.Owner) (Made, error) {
	state, err := s.Records.EpisodeState(ctx, owner)
	if err != nil || state.Made == state.Current {
		return Made{Same: err == nil}, err
	}
	user, err := s.Records.State(ctx, owner)
	if err != nil {
		return Made{}, err
	}
	stored, err := s.Records.AllEpisodes(ctx, owner)
	if err != nil {
		return Made{}, err
	}
	now, themes, err := s.grouped(ctx, owner)
	if err != nil {
		return Made{}, err
	}
	made := Made{Episodes: len(now), Themes: themes}
	before := map[string]db.Episode{}
	for _, e := range stored {
		before[e.ID] = e
	}
	var changed []db.Episode
	for _, e := range now {
		if before[e.ID].Basis != e.Basis {
			e.Label = named(e, before[e.ID])
			changed = append(changed, e)
		}
		delete(before, e.ID)
	}
	gone := slices.Collect(maps.Keys(before))
	made.Changed, made.Gone = len(changed), len(gone)
	return made, s.Records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		if current, err := tx.State(ctx); err != nil {
			return err
		} else if current.Erased != user.Erased {
			return memory.Errorf(memory.KindConflict, "the user was erased in the meantime: nothing is left to group")
		}
		return tx.ChangeEpisodes(ctx, gone, changed, state.Current)
	})
}

// named returns the label of an episode, with the name that it had before if that still fits.
func named(e, before db.Episode) json.RawMessage {
	var now, then label
	if json.Unmarshal(before.Label, &then) != nil || json.Unmarshal(e.Label, &now) != nil ||
		now.Core != then.Core || !then.Name.keepsFor(e.Members) {
		return e.Label
	}
	now.Name = then.Name
	raw, _ := json.Marshal(now) // strings only: cannot fail
	return raw
}

// grouped returns the episodes of the user's memories, by their ids, and the number of themes.
func (s *Service) grouped(ctx context.Context, owner memory.Owner) (all []db.Episode, themes int, err error) {
	space := llm.SpaceOf(llm.Serving(s.Embedder))
	docs, err := s.Records.Documents(ctx, owner)
	if err != nil {
		return nil, 0, err
	}
	cores, in, err := s.condensed(ctx, owner, docs)
	if err != nil {
		return nil, 0, err
	}
	byAgent := statementsOf(docs, cores)
	embeddings := map[string][]float32{}
	for _, items := range byAgent {
		for _, it := range items {
			embeddings[it.id] = nil
		}
	}
	err = s.Records.EachEmbedding(ctx, owner, space.Model, len(docs), func(id string, embedding []float32) {
		if _, wanted := embeddings[id]; wanted && len(embedding) == space.Dim {
			embeddings[id] = slices.Clone(embedding)
		}
	})
	if err != nil {
		return nil, 0, err
	}
	words := corpusOf(slices.Concat(slices.Collect(maps.Values(byAgent))...))
	for agent, items := range byAgent {
		for i := range items {
			items[i].embedding, items[i].episode = embeddings[items[i].id], in[items[i].id]
		}
		episodes, n := rowsOf(items, words, s.Calibration(space))
		for i := range episodes {
			episodes[i].Owner, episodes[i].AgentID = owner, agent
		}
		all, themes = append(all, episodes...), themes+n
	}
	slices.SortFunc(all, func(a, b db.Episode) int { return cmp.Compare(a.ID, b.ID) })
	return all, themes, nil
}

// statementsOf returns, for each agent, what may be in an episode: what the user has said or an app has written, each
// statement once. Answers of the assistant, passages of documents, skills and what was inferred are left out, as are
// messages that a fact stands for and those that are former.
func statementsOf(docs []db.Document, cores map[string]*Core) map[string][]item {
	stated := map[string]bool{}
	for _, d := range docs {
		if d.Type != memory.TypeMessage {
			for _, id := range d.DerivedFrom {
				stated[id] = true
			}
		}
	}
	byAgent := map[string][]item{}
	for _, d := range docs {
		isMessage := d.Type == memory.TypeMessage
		switch {
		case d.Type.IsInferred(), d.Type == "skill", d.Type == "tool_use", d.Type == "error",
			isMessage && (d.Speaker == memory.RoleAssistant || d.Speaker == memory.SpeakerDocument || stated[d.ID]),
			isMessage && slices.ContainsFunc(d.Supersedes, func(f db.Former) bool { return f.From == d.ID }):
			continue
		}
		it := item{id: d.ID, at: d.CreatedAt, content: d.Content, domain: d.Domain}
		if c := cores[d.ID]; c != nil {
			it.began, it.standsFor = c.From, d.DerivedFrom
		}
		byAgent[d.AgentID] = append(byAgent[d.AgentID], it)
	}
	for agent, items := range byAgent {
		slices.SortFunc(items, byPlace)
		byAgent[agent] = items[max(len(items)-maxStatements, 0):]
	}
	return byAgent
}

// rowsOf groups items into episodes and themes, which are named by what the other words of the user lack.
func rowsOf(items []item, words corpus, c memory.Calibration) (rows []db.Episode, themes int) {
	open, condensed := []item{}, map[string][]item{}
	for _, it := range items {
		if it.episode == "" {
			open = append(open, it)
		} else {
			condensed[it.episode] = append(condensed[it.episode], it)
		}
	}
	var groups [][]item
	for _, g := range group(open, c) {
		if id := idOf(g[0], "episode"); len(condensed[id]) > 0 { // it was of this episode until it was forgotten
			for i := range g {
				g[i].episode = id
			}
			condensed[id] = append(condensed[id], g...)
			slices.SortFunc(condensed[id], byPlace)
		} else {
			groups = append(groups, g)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(condensed)) {
		groups = append(groups, condensed[id])
	}
	if len(groups) == 0 {
		return nil, 0
	}
	labels := make([]label, len(groups))
	rows = make([]db.Episode, len(groups))
	for i, g := range groups {
		labels[i] = label{Terms: words.termsOf(g), Core: g[0].episode != ""}
		rows[i] = db.Episode{
			ID: cmp.Or(g[0].episode, idOf(g[0], "episode")), Began: g[0].at, Ended: g[len(g)-1].at,
		}
		for _, it := range g {
			rows[i].Members = append(rows[i].Members, it.id)
			if !it.began.IsZero() && it.began.Before(rows[i].Began) {
				rows[i].Began = it.began
			}
		}
		for _, it := range g {
			rows[i].Members = append(rows[i].Members, it.standsFor...) // an undo returns them to the episode
		}
	}
	for _, theme := range themesOf(groups, items, c) {
		themes++
		var statements []item
		for _, i := range theme {
			statements = append(statements, groups[i]...)
		}
		id, terms := idOf(statements[0], "theme"), words.termsOf(statements)
		for _, i := range theme {
			rows[i].Theme, labels[i].Theme = id, terms
		}
	}
	for i := range rows {
		rows[i].Label, _ = json.Marshal(labels[i]) // strings only: cannot fail
		rows[i].Basis = basisOf(rows[i])
	}
	return rows, themes
}

// idOf is the id of an episode or theme that begins with a statement.
func idOf(first item, kind string) string {
	return memory.CopiedID(first.id, memory.Owner{UserID: kind}, 0)
}

func basisOf(e db.Episode) string {
	sum := sha256.New()
	_ = json.NewEncoder(sum).Encode([]any{e.Members, e.Theme, e.Label}) // writes to a hash: cannot fail
	return hex.EncodeToString(sum.Sum(nil))
}
