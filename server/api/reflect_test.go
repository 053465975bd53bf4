package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/server/frame"
)

const goodReflection = `{"insights":[{"insight":"The user swims several times a week.","sources":[1,2]}],` +
	`"retire":[1,2]}`

// swims writes three facts of the user "u".
func (f *fixture) swims() (facts []memory.Memory) {
	f.t.Helper()
	for _, day := range []string{"Monday", "Wednesday", "Friday"} {
		facts = append(facts, f.keep(ingest.Write{Owner: owner("u"), Content: "The user swims on " + day + "."}))
	}
	return facts
}

func TestReflect_IsExpandedAndUndone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	facts := f.swims()
	f.chat.Answers(goodReflection)
	if r := fetch[reflectBody](f, 200, "POST", "/v1/reflect", `{"user_id":"u"}`); r.Skipped == "" || r.Facts != 3 ||
		len(r.Insights) != 0 {
		t.Errorf("reflected though it is not due: %+v", r)
	}
	r := fetch[reflectBody](f, 200, "POST", "/v1/reflect", `{"user_id":"u","force":true}`)
	if r.Skipped != "" || !r.At.Equal(noon) || len(r.Insights) != 1 || len(r.Retired) != 2 ||
		r.Insights[0].Type != memory.TypeReflection {
		t.Fatalf("%+v", r)
	}
	insight := r.Insights[0]

	const query = `{"user_id":"u","query":"On which days of the week does the user swim?","route":false`
	recalled := map[string][]wire.Memory{}
	for _, m := range fetch[recallBody](f, 200, "POST", "/v1/recall", query+`,"expand":"sources"}`).Memories {
		recalled[m.ID] = m.DerivedFrom
	}
	if sources := recalled[insight.ID]; len(recalled) != 2 || len(sources) != 2 || sources[0].ID != facts[0].ID ||
		sources[0].Status != memory.Consolidated {
		t.Errorf("recalled %+v", recalled)
	}
	if sources, ok := recalled[facts[2].ID]; !ok || sources == nil || len(sources) != 0 {
		t.Errorf("a fact with sources: %v", sources)
	}
	for _, m := range fetch[recallBody](f, 200, "POST", "/v1/recall", query+`}`).Memories {
		if m.DerivedFrom != nil {
			t.Error("sources without expand")
		}
	}

	undo := "/v1/memories/" + insight.ID + "/undo"
	if u := fetch[undoBody](f, 200, "POST", undo, ""); u.Memory.ID != insight.ID || u.Memory.Status != memory.Forgotten ||
		len(u.Restored) != 2 || u.Restored[0].Status != memory.Active {
		t.Errorf("%+v", u)
	}
	if u := fetch[undoBody](f, 200, "POST", undo, ""); u.Restored == nil || len(u.Restored) != 0 {
		t.Errorf("again: %+v", u)
	}
	f.want(409, "POST", "/v1/memories/"+facts[2].ID+"/undo", "")
	f.want(404, "POST", "/v1/memories/"+someID+"/undo", "")
}

func TestReflect_FollowsTheRequestedRule(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.swims() // of an importance of 0.7 each
	f.chat.Answers(goodReflection)
	reflect := func(fields string) reflectBody {
		t.Helper()
		return fetch[reflectBody](f, 200, "POST", "/v1/reflect", `{"user_id":"u"`+fields+`}`)
	}
	if r := reflect(`,"threshold":2.2`); !strings.Contains(r.Skipped, "adds up to 2.10: 2.20 is needed") {
		t.Errorf("%+v", r)
	}
	if r := reflect(`,"threshold":2.1`); r.Skipped != "" || len(r.Insights) != 1 {
		t.Errorf("%+v", r)
	}
	f.advance(10 * time.Minute)
	for _, place := range []string{"in the sea", "in a lake"} {
		f.keep(ingest.Write{Owner: owner("u"), Content: "The user swims " + place + "."})
	}
	for _, fields := range []string{`,"threshold":0`, `,"threshold":0,"cooldown_seconds":601`} {
		if r := reflect(fields); !strings.HasPrefix(r.Skipped, "the last reflection was at") {
			t.Errorf("%s: %+v", fields, r)
		}
	}
	if r := reflect(`,"cooldown_seconds":0`); !strings.Contains(r.Skipped, "4.00 is needed") {
		t.Errorf("%+v", r)
	}
	if r := reflect(`,"threshold":0,"cooldown_seconds":600`); r.Skipped != "" || len(r.Insights) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestReflect_ChecksRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.swims()
	for body, status := range map[string]int{
		`{}`:                             http.StatusBadRequest,
		`{"user_id":""}`:                 http.StatusBadRequest,
		`{"user_id":"u","force":"yes"}`:  http.StatusBadRequest,
		`{"user_id":"u","forced":true}`:  http.StatusBadRequest,
		`{"user_id":"nobody"}`:           http.StatusOK,
		`{"user_id":"u\n","force":true}`: http.StatusBadRequest,

		`{"user_id":"u","threshold":-1}`:                    http.StatusBadRequest,
		`{"user_id":"u","threshold":1000.1}`:                http.StatusBadRequest,
		`{"user_id":"u","threshold":null}`:                  http.StatusBadRequest,
		`{"user_id":"u","threshold":"4"}`:                   http.StatusBadRequest,
		`{"user_id":"u","cooldown_seconds":-1}`:             http.StatusBadRequest,
		`{"user_id":"u","cooldown_seconds":0.5}`:            http.StatusBadRequest,
		`{"user_id":"u","cooldown_seconds":31536001}`:       http.StatusBadRequest,
		`{"user_id":"u","force":true,"threshold":1}`:        http.StatusBadRequest,
		`{"user_id":"u","force":true,"cooldown_seconds":0}`: http.StatusBadRequest,
	} {
		f.want(status, "POST", "/v1/reflect", body)
	}
	f.want(400, "POST", "/v1/recall", `{"user_id":"u","query":"swims?","expand":"everything"}`)
	f.want(400, "POST", "/v1/context", `{"user_id":"u","query":"swims?","expand":"sources"}`)
	f.want(403, "POST", "/v1/reflect", `{"user_id":"u"}`, "Authorization", "Bearer read")
	f.want(403, "POST", fmt.Sprintf("/v1/memories/%s/undo", someID), "", "Authorization", "Bearer read")
	f.chat.Answers(`{"insights":[{"insight":"The user swims.","sources":[4]}],"retire":[4]}`)
	p := parse[frame.Problem](t, f.want(502, "POST", "/v1/reflect", `{"user_id":"u","force":true}`))
	if !strings.Contains(p.Detail, "The reason: the model's answer cannot be used: ") {
		t.Errorf("the detail is %q", p.Detail)
	}
}
