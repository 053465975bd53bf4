package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// unchangeable are records that cannot change the users for whom `down` is true.
type unchangeable struct {
	ingest.Records
	down func(userID string) bool
}

func (u unchangeable) InUser(ctx context.Context, o memory.Owner, f func(context.Context, db.UserTx) error) error {
	if u.down(o.UserID) {
		return memory.Errorf(memory.KindUnavailable, "the database is unavailable")
	}
	return u.Records.InUser(ctx, o, f)
}

// unwritable is unchangeable for the writer of memories.
type unwritable struct {
	write.Records
	down func(userID string) bool
}

func (u unwritable) InUser(ctx context.Context, o memory.Owner, f func(context.Context, db.UserTx) error) error {
	if u.down(o.UserID) {
		return memory.Errorf(memory.KindUnavailable, "the database is unavailable")
	}
	return u.Records.InUser(ctx, o, f)
}

// A request about several items is answered with 503 and Retry-After if the database became unavailable before one was
// done, as openapi.yaml states. Else the items have results: `unavailable`, and `not_tried` for those after it.
func TestItems_StopAtAnUnavailableDatabase(t *testing.T) {
	t.Parallel()
	f := newStrictFixture(t)
	f.restart(func(o *Options) { o.Memories.Writer = f.service })
	users := []string{"u", "v", "w"}
	var kept, forgotten, candidates []string
	for _, user := range users {
		kept = append(kept, f.keep(ingest.Write{Owner: owner(user), Content: "Keeps bees."}).ID)
		forgotten = append(forgotten, f.keep(ingest.Write{Owner: owner(user), Content: "Likes tea."}).ID)
		candidates = append(candidates, proposed(t, f, user, "I live in Oslo.")[0].ID)
	}
	idsOf := func(ids []string) string {
		body, err := json.Marshal(map[string]any{"ids": ids})
		f.must(err)
		return string(body)
	}
	f.want(200, "POST", "/v1/memories/forget", idsOf(forgotten))
	writes := `{"memories":[{"user_id":"u","content":"a"},{"user_id":"v","content":"b"}]}`
	requests := []struct{ operation, path, body string }{
		{"createMemories", "/v1/memories/batch", writes},
		{"forgetMemories", "/v1/memories/forget", idsOf(kept)},
		{"forgetMemories", "/v1/memories/forget", `{"user_id":"u","filter":{"type":"fact"}}`},
		{"restoreMemories", "/v1/memories/restore", idsOf(forgotten)},
		{"promoteCandidates", "/v1/candidates/promote", idsOf(candidates)},
	}
	several := slices.Delete(slices.Clone(requests), 2, 3)[1:] // of more than one user
	records, writer := f.service.Records, f.service.Writer.Records
	fail := func(down func(userID string) bool) {
		f.service.Records = unchangeable{records, down}
		f.service.Writer.Records = unwritable{writer, down}
	}
	fail(func(string) bool { return true })
	for _, r := range requests {
		w := f.want(503, "POST", r.path, r.body)
		if p := parse[frame.Problem](t, w); p.Kind() != memory.KindUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %+v, Retry-After %q", r.path, p, w.Header().Get("Retry-After"))
		}
		stated := f.contract.Paths.Value(r.path).Post.Responses.Value("503")
		if stated.Ref != "#/components/responses/NothingDone" || stated.Value.Headers["Retry-After"] == nil {
			t.Errorf("%s: openapi.yaml states %s for 503", r.operation, stated.Ref)
		}
	}
	fail(func(userID string) bool { return userID == "v" })
	for _, r := range several {
		var kinds []memory.Kind
		for _, item := range fetch[struct {
			Results []struct{ Error frame.Problem }
		}](f, 200, "POST", r.path, r.body).Results {
			kinds = append(kinds, item.Error.Kind())
		}
		want := []memory.Kind{"", memory.KindUnavailable, memory.KindNotTried}
		if fmt.Sprint(kinds) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", r.path, kinds, want)
		}
	}
	fail(func(string) bool { return false })
	for _, r := range several {
		for i, item := range fetch[struct{ Results []resultBody }](f, 200, "POST", r.path, r.body).Results {
			if item.Error != nil {
				t.Errorf("%s, item %d, sent again: %+v", r.path, i, item.Error)
			}
		}
	}
}
