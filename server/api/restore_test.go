package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

// idsBody is a request that names memories.
func (f *fixture) idsBody(ids ...string) string {
	f.t.Helper()
	body, err := json.Marshal(restoreMemoriesRequest{IDs: ids})
	f.must(err)
	return string(body)
}

func TestRestoreMany_AnswersForEachID(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	restore := func(ids ...string) []editedBody {
		t.Helper()
		return fetch[struct{ Results []editedBody }](
			f, 200, "POST", "/v1/memories/restore", f.idsBody(ids...), "Authorization", "Bearer write").Results
	}
	first := f.keep(ingest.Write{Owner: owner("u"), Content: "Keeps bees."})
	second := f.keep(ingest.Write{Owner: owner("v"), Content: "Keeps hens."})
	active := f.keep(ingest.Write{Owner: owner("v"), Content: "Plays chess."})
	replaced := f.keep(ingest.Write{Owner: owner("w"), Content: "I live in Porto.", Dedup: true})
	f.advance(time.Hour)
	f.keep(ingest.Write{Owner: owner("w"), Content: "I live in Braga.", Dedup: true})
	foreign := f.keep(ingest.Write{Owner: memory.Owner{AppID: "other-app", UserID: "u"}, Content: "theirs"})
	f.want(200, "POST", "/v1/memories/forget", f.idsBody(first.ID, second.ID))
	if got := f.stored(replaced.ID); got.Status != memory.Superseded {
		t.Fatalf("the statement that another replaces is %s", got.Status)
	}
	_, err := f.service.Forget(t.Context(), "other-app", foreign.ID, ingest.OfStatement)
	f.must(err)

	ids := []string{second.ID, first.ID, someID, foreign.ID, replaced.ID, first.ID, active.ID}
	for range 2 { // repeating changes nothing
		got := restore(ids...)
		for i, id := range ids {
			unknown := id == someID || id == foreign.ID
			if got[i].ID != id || unknown != (got[i].Error != nil && got[i].Error.Status == 404) ||
				!unknown && got[i].Status != memory.Active {
				t.Errorf("%s: %+v", id, got[i])
			}
		}
	}
	for id, events := range map[string]int{first.ID: 3, second.ID: 3, replaced.ID: 3, active.ID: 1} {
		history := fetch[struct{ Events []wire.Event }](f, 200, "GET", "/v1/memories/"+id+"/history", "")
		if got := f.stored(id); got.Status != memory.Active || got.SupersededBy != "" || len(history.Events) != events {
			t.Errorf("%q is %s with %d events, want active with %d", got.Content, got.Status, len(history.Events), events)
		}
	}
	other, err := f.store.Memory(t.Context(), "other-app", foreign.ID)
	f.must(err)
	if other.Status != memory.Forgotten {
		t.Errorf("another app's memory is %s", other.Status)
	}
	f.must(f.store.Close())
	f.want(503, "POST", "/v1/memories/restore", `{"ids":["`+first.ID+`"]}`)
}

func TestRestoreMany_ChecksRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	many := `["` + strings.Repeat(someID+`","`, memory.MaxPage) + someID + `"]`
	for body, path := range map[string]string{
		`{}`:                            "ids",
		`{"ids":[]}`:                    "ids",
		`{"ids":` + many + `}`:          "ids",
		`{"ids":["` + someID + `",""]}`: "ids[1]",
		`{"ids":["` + someID + `"],"user_id":"u"}`: "user_id",
	} {
		f.wantPaths("POST", "/v1/memories/restore", body, path)
	}
	f.want(http.StatusForbidden, "POST", "/v1/memories/restore", f.idsBody(someID), "Authorization", "Bearer read")
}

func TestRestoreMany_CountsAgainstTheQuota(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Quotas.Default.Memories = 3 })
	first := f.keep(ingest.Write{Owner: owner("u"), Content: "I keep bees."})
	second := f.keep(ingest.Write{Owner: owner("u"), Content: "I live in Porto."})
	f.want(200, "POST", "/v1/memories/forget", f.idsBody(first.ID, second.ID))
	f.want(201, "POST", "/v1/memories", `{"user_id":"u","content":"I run."}`)
	f.want(201, "POST", "/v1/memories", `{"user_id":"u","content":"I play chess."}`)
	f.overQuota("quotas.memories", 3, "POST", "/v1/memories/restore", f.idsBody(first.ID, second.ID))
	f.want(200, "POST", "/v1/memories/restore", f.idsBody(first.ID))
}
