package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"hippocampus/forgetting"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

// fading writes six new memories of the user "u", one of 40 days ago, a pinned one of that time, and one of 40 days ago
// for a user of the same name in another app. Afterwards the clock shows noon.
func (f *fixture) fading() (old, pinned memory.Memory) {
	f.t.Helper()
	f.clock.Set(noon.AddDate(0, 0, -40))
	old = f.keep(ingest.Write{Owner: owner("u"), Content: "old", Domain: memory.Lifestyle})
	pinned = f.keep(ingest.Write{Owner: owner("u"), Content: "pinned", Pinned: true})
	f.keep(ingest.Write{Owner: memory.Owner{AppID: "other-app", UserID: "u"}, Content: "theirs"})
	f.clock.Set(noon)
	for _, content := range []string{"one", "two", "three", "four", "five", "six"} {
		f.keep(ingest.Write{Owner: owner("u"), Content: content, Domain: memory.Lifestyle})
	}
	return old, pinned
}

func TestForget_PreviewsThenForgets(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	old, pinned := f.fading()
	dry := fetch[forgetBody](f, 200, "POST", "/v1/forget", `{"user_id":"u","limit":2}`)
	if !dry.DryRun || !dry.At.Equal(noon) || dry.Active != 8 || dry.Due != 1 || dry.Stopped != "" ||
		len(dry.Forgotten) != 0 || len(dry.Memories) != 2 {
		t.Fatalf("%+v", dry)
	}
	if want := map[memory.Type]int{memory.TypeFact: 1}; !reflect.DeepEqual(dry.DueByType, want) {
		t.Errorf("due by type %v, want %v", dry.DueByType, want)
	}
	first, second := dry.Memories[0], dry.Memories[1]
	if first.ID != old.ID || first.Content != "old" || !first.Faded || first.Retention >= 0.1 ||
		!first.FadesAt.Before(noon) {
		t.Errorf("%+v", first)
	}
	if second.Faded || second.Retention < 0.8 || !second.FadesAt.After(noon.AddDate(0, 0, 10)) {
		t.Errorf("%+v", second)
	}
	if f.stored(old.ID).Status != memory.Active {
		t.Error("a dry run forgot a memory")
	}
	done := fetch[forgetBody](f, 200, "POST", "/v1/forget", `{"user_id":"u","dry_run":false}`, "Authorization",
		"Bearer write")
	if done.DryRun || len(done.Forgotten) != 1 || done.Forgotten[0] != old.ID || len(done.Memories) != 8 {
		t.Errorf("%+v", done)
	}
	if last := done.Memories[7]; last.ID != pinned.ID || !last.FadesAt.IsZero() || last.Faded {
		t.Errorf("%+v", last)
	}
	if f.stored(old.ID).Status != memory.Forgotten || f.stored(pinned.ID).Status != memory.Active {
		t.Error("more or less than the old memory was forgotten")
	}
	f.want(200, "POST", "/v1/memories/"+old.ID+"/restore", "")
	if f.stored(old.ID).Status != memory.Active {
		t.Error("the memory is not restored")
	}
}

func TestForget_ForgetsTheMaxShareAtATime(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	old, _ := f.fading()
	later := noon.AddDate(1, 0, 0)
	dry := fetch[forgetBody](f, 200, "POST", "/v1/forget", `{"user_id":"u","at":"`+later.Format(time.RFC3339)+`"}`)
	if !dry.At.Equal(later) || dry.Due != 7 || dry.Stopped != "" ||
		!strings.HasPrefix(dry.Warning, "7 of 8 active memories have faded: a run forgets the 1 of the lowest") {
		t.Errorf("%+v", dry)
	}
	f.advance(later.Sub(noon))
	part := fetch[forgetBody](f, 200, "POST", "/v1/forget", `{"user_id":"u","dry_run":false}`)
	if part.Warning != dry.Warning || len(part.Forgotten) != 1 || part.Forgotten[0] != old.ID {
		t.Errorf("%+v", part)
	}
	whole := fetch[forgetBody](f, 200, "POST", "/v1/forget", `{"user_id":"u","dry_run":false,"whole":true}`)
	if whole.Stopped+whole.Warning != "" || len(whole.Forgotten) != 6 {
		t.Errorf("%+v", whole)
	}
}

