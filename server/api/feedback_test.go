package api

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

type recallID struct {
	ID string `json:"recall_id"`
}

// Feedback needs no log. It is the latest of each memory, and is shown with the memory and in the counts of the app.
func TestFeedback_IsTheLatestOfEachMemory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	peanuts := f.peanuts()
	tea := f.keep(ingest.Write{Owner: owner("u"), Content: "Drinks green tea."})
	id := fetch[recallID](f, 200, "POST", "/v1/recall", `{"user_id":"u","query":"peanuts"}`).ID
	give := func(status int, body string) feedbackBody {
		t.Helper()
		return fetch[feedbackBody](f, status, "POST", "/v1/recalls/"+id+"/feedback", body, "Authorization", "Bearer read")
	}
	first := give(200, fmt.Sprintf(`{"user_id":"u","used":[%q],"irrelevant":[%q]}`, peanuts.ID, tea.ID))
	if len(first.Memories) != 2 || first.RecallID != id {
		t.Fatalf("%+v", first)
	}
	f.advance(time.Minute)
	again := give(200, fmt.Sprintf(`{"user_id":"u","used":[%q]}`, peanuts.ID))
	if len(again.Memories) != 2 || !again.Memories[0].At.Equal(noon) {
		t.Errorf("the same again: %+v", again)
	}
	give(200, fmt.Sprintf(`{"user_id":"u","wrong":[%q]}`, tea.ID))
	want := feedbackCounts{Wrong: 1}
	if got := fetch[memoryDetail](f, 200, "GET", "/v1/memories/"+tea.ID, "").Feedback; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	counts := fetch[statsBody](f, 200, "GET", "/v1/stats", "").Feedback
	if counts != (feedbackStats{Used: 1, Wrong: 1, UsedShare: 0.5}) {
		t.Errorf("%+v", counts)
	}
}

// What was said of a memory can be taken back, and is given again after that.
func TestFeedback_IsTakenBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	known := f.peanuts()
	id := fetch[recallID](f, 200, "POST", "/v1/recall", `{"user_id":"u","query":"peanuts"}`).ID
	counted := func(want feedbackCounts) {
		t.Helper()
		if got := fetch[memoryDetail](f, 200, "GET", "/v1/memories/"+known.ID, "").Feedback; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	give := func(list string) feedbackBody {
		t.Helper()
		body := fmt.Sprintf(`{"user_id":"u",%q:[%q]}`, list, known.ID)
		return fetch[feedbackBody](f, 200, "POST", "/v1/recalls/"+id+"/feedback", body)
	}
	rate := func(kind string) {
		t.Helper()
		f.want(200, "PUT", "/v1/memories/"+known.ID+"/feedback", `{"feedback":`+kind+`}`)
	}
	give("used")
	rate(`"wrong"`)
	counted(feedbackCounts{Used: 1, Wrong: 1})
	if left := give("withdrawn"); len(left.Memories) != 0 {
		t.Errorf("left: %+v", left)
	}
	counted(feedbackCounts{Wrong: 1})
	rate(`"irrelevant"`)
	counted(feedbackCounts{Irrelevant: 1})
	rate(`null`)
	counted(feedbackCounts{})
	give("withdrawn")
	give("irrelevant")
	counted(feedbackCounts{Irrelevant: 1})
	f.wantPaths("PUT", "/v1/memories/"+known.ID+"/feedback", `{"feedback":"promoted"}`, "feedback")
	f.wantPaths("PUT", "/v1/memories/"+known.ID+"/feedback", `{}`, "feedback")
	f.want(404, "PUT", "/v1/memories/"+someID+"/feedback", `{"feedback":"used"}`)
	f.want(200, "DELETE", "/v1/memories/"+known.ID, "")
	f.want(409, "PUT", "/v1/memories/"+known.ID+"/feedback", `{"feedback":"used"}`)
}

func TestFeedback_RefusesWhatWasNotReturned(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	known := f.peanuts().ID
	foreign := f.keep(ingest.Write{Owner: owner("eve"), Content: "Is rich."}).ID
	id := fetch[recallID](f, 200, "POST", "/v1/recall", `{"user_id":"u","query":"peanuts"}`).ID
	for name, c := range map[string]struct {
		status       int
		id, of, list string
	}{
		"nothing":                {400, id, "u", ``},
		"an unknown recall":      {404, memory.NewID(), "u", known},
		"no id":                  {404, "x", "u", known},
		"another user's recall":  {404, id, "eve", foreign},
		"another user's memory":  {404, id, "u", foreign},
		"an unknown memory":      {404, id, "u", someID},
		"one memory named twice": {400, id, "u", known + `","` + known},
	} {
		list := []string{}
		if c.list != "" {
			_ = json.Unmarshal([]byte(`["`+c.list+`"]`), &list)
		}
		body, _ := json.Marshal(map[string]any{"user_id": c.of, "used": list})
		if w := f.send("POST", "/v1/recalls/"+c.id+"/feedback", string(body)); w.Code != c.status {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, c.status)
		}
	}
	f.want(200, "PUT", "/v1/users/u", `{"memory":"read"}`)
	f.want(409, "POST", "/v1/recalls/"+id+"/feedback", fmt.Sprintf(`{"user_id":"u","used":[%q]}`, known))
}

// Where recalls are logged, the log decides what was returned, and has the feedback.
func TestFeedback_IsShownInTheLog(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	flush := f.logRecalls()
	known := f.peanuts()
	other := f.keep(ingest.Write{Owner: owner("u"), Content: "Drinks green tea."})
	answer := fetch[struct {
		ID       string `json:"recall_id"`
		Memories []recalledBody
	}](f, 200, "POST", "/v1/recall", `{"user_id":"u","query":"peanuts","limit":1}`)
	flush()
	target := "/v1/recalls/" + answer.ID + "/feedback"
	f.want(200, "POST", target, fmt.Sprintf(`{"user_id":"u","used":[%q]}`, known.ID))
	f.wantPaths("POST", target, fmt.Sprintf(`{"user_id":"u","irrelevant":[%q]}`, other.ID), "irrelevant[0]")
	logged := fetch[recallList](f, 200, "GET", "/v1/recalls?user_id=u", "").Recalls
	if len(logged) != 1 || logged[0].ID != answer.ID || logged[0].Memories[0].Feedback != memory.FeedbackUsed ||
		logged[0].Memories[0].Confidence != answer.Memories[0].Confidence {
		t.Errorf("%+v, answer %+v", logged, answer)
	}
}
