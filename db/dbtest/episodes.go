package dbtest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func changeEpisodes(
	t *testing.T, s db.Store, owner memory.Owner, gone []string, revision int64, changed ...db.Episode,
) {
	t.Helper()
	must(t, s.InUser(t.Context(), owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.ChangeEpisodes(ctx, gone, changed, revision)
	}))
}

func newEpisode(owner memory.Owner, theme string, ended time.Time, members ...memory.Memory) db.Episode {
	return db.Episode{
		ID: memory.NewID(), Owner: owner, Theme: theme, Began: epoch, Ended: ended, Basis: "1",
		Label: json.RawMessage(`{"terms":"\"Ada\" ☃"}`), Members: memory.IDs(members),
	}
}

// episodeIDs lists the episodes that a filter chooses.
func episodeIDs(t *testing.T, s db.Store, f db.EpisodeFilter) []string {
	t.Helper()
	f.Limit = 10
	if f.Before != nil {
		f.Limit = 1
	}
	found, err := s.ListEpisodes(t.Context(), f)
	must(t, err)
	list := make([]string, len(found))
	for i, e := range found {
		list[i] = e.ID
	}
	return list
}

// episodes are listed as long as they have a current memory, and are deleted with memories, as are those of the same
// theme.
func episodes(t *testing.T, s db.Store) {
	ctx := t.Context()
	memories := make([]memory.Memory, 8)
	for i := range memories {
		memories[i] = newMemory(alice, describe(i))
		memories[i].CreatedAt = after(i)
	}
	memories[7].Type = memory.TypeMessage
	insert(t, s, epoch, memories...)
	state, err := s.EpisodeState(ctx, alice)
	must(t, err)
	if state.Made != 0 || state.Current == 0 {
		t.Errorf("never made: %+v", state)
	}
	theme := memory.NewID()
	a := newEpisode(alice, theme, after(20), memories[0], memories[1])
	b := newEpisode(alice, theme, after(30), memories[2], memories[7])
	c := newEpisode(alice, "", after(30), memories[3])
	c.AgentID = "agent"
	c.Members = append(c.Members, memory.NewID()) // of a memory that does not exist
	d := newEpisode(bob, "", after(40))
	changeEpisodes(t, s, alice, nil, state.Current, a, b, c)
	changeEpisodes(t, s, bob, nil, 1, d)
	latest, earlier := b.ID, c.ID
	if c.ID > b.ID {
		latest, earlier = c.ID, b.ID
	}

	of := db.EpisodeFilter{Owner: alice}
	wantSame(t, "all", episodeIDs(t, s, of), []string{latest, earlier, a.ID})
	of.Before = &db.Position{At: after(30), ID: latest}
	wantSame(t, "a page", episodeIDs(t, s, of), []string{earlier})
	wantSame(t, "of a theme", episodeIDs(t, s, db.EpisodeFilter{Owner: alice, Theme: theme}), []string{b.ID, a.ID})
	wantSame(t, "of another agent", episodeIDs(t, s, db.EpisodeFilter{Owner: alice, SeenBy: "other"}),
		[]string{b.ID, a.ID})
	wantSame(t, "since", episodeIDs(t, s, db.EpisodeFilter{Owner: alice, Since: after(25)}), []string{latest, earlier})
	wantSame(t, "until", episodeIDs(t, s, db.EpisodeFilter{Owner: alice, Until: epoch}), []string{})
	wantSame(t, "by id", episodeIDs(t, s, db.EpisodeFilter{Owner: alice, IDs: []string{a.ID}}), []string{a.ID})
	wantSame(t, "without memories", episodeIDs(t, s, db.EpisodeFilter{Owner: bob}), []string{})
	all, err := s.AllEpisodes(ctx, bob)
	must(t, err)
	wantSame(t, "all of bob's", all, []db.Episode{d})

	in, err := s.EpisodesOf(ctx, alice, memory.IDs(memories))
	must(t, err)
	wantSame(t, "episodes of memories", in, map[string]string{
		memories[0].ID: a.ID, memories[1].ID: a.ID, memories[2].ID: b.ID, memories[7].ID: b.ID, memories[3].ID: c.ID,
	})
	current := func(what string, want ...memory.Memory) {
		t.Helper()
		found, err := s.EpisodeMembers(ctx, alice, []string{a.ID, b.ID})
		must(t, err)
		var got []string
		for _, m := range found {
			got = append(got, m.ID)
			wantSame(t, "the episode of "+m.ID, m.EpisodeID, in[m.ID])
		}
		wantSame(t, what, got, memory.IDs(want))
	}
	current("members", memories[0], memories[1], memories[2], memories[7])
	must(t, relate(t, s, alice, memory.Relation{
		From: memories[4].ID, To: memories[7].ID, Kind: memory.DerivedFrom, CreatedAt: after(8),
	}))
	memories[4].Status, memories[4].SupersededBy, memories[4].Revision = memory.Superseded, memories[5].ID, 2
	update(t, s, memories[4])
	current("without a message of a superseded memory", memories[0], memories[1], memories[2])
	memories[2] = forgotten(t, s, memories[2], after(9))
	current("without a forgotten memory", memories[0], memories[1])
	wantSame(t, "without an episode of none", episodeIDs(t, s, db.EpisodeFilter{Owner: alice}), []string{c.ID, a.ID})

	c.Members, c.Basis = memory.IDs(memories[5:6]), "2"
	changeEpisodes(t, s, alice, nil, 7, c)
	in, err = s.EpisodesOf(ctx, alice, memory.IDs(memories[3:6]))
	must(t, err)
	wantSame(t, "after a change", in, map[string]string{memories[5].ID: c.ID})
	state, err = s.EpisodeState(ctx, alice)
	must(t, err)
	wantSame(t, "made of", state.Made, int64(7))
	c.Label = json.RawMessage(`{"name":"b"}`)
	stale := c
	stale.Basis, stale.Label = "1", json.RawMessage(`{"name":"a"}`)
	for _, e := range []db.Episode{c, stale} {
		must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error { return tx.LabelEpisode(ctx, e) }))
	}
	found, err := s.ListEpisodes(ctx, db.EpisodeFilter{Owner: alice, IDs: []string{c.ID}, Limit: 1})
	must(t, err)
	wantSame(t, "the label", string(found[0].Label), string(c.Label))
	must(t, s.InUser(ctx, alice, func(ctx context.Context, tx db.UserTx) error {
		_, err := tx.Purge(ctx, memory.IDs(memories[2:3]))
		return err
	}))
	wantSame(t, "after a purge", episodeIDs(t, s, db.EpisodeFilter{Owner: alice}), []string{c.ID})
	changeEpisodes(t, s, alice, []string{c.ID}, 8)
	wantSame(t, "after a deletion", episodeIDs(t, s, db.EpisodeFilter{Owner: alice}), []string{})

	changeEpisodes(t, s, alice, nil, 9, a)
	e := beginMerge(t, s, db.Merge{From: bob, Into: alice})
	moveAll(t, s, e, alice, 10)
	endMerge(t, s, e)
	for _, owner := range []memory.Owner{alice, bob} {
		all, err = s.AllEpisodes(ctx, owner)
		must(t, err)
		state, err := s.EpisodeState(ctx, owner)
		must(t, err)
		if len(all) > 0 || state.Made != 0 {
			t.Errorf("after a merge: %+v, %+v", all, state)
		}
	}
	changeEpisodes(t, s, alice, nil, 9, a)
	erased := begin(t, s, alice)
	eraseAll(t, s, erased, 10)
	_, err = s.EndErasure(ctx, erased, after(200), 0)
	must(t, err)
	all, err = s.AllEpisodes(ctx, alice)
	must(t, err)
	wantSame(t, "of an erased user", len(all), 0)
}

func exerciseEpisodes(t *testing.T, s db.Store, owner memory.Owner, members []string) {
	t.Helper()
	ctx := t.Context()
	e := newEpisode(owner, memory.NewID(), after(1))
	e.Members = members
	changeEpisodes(t, s, owner, []string{memory.NewID()}, 1, e)
	for _, f := range []db.EpisodeFilter{
		{}, {Since: epoch, Until: after(9)}, {Theme: e.Theme}, {IDs: []string{e.ID}}, {SeenBy: "agent"},
		{Before: &db.Position{At: after(2), ID: e.ID}},
	} {
		f.Owner, f.Limit = owner, 5
		_, err := s.ListEpisodes(ctx, f)
		must(t, err)
	}
	_, err := s.EpisodeMembers(ctx, owner, []string{e.ID})
	must(t, err)
	_, err = s.EpisodesOf(ctx, owner, members)
	must(t, err)
	_, err = s.AllEpisodes(ctx, owner)
	must(t, err)
	_, err = s.EpisodeState(ctx, owner)
	must(t, err)
	must(t, s.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error { return tx.LabelEpisode(ctx, e) }))
}