// Computed by hand for an importance of 0.8: strengthening leaves 0.9^10 * 0.9 = 0.3138 after 10 days without access,
// and 0.0133 after 40 days; exponential leaves e^(-0.1*10) / 5 = 0.0736 and 0.0037.
func TestForget_TriesAnotherRule(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	old, _ := f.fading()
	tenth := `"at":"` + noon.AddDate(0, 0, 10).Format(time.RFC3339) + `"`
	for _, one := range []struct {
		name, rule string
		due        int
		stopped    bool
		warned     bool
	}{
		{name: "the settings", rule: `{}`, due: 1},
		{name: "threshold", rule: `{"threshold":0.32}`, due: 7, warned: true},
		{name: "threshold of 0", rule: `{"threshold":0}`},
		{name: "share", rule: `{"threshold":0.32,"max_share":1}`, due: 7},
		{name: "share of 0", rule: `{"max_share":0}`, due: 1, stopped: true},
		{name: "base", rule: `{"base":0.999}`},
		{name: "policy", rule: `{"policy":"exponential"}`, due: 7, warned: true},
		{name: "lambda", rule: `{"policy":"exponential","lambda":0.01}`},
		{name: "minimum age", rule: `{"policy":"exponential","min_age_seconds":950400}`, due: 1}, // 11 days
		// Active on two days of the 40, and then on ten.
		{name: "clock", rule: `{"clock":"active","max_absence_seconds":31536000,"threshold":0.25}`},
		{name: "absence", rule: `{"clock":"active","max_absence_seconds":864000,"threshold":0.25}`, due: 1},
		{name: "excluded type", rule: `{"threshold":0.32,"exclude_types":["fact"]}`, due: 0},
		{name: "excluded domain", rule: `{"threshold":0.32,"exclude_domains":["lifestyle_and_interests"]}`, due: 0},
		{name: "another domain", rule: `{"threshold":0.32,"exclude_domains":["general_chat"]}`, due: 7, warned: true},
		{name: "a type that lasts", rule: `{"threshold":0.32,"lasts":{"fact":6}}`, due: 0},
		{name: "a domain that fades", rule: `{"lasts":{"lifestyle_and_interests":0.4}}`, due: 7, warned: true},
		{name: "both", rule: `{"lasts":{"lifestyle_and_interests":0.4,"fact":8}}`, due: 0},
		{name: "kept type", rule: `{"threshold":0.32,"keep_types":["task","fact"],"keep_importance":0.1}`, due: 0},
		{name: "kept importance", rule: `{"threshold":0.32,"keep_types":["fact"],"keep_importance":1}`, due: 7, warned: true},
	} {
		t.Run(one.name, func(t *testing.T) {
			dry := fetch[forgetBody](f, 200, "POST", "/v1/forget", `{"user_id":"u",`+tenth+`,"rule":`+one.rule+`}`)
			if dry.Due != one.due || (dry.Stopped != "") != one.stopped || (dry.Warning != "") != one.warned {
				t.Errorf("due %d, stopped %q, warning %q, want %+v", dry.Due, dry.Stopped, dry.Warning, one)
			}
		})
	}
	got := fetch[forgetBody](f, 200, "POST", "/v1/forget",
		`{"user_id":"u","rule":{"policy":"exponential","growth":2,"min_age_seconds":60}}`).Rule
	if want := (ruleBody{
		Policy: forgetting.Exponential, Threshold: 0.1, Base: 0.9, Growth: 2, Lambda: 0.1, MinAgeSeconds: 60, MaxShare: 0.2,
		Clock: forgetting.WallClock, Lasts: map[string]float64{}, ExcludeTypes: []memory.Type{},
		ExcludeDomains: []memory.Domain{}, KeepTypes: []memory.Type{},
	}); !reflect.DeepEqual(got, want) {
		t.Errorf("got the rule %+v, want %+v", got, want)
	}
	if f.stored(old.ID).Status != memory.Active {
		t.Error("a dry run forgot a memory")
	}
}

