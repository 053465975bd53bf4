package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

type factPage struct {
	Facts []factBody `json:"facts"`
	Next  string     `json:"next_cursor"`
}

// values returns the values of a page of facts, in its order.
func (f *fixture) values(query string) string {
	f.t.Helper()
	var values []string
	for _, fact := range fetch[factPage](f, 200, "GET", "/v1/facts"+query, "").Facts {
		values = append(values, string(fact.Value))
	}
	return strings.Join(values, " ")
}

const lisbon = `{"user_id":"u","type":"Profile","key":"Home City","value":"Lisbon","confidence":0.9,` +
	`"valid_from":"2026-01-01T00:00:00Z","source":"chat-81"}`

func TestFacts_ChangeOverTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	first := fetch[outcomeBody](f, 200, "PUT", "/v1/facts", lisbon).Fact
	if first.Type != "profile" || first.Key != "home_city" || string(first.Value) != `"Lisbon"` ||
		first.State != memory.FactAccepted ||
		first.Source != "chat-81" || first.UserID != "u" || first.Reason == "" || !first.RecordedAt.Equal(noon) ||
		!first.ValidUntil.IsZero() {
		t.Errorf("%+v", first)
	}
	if m := f.stored(first.MemoryID); m.Content != "The user's home city is Lisbon." || m.Importance != 0.835 ||
		m.Domain == "" {
		t.Errorf("%+v", m)
	}
	guess := fetch[outcomeBody](f, 200, "PUT", "/v1/facts", `{"user_id":"u","type":"profile","key":"home_city",`+
		`"value":"Faro","confidence":0.4}`)
	if guess.Fact.State != memory.FactRefused || guess.Stands == nil || guess.Stands.ID != first.ID ||
		guess.Replaced != nil || guess.Fact.MemoryID != "" {
		t.Errorf("%+v", guess)
	}
	f.advance(time.Hour)
	moved := fetch[outcomeBody](f, 200, "PUT", "/v1/facts", `{"user_id":"u","type":"profile","key":"home-city",`+
		`"value":{"city":"Porto","floor":1.0}}`)
	if moved.Fact.Confidence != 1 || moved.Replaced == nil || !moved.Replaced.ValidUntil.Equal(f.now()) ||
		moved.Stands != nil || string(moved.Fact.Value) != `{"city":"Porto","floor":1}` {
		t.Errorf("%+v", moved)
	}
	f.want(200, "PUT", "/v1/facts", `{"user_id":"u","type":"profile","key":"car","value":null}`)
	f.want(200, "PUT", "/v1/facts", `{"user_id":"v","type":"profile","key":"home_city","value":"Oslo"}`)
	for query, want := range map[string]string{
		"?user_id=u&key=Home%20City":                      `{"city":"Porto","floor":1}`,
		"?user_id=u&type=profile&at=2026-01-20T00:00:00Z": `"Lisbon"`,
		"?user_id=u&at=2025-12-31T23:59:59Z":              "",
		"?user_id=u&type=profile&key=car":                 "null",
		"?user_id=u&type=other":                           "",
		"?user_id=v":                                      `"Oslo"`,
	} {
		if got := f.values(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	page := fetch[factPage](f, 200, "GET", "/v1/facts?user_id=u&limit=1", "")
	if rest := fetch[factPage](f, 200, "GET", "/v1/facts?user_id=u&limit=5&cursor="+page.Next, ""); len(page.Facts) != 1 ||
		len(rest.Facts) != 1 || rest.Next != "" || rest.Facts[0].ID == page.Facts[0].ID {
		t.Errorf("%+v, then %+v", page, rest)
	}

	recalled := fetch[recallBody](f, 200, "POST", "/v1/recall",
		`{"user_id":"u","query":"Where is the home city?","types":["fact"],"limit":1}`)
	if len(recalled.Memories) != 1 || recalled.Memories[0].ID != moved.Fact.MemoryID {
		t.Errorf("recalled %+v", recalled.Memories)
	}

	const city = "?user_id=u&type=profile&key=home_city"
	f.advance(time.Hour)
	ended := fetch[factBody](f, 200, "DELETE", "/v1/facts"+city, "")
	if ended.ID != moved.Fact.ID || !ended.ValidUntil.Equal(f.now()) ||
		f.stored(ended.MemoryID).Status != memory.Forgotten {
		t.Errorf("%+v", ended)
	}
	f.want(404, "DELETE", "/v1/facts"+city, "")
	f.want(404, "DELETE", "/v1/facts"+city+"&at=2025-01-01T00:00:00Z", "")
	f.want(200, "DELETE", "/v1/facts"+city+"&at=2026-01-10T00:00:00Z", "") // ended in the past
	if got := f.values(city + "&at=2026-01-09T00:00:00Z"); got != `"Lisbon"` {
		t.Error(got)
	}
	if got := f.values(city + "&at=2026-01-11T00:00:00Z"); got != "" {
		t.Error(got)
	}

	var states []string
	next := ""
	for {
		page := fetch[factPage](f, 200, "GET", "/v1/facts/history"+city+"&limit=2"+next, "")
		for _, fact := range page.Facts {
			states = append(states, string(fact.State))
			if (fact.Value == nil) != (fact.State == memory.FactEnded) {
				t.Errorf("%+v", fact)
			}
		}
		if page.Next == "" {
			break
		}
		next = "&cursor=" + page.Next
	}
	if got := strings.Join(states, " "); got != "accepted refused accepted ended ended" {
		t.Error(got)
	}
}

func TestFacts_CheckRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	with := func(fields string) string { return `{"user_id":"u",` + fields + `}` }
	full := func(fields string) string { return with(`"type":"t","key":"k","value":1,` + fields) }
	for _, c := range []struct {
		body  string
		paths []string
	}{
		{`{}`, []string{"user_id", "type", "key", "value"}},
		{with(`"type":"","key":"` + strings.Repeat("x", 129) + `","value":1`), []string{"type", "key"}},
		{with(`"type":"- _","key":"a\u0007","value":1`), []string{"type", "key"}},
		{with(`"type":"t","key":"` + strings.Repeat("ﷺ", 20) + `","value":1`), []string{"key"}},
		{with(`"type":"t","key":"k","value":"` + strings.Repeat("é", 2048) + `"`), []string{"value"}},
		{with(`"type":"t","key":"k","value":{"a\u0000":1}`), []string{"value"}},
		{with(`"type":"t","key":"k","value":1e999`), []string{"value"}},
		{full(`"confidence":1.1,"source":"","unknown":1`), []string{"confidence", "source", "unknown"}},
		{full(`"confidence":-0.1,"source":"` + strings.Repeat("x", 257) + `"`), []string{"confidence", "source"}},
		{full(`"source":" "`), []string{"source"}},
		{full(`"valid_from":"yesterday","valid_until":1`), []string{"valid_from", "valid_until"}},
		{full(`"valid_from":"1969-12-31T23:59:59Z","valid_until":"2201-01-01T00:00:00Z"`),
			[]string{"valid_from", "valid_until"}},
		{full(`"valid_from":"2026-01-02T00:00:00Z","valid_until":"2026-01-02T00:00:00Z"`), []string{"valid_until"}},
		{full(`"valid_until":"2026-01-02T00:00:00Z"`), []string{"valid_until"}}, // it begins now
		{`{"user_id":"\u007f","type":"-","key":"k","value":1}`, []string{"user_id", "type"}},
	} {
		f.wantPaths("PUT", "/v1/facts", c.body, c.paths...)
	}
	for target, paths := range map[string][]string{
		"/v1/facts":                                     {"query.user_id"},
		"/v1/facts?user_id=u&key=-&type=%07":            {"query.key", "query.type"},
		"/v1/facts?user_id=u&at=now&limit=0":            {"query.at", "query.limit"},
		"/v1/facts?user_id=u&cursor=x":                  {"query.cursor"},
		"/v1/facts?user_id=u&value=1":                   {"query.value"},
		"/v1/facts/history?user_id=u":                   {"query.type", "query.key"},
		"/v1/facts/history?user_id=u&type=t&key=k&at=1": {"query.at"},
	} {
		f.wantPaths("GET", target, "", paths...)
	}
	f.wantPaths("DELETE", "/v1/facts?user_id=u&type=t", "", "query.key")
	f.wantPaths("DELETE", "/v1/facts?user_id=u&type=t&key=k&at=1", "", "query.at")
	f.want(http.StatusRequestEntityTooLarge, "PUT", "/v1/facts", full(`"source":"`+strings.Repeat("x", 2<<20)+`"`))

	f.want(200, "PUT", "/v1/facts",
		with(`"type":"`+strings.Repeat("界", 128)+`","key":"k","value":"`+strings.Repeat("é", 2047)+`"`))
	if got := f.values("?user_id=u"); len(got) != 2*2047+2 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestFacts_RequireRoles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.issue("other", "other", memory.RoleAdmin)
	f.want(403, "PUT", "/v1/facts", lisbon, "Authorization", "Bearer read")
	f.want(200, "PUT", "/v1/facts", lisbon, "Authorization", "Bearer write")
	const city = "?user_id=u&type=profile&key=home_city"
	f.want(403, "DELETE", "/v1/facts"+city, "", "Authorization", "Bearer read")
	for _, path := range []string{"/v1/facts", "/v1/facts/history"} {
		if page := fetch[factPage](f, 200, "GET", path+city, "", "Authorization", "Bearer read"); len(page.Facts) != 1 {
			t.Errorf("%s: %+v", path, page)
		}
		if page := fetch[factPage](f, 200, "GET", path+city, "", "Authorization", "Bearer other"); len(page.Facts) != 0 {
			t.Errorf("another app sees %+v", page)
		}
	}
	f.want(404, "DELETE", "/v1/facts"+city, "", "Authorization", "Bearer other")

	receipt := fetch[erasedBody](f, 200, "DELETE", "/v1/users/u", "")
	if receipt.Deleted.Facts != 1 {
		t.Errorf("%+v", receipt)
	}
	if got := f.values("?user_id=u"); got != "" {
		t.Error(got)
	}
}
