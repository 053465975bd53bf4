package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/reflection/compression"
)

// swam writes three related memories of 100 days ago, for the user "u".
func (b *fixture) swam() (old []memory.Memory) {
	b.t.Helper()
	for i, day := range []string{"Monday", "Wednesday", "Friday"} {
		at := noon.AddDate(0, 0, -100+i)
		old = append(old, b.keep(ingest.Write{Owner: owner("u"), Content: "In autumn the user swam a mile in the lake on " + day + ".", At: at}))
	}
	return old
}

func idsOf(list []memory.Memory) (ids []string) {
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestCompressThenUndo(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	old := b.swam()
	b.chat.Answers(`{"summaries":[{"summary":"In autumn the user swam a mile in the lake on Monday, Wednesday and Friday.","sources":[1,2,3]}]}`)
	dry := parse[compressBody](t, b.want(200, "POST", "/v1/compress", `{"user_id":"u","dry_run":true}`))
	if !dry.DryRun || dry.Considered != 3 || len(dry.Groups) != 1 || !slices.Equal(dry.Groups[0].Memories, idsOf(old)) || len(dry.Groups[0].Summaries) != 0 {
		t.Fatalf("%+v", dry)
	}
	if b.stored(old[0].ID).Status != memory.Active {
		t.Error("a dry run condenses")
	}
	done := parse[compressBody](t, b.want(200, "POST", "/v1/compress", `{"user_id":"u"}`, "Authorization", "Bearer write"))
	if done.DryRun || !done.At.Equal(noon) || len(done.Groups) != 1 || len(done.Groups[0].Summaries) != 1 || done.Groups[0].Refused != "" {
		t.Fatalf("%+v", done)
	}
	summary := done.Groups[0].Summaries[0]
	found := parse[recallBody](t, b.want(200, "POST", "/v1/recall", `{"user_id":"u","query":"swam in the lake","route":false,"expand":"sources"}`)).Memories
	if len(found) != 1 || found[0].ID != summary.ID || found[0].Type != memory.TypeSummary || len(found[0].DerivedFrom) != 3 {
		t.Errorf("recalled %+v", found)
	}
	if u := parse[undoBody](t, b.want(200, "POST", "/v1/memories/"+summary.ID+"/undo", "")); len(u.Restored) != 3 || u.Memory.Status != memory.Forgotten {
		t.Errorf("%+v", u)
	}
	if again := parse[compressBody](t, b.want(200, "POST", "/v1/compress", `{"user_id":"u"}`)); again.Considered != 0 {
		t.Errorf("what was undone is condensed again: %+v", again)
	}
}

func TestCompressRequestsAreChecked(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	old := b.swam()
	for body, status := range map[string]int{
		`{}`:                              http.StatusBadRequest,
		`{"user_id":""}`:                  http.StatusBadRequest,
		`{"user_id":"u","dry_run":"yes"}`: http.StatusBadRequest,
		`{"user_id":"u","dry":true}`:      http.StatusBadRequest,
		`{"user_id":"u\n"}`:               http.StatusBadRequest,
		`{"user_id":"nobody"}`:            http.StatusOK,
	} {
		b.want(status, "POST", "/v1/compress", body)
	}
	b.want(403, "POST", "/v1/compress", `{"user_id":"u"}`, "Authorization", "Bearer read")
	b.chat.Answers("nonsense")
	if r := parse[compressBody](t, b.want(200, "POST", "/v1/compress", `{"user_id":"u"}`)); len(r.Groups) != 1 || r.Groups[0].Refused == "" || b.stored(old[0].ID).Status != memory.Active {
		t.Errorf("%+v", r)
	}
	b = newFixture(t, func(o *Options) { o.Compressor = compression.New(compression.Parts{}, compression.Settings{}) })
	b.want(409, "POST", "/v1/compress", `{"user_id":"u"}`)
}

func TestContextIsCondensed(t *testing.T) {
	t.Parallel()
	b := newFixture(t, nil)
	var ids []string
	for _, sea := range []string{"Baltic", "Adriatic", "Caspian", "Red", "Yellow", "Black"} {
		ids = append(ids, b.keep(ingest.Write{Owner: owner("u"), Content: "The user swam across the " + sea + " Sea."}).ID)
	}
	const text = "The user swam across six seas, from Baltic to Black."
	ask := func(fields string) contextBody {
		t.Helper()
		return parse[contextBody](t, b.want(200, "POST", "/v1/context", `{"user_id":"u","query":"Which seas did the user swim across?","route":false`+fields+`}`))
	}
	for name, c := range map[string]struct{ says, fields, text string }{
		"many":           {text, "", "[Long-term memory]\n" + text},
		"too long":       {text, `,"max_chars":100`, "[Long-term memory]\n" + text},
		"in tokens":      {text, `,"max_tokens":40,"language":"zh"`, "【长期记忆】\n" + text},
		"to the brim":    {strings.Repeat("a", 82), `,"max_chars":101`, "[Long-term memory]\n" + strings.Repeat("a", 82)},
		"from the cache": {text, "", "[Long-term memory]\n" + text},
	} {
		b.chat.Answers(fmt.Sprintf(`{"text":%q}`, c.says))
		got := ask(`,"touch":false` + c.fields)
		if got.Text != c.text || !got.Condensed || got.NotCondensed != "" || len(got.Memories) != 6 || got.Dropped == nil || len(got.Dropped) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if counts := b.accesses(ids...); slices.Max(counts) != 0 {
		t.Errorf("touched: %v", counts)
	}
	if ask(""); slices.Min(b.accesses(ids...)) != 1 {
		t.Error("what was condensed is not touched")
	}

	if got := ask(`,"touch":false,"condense":false`); got.Condensed || got.NotCondensed != "" || len(got.Memories) != 6 || strings.Count(got.Text, "\n- ") != 6 {
		t.Errorf("though not asked to: %+v", got)
	}
	if got := ask(`,"touch":false,"limit":5`); got.Condensed || got.NotCondensed != "" || len(got.Memories) != 5 {
		t.Errorf("though five fit: %+v", got)
	}
	b.chat.Answers(`{"text":"The user swam across the Baltic Sea, and I have run out of room to say where else they did"}`)
	got := ask(`,"max_chars":99`)
	if got.Condensed || !strings.Contains(got.NotCondensed, "refused") || len(got.Memories) != 2 || len(got.Dropped) != 4 {
		t.Errorf("refused: %+v", got)
	}
	if counts := b.accesses(ids...); slices.Max(counts) != 2 || slices.Min(counts) != 1 {
		t.Errorf("what was dropped is touched: %v", counts)
	}
	b.want(400, "POST", "/v1/context", `{"user_id":"u","query":"seas","condense":"no"}`)
	b.want(400, "POST", "/v1/recall", `{"user_id":"u","query":"seas","condense":false}`)
}

func TestContextWithoutAModel(t *testing.T) {
	t.Parallel()
	b := newFixture(t, func(o *Options) { o.Condenser = compression.NewCondenser(nil, compression.Limits{Memories: 1}) })
	b.swam()
	const query = `{"user_id":"u","query":"swam in the lake","route":false`
	if got := parse[contextBody](t, b.want(200, "POST", "/v1/context", query+`}`)); got.Condensed || !strings.Contains(got.NotCondensed, "chat model") || len(got.Memories) != 3 {
		t.Errorf("%+v", got)
	}
	if got := parse[contextBody](t, b.want(200, "POST", "/v1/context", query+`,"limit":1}`)); got.NotCondensed != "" || len(got.Memories) != 1 {
		t.Errorf("%+v", got)
	}
}