func TestForget_ChecksRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for body, path := range map[string]string{
		`{}`:                                          "user_id",
		`{"user_id":"a\u0007"}`:                       "user_id",
		`{"user_id":"u","dry_run":"yes"}`:             "dry_run",
		`{"user_id":"u","limit":0}`:                   "limit",
		`{"user_id":"u","limit":501}`:                 "limit",
		`{"user_id":"u","at":"soon"}`:                 "at",
		`{"user_id":"u","at":"2500-01-01T00:00:00Z"}`: "at",
		`{"user_id":"u","at":"2026-01-01T00:00:00Z","dry_run":false}`: "at",
		`{"user_id":"u","threshold":1}`:                               "threshold",
		`{"user_id":"u","rule":{},"dry_run":false}`:                   "rule",
		`{"user_id":"u","rule":null}`:                                 "rule",
		`{"user_id":"u","rule":[]}`:                                   "rule",
		`{"user_id":"u","rule":{"decay":1}}`:                          "rule.decay",
		`{"user_id":"u","rule":{"policy":"linear"}}`:                  "rule.policy",
		`{"user_id":"u","rule":{"policy":null}}`:                      "rule.policy",
		`{"user_id":"u","rule":{"threshold":1.01}}`:                   "rule.threshold",
		`{"user_id":"u","rule":{"base":1}}`:                           "rule.base",
		`{"user_id":"u","rule":{"base":0}}`:                           "rule.base",
		`{"user_id":"u","rule":{"growth":0.5}}`:                       "rule.growth",
		`{"user_id":"u","rule":{"lambda":0}}`:                         "rule.lambda",
		`{"user_id":"u","rule":{"min_age_seconds":-1}}`:               "rule.min_age_seconds",
		`{"user_id":"u","rule":{"min_age_seconds":1e18}}`:             "rule.min_age_seconds",
		`{"user_id":"u","rule":{"min_age_seconds":1.5}}`:              "rule.min_age_seconds",
		`{"user_id":"u","rule":{"max_share":2}}`:                      "rule.max_share",
	} {
		f.wantPaths("POST", "/v1/forget", body, path)
	}
	f.want(http.StatusForbidden, "POST", "/v1/forget", `{"user_id":"u"}`, "Authorization", "Bearer read")
	f.must(f.store.Close())
	f.want(http.StatusServiceUnavailable, "POST", "/v1/forget", `{"user_id":"u"}`)
}

func TestForgetMany_AnswersForEachID(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	type results struct{ Results []editedBody }
	forget := func(ids ...string) []editedBody {
		t.Helper()
		body, err := json.Marshal(map[string][]string{"ids": ids})
		f.must(err)
		return fetch[results](f, 200, "POST", "/v1/memories/forget", string(body), "Authorization", "Bearer write").Results
	}
	first := f.keep(ingest.Write{Owner: owner("u"), Content: "one"})
	pinned := f.keep(ingest.Write{Owner: owner("u"), Content: "two", Pinned: true})
	second := f.keep(ingest.Write{Owner: owner("v"), Content: "one"})
	gone := f.keep(ingest.Write{Owner: owner("v"), Content: "gone"})
	f.want(200, "DELETE", "/v1/memories/"+gone.ID, "")
	foreign := f.keep(ingest.Write{Owner: memory.Owner{AppID: "other-app", UserID: "u"}, Content: "theirs"})
	ids := []string{second.ID, first.ID, someID, foreign.ID, pinned.ID, first.ID, gone.ID}
	for range 2 { // repeating changes nothing
		got := forget(ids...)
		for i, id := range ids {
			unknown := id == someID || id == foreign.ID
			if got[i].ID != id || unknown != (got[i].Error != nil && got[i].Error.Status == 404) ||
				!unknown && got[i].Status != memory.Forgotten {
				t.Errorf("%s: %+v", id, got[i])
			}
		}
	}
	for _, m := range []memory.Memory{first, pinned, second, gone} {
		history := fetch[struct{ Events []wire.Event }](f, 200, "GET", "/v1/memories/"+m.ID+"/history", "")
		if got := f.stored(m.ID).Status; got != memory.Forgotten || len(history.Events) != 2 {
			t.Errorf("%q is %s with %d events, want forgotten with 2", m.Content, got, len(history.Events))
		}
	}
	other, err := f.store.Memory(t.Context(), "other-app", foreign.ID)
	f.must(err)
	if other.Status != memory.Active {
		t.Errorf("another app's memory is %s", other.Status)
	}
	f.want(200, "POST", "/v1/memories/"+first.ID+"/restore", "")
	if f.stored(first.ID).Status != memory.Active {
		t.Error("the memory is not restored")
	}
	f.must(f.store.Close())
	w := f.want(503, "POST", "/v1/memories/forget", `{"ids":["`+first.ID+`"]}`)
	if w.Header().Get("Retry-After") == "" {
		t.Error("without a database: no Retry-After")
	}
}

func TestForgetMany_TakesSeveralTransactions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	var ids []string
	for i := range 205 {
		ids = append(ids, f.keep(ingest.Write{Owner: owner("u"), Content: fmt.Sprint("note ", i)}).ID)
	}
	body, err := json.Marshal(map[string][]string{"ids": ids})
	f.must(err)
	f.want(200, "POST", "/v1/memories/forget", string(body))
	for _, id := range ids {
		if got := f.stored(id).Status; got != memory.Forgotten {
			t.Fatalf("%s is %s", id, got)
		}
	}
}

func TestForgetMany_ChecksRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	many := `["` + strings.Repeat(someID+`","`, memory.MaxPage) + someID + `"]`
	for body, path := range map[string]string{
		`{}`:                            "ids",
		`{"ids":null}`:                  "ids",
		`{"ids":[]}`:                    "ids",
		`{"ids":"` + someID + `"}`:      "ids",
		`{"ids":` + many + `}`:          "ids",
		`{"ids":[1]}`:                   "ids[0]",
		`{"ids":[null]}`:                "ids[0]",
		`{"ids":["` + someID + `",""]}`: "ids[1]",
		`{"ids":["` + strings.ToUpper(someID) + `"]}`:    "ids[0]",
		`{"ids":["a\u0000"]}`:                            "ids[0]",
		`{"ids":["` + strings.Repeat("x", 1<<16) + `"]}`: "ids[0]",
		`{"ids":["` + someID + `"],"user_id":"u"}`:       "ids",
		`{"user_id":"u"}`:                                "ids",
		`{"turn_id":"t"}`:                                "user_id",
		`{"user_id":"u","turn_id":""}`:                   "turn_id",
		`{"user_id":"u","filter":{"x":1}}`:               "filter.x",
	} {
		f.wantPaths("POST", "/v1/memories/forget", body, path)
	}
	f.want(http.StatusForbidden, "POST", "/v1/memories/forget", `{"ids":["`+someID+`"]}`, "Authorization", "Bearer read")
}

func TestStats_CountRetention(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.fading()
	count := func() retentionBody {
		t.Helper()
		return fetch[statsBody](f, 200, "GET", "/v1/stats", "").Retention
	}
	first := count()
	if len(first.Bands) != 6 || first.Exempt != 1 || !first.At.Equal(noon) {
		t.Fatalf("%+v", first)
	}
	if low, high := first.Bands[0], first.Bands[5]; low != (bandBody{0, 0.1, 1}) || high != (bandBody{0.8, 1, 6}) {
		t.Errorf("%+v", first)
	}
	if want := map[string]tierBody{
		"low": {Memories: 1, Retention: first.Tiers["low"].Retention}, "medium": {}, "high": {Memories: 6, Retention: 0.85},
	}; !reflect.DeepEqual(first.Tiers, want) || first.Tiers["low"].Retention > 0.02 || first.OverShare != 0 {
		t.Errorf("%+v", first)
	}
	f.keep(ingest.Write{Owner: owner("u"), Content: "seven"})
	f.advance(retentionTTL - time.Second)
	if again := count(); again.Bands[5].Memories != 6 || !again.At.Equal(noon) {
		t.Errorf("counted again within a minute: %+v", again)
	}
	f.advance(time.Second)
	if again := count(); again.Bands[5].Memories != 7 {
		t.Errorf("not counted again after a minute: %+v", again)
	}
}

func TestStats_CountTheRetentionOfAUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.fading()
	for content, days := range map[string]int{"old": -40, "older": -50} {
		f.clock.Set(noon.AddDate(0, 0, days))
		f.keep(ingest.Write{Owner: owner("other"), Content: content})
	}
	f.clock.Set(noon)
	for user, want := range map[string][4]int{ // low, high, exempt, over_share
		"u": {1, 6, 1, 0}, "other": {2, 0, 0, 1}, "nemo": {},
	} {
		stats := fetch[statsBody](f, 200, "GET", "/v1/stats?user_id="+user, "", "Authorization", "Bearer read")
		r := stats.User.Retention
		if got := [4]int{r.Tiers["low"].Memories, r.Tiers["high"].Memories, r.Exempt, r.OverShare}; got != want ||
			stats.User.UserID != user || len(r.Bands) != 6 || stats.Retention.OverShare != 1 {
			t.Errorf("%s: %+v, app %+v", user, stats.User, stats.Retention)
		}
	}
	if body := fetch[statsBody](f, 200, "GET", "/v1/stats", ""); body.User != nil {
		t.Errorf("without user_id: %+v", body.User)
	}
	f.wantPaths("GET", "/v1/stats?user_id=%07", "", "query.user_id")
	f.wantPaths("GET", "/v1/stats?user_id=", "", "query.user_id")
}

// A dry run by another rule forgets old messages as the run does.
func TestRuleRequest_KeepsTheAgeOfMessages(t *testing.T) {
	t.Parallel()
	threshold := 0.2
	got := ruleRequest{Threshold: &threshold}.over(forgetting.Rule{Threshold: 0.1, MessageAge: time.Hour})
	if want := (forgetting.Rule{Threshold: 0.2, MessageAge: time.Hour}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
