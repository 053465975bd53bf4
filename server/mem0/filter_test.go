package mem0

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

func TestScopeOf_TranslatesFilters(t *testing.T) {
	t.Parallel()
	const is = `{"user_id":"ada",`
	for _, c := range []struct{ filters, want string }{
		{`{"user_id":"ada"}`, `ada all`},
		{`{"user_id":7}`, `7 all`},
		{`{"user_id":{"eq":"ada"}}`, `ada all`},
		{`{"user_id":{"in":["ada","bob"]}}`, `ada all; bob all`},
		{`{"user_id":["bob","ada","bob"]}`, `ada all; bob all`},
		{`{"AND":[{"user_id":"ada"},{"user_id":{"in":["bob","ada"]}}]}`, `ada all`},
		{`{"AND":[{"user_id":"ada"},{"user_id":"bob"}]}`, ``},
		{`{"AND":[{"user_id":"ada"},{"NOT":{"user_id":"ada"}}]}`, ``},
		{`{"OR":[{"user_id":"ada","agent_id":"x"},{"user_id":"bob"}]}`, `ada {"agent_id":{"in":["x"]}}; bob all`},
		{is + `"OR":[{"user_id":"bob"},{"run_id":"r"}]}`, `ada {"conversation_id":{"in":["r"]}}`},
		{is + `"OR":[{"user_id":"ada"},{"run_id":"r"}]}`, `ada all`},
		{is + `"agent_id":"x"}`, `ada {"agent_id":{"in":["x"]}}`},
		{is + `"agent_id":"*"}`, `ada {"agent_id":{"ne":null}}`},
		{is + `"agent_id":{"ne":"*"}}`, `ada {"not":{"agent_id":{"ne":null}}}`},
		{is + `"agent_id":{"ne":"x"},"run_id":{"in":["r","s"]}}`,
			`ada {"conversation_id":{"in":["r","s"]},"not":{"agent_id":{"in":["x"]}}}`},
		{is + `"app_id":"mine"}`, `ada all`},
		{is + `"app_id":"*"}`, `ada all`},
		{is + `"app_id":{"ne":"mine"}}`, ``},
		{is + `"created_at":{"gte":"2026-01-31","lt":"2026-02-01T08:00:00"}}`,
			`ada {"and":[{"created_at":{"gte":"2026-01-31T00:00:00Z"}},{"created_at":{"lt":"2026-02-01T08:00:00Z"}}]}`},
		{is + `"timestamp":{"gt":1769846400}}`, `ada {"created_at":{"gt":"2026-01-31T08:00:00Z"}}`},
		{is + `"updated_at":{"in":["2026-01-31T09:00:00+01:00"]}}`,
			`ada {"updated_at":{"in":["2026-01-31T09:00:00+01:00"]}}`},
		{is + `"categories":{"contains":"food"}}`, `ada {"tags":{"eq":"food"}}`},
		{is + `"categories":{"in":["food","work"]}}`, `ada {"tags":{"in":["food","work"]}}`},
		{is + `"metadata":{"a":1,"b":{"ne":"x"},"c":{"contains":"y"},"d":null}}`, `ada {"and":[{"metadata":{"a":{"eq":1}}},` +
			`{"metadata":{"b":{"ne":"x"}}},{"metadata":{"c":{"contains":"y"}}},{"metadata":{"d":{"eq":null}}}]}`},
		{is + `"metadata":{"n":9007199254740993}}`, `ada {"metadata":{"n":{"eq":9007199254740993}}}`},
		{is + `"keywords":{"icontains":"tea"}}`, `ada {"content":{"icontains":"tea"}}`},
		{is + `"keywords_search":"tea"}`, `ada {"content":{"icontains":"tea"}}`},
		{is + `"text":{"contains":"tea"}}`, `ada {"content":{"contains":"tea"}}`},
		{is + `"memory_ids":["m","n"]}`, `ada {"id":{"in":["m","n"]}}`},
		{is + `"NOT":[{"categories":{"in":["a"]}},{"run_id":"r"}]}`,
			`ada {"not":{"or":[{"tags":{"in":["a"]}},{"conversation_id":{"in":["r"]}}]}}`},
		{is + `"NOT":{"run_id":"r"}}`, `ada {"not":{"conversation_id":{"in":["r"]}}}`},
		{is + `"OR":[{"agent_id":"x"},{"AND":[{"run_id":"r"},{"NOT":{"text":{"eq":"t"}}}]}]}`, `ada {"or":[` +
			`{"agent_id":{"in":["x"]}},{"conversation_id":{"in":["r"]},"not":{"content":{"eq":"t"}}}]}`},
		{is + `"agent_id":{"in":[]}}`, ``},
	} {
		s, err := (&call{app: "mine"}).scopeOf(fields{"filters": []byte(c.filters)})
		if got := printed(t, s); err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.filters, got, err, c.want)
		}
	}
}

// printed returns the filter of each user as text.
func printed(t *testing.T, s scope) string {
	t.Helper()
	var parts []string
	for _, p := range s.users {
		filter := "all"
		if p.filter != nil {
			raw, err := json.Marshal(p.filter) // sorts the names
			if err != nil {
				t.Fatal(err)
			}
			filter = string(raw)
		}
		parts = append(parts, p.user+" "+filter)
	}
	return strings.Join(parts, "; ")
}

func TestScopeOf_KnowsTheFiltersOfMem0sServer(t *testing.T) {
	t.Parallel()
	for filters, want := range map[string]string{
		`{"category":"work","user_id":"ada"}`:        `ada {"metadata":{"category":{"eq":"work"}}}`,
		`{"priority":{"gte":2},"user_id":"ada"}`:     `ada {"metadata":{"priority":{"gte":2}}}`,
		`{"k":{"nin":["a","b"]},"user_id":"ada"}`:    `ada {"not":{"metadata":{"k":{"in":["a","b"]}}}}`,
		`{"k":"*","user_id":"ada"}`:                  `ada {"metadata":{"k":{"ne":null}}}`,
		`{"k":["a","b"],"user_id":"ada"}`:            `ada {"metadata":{"k":{"in":["a","b"]}}}`,
		`{"agent_id":{"nin":["x"]},"user_id":"ada"}`: `ada {"not":{"agent_id":{"in":["x"]}}}`,
	} {
		s, err := (&call{app: "mine", form: own}).scopeOf(fields{"filters": []byte(filters)})
		if got := printed(t, s); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", filters, got, err, want)
		}
	}
}

func TestScopeOf_NamesWhatItCannotHonour(t *testing.T) {
	t.Parallel()
	many := strings.Join(strings.Split("123456789abcdefghijkl", ""), `","`)
	const is = `{"user_id":"ada",`
	for filters, want := range map[string]string{
		`{}`:                        "user_id is missing",
		`{"agent_id":"x"}`:          "user_id is missing",
		`{"user_id":"*"}`:           "user_id is missing",
		`{"NOT":{"user_id":"ada"}}`: "user_id is missing",
		`{"OR":[{"user_id":"ada"},{"agent_id":"x"}]}`: "user_id is missing",
		`{"user_id":null}`:                            "filters.user_id.eq is not a text",
		`{"user_id":{"gt":"a"}}`:                      "filters.user_id.gt is not an operator",
		`{"user_id":{}}`:                              "filters.user_id has no operator",
		`[]`:                                          "filters is not a JSON object",
		is + `"and":[]}`:                              "filters.and is unknown: use one of AND OR NOT",
		is + `"city":"Lisbon"}`:                       "filters.city is unknown",
		is + `"expiration_date":"*"}`:                 "filters.expiration_date cannot be honoured",
		is + `"app_id":"theirs"}`:                     `filters.app_id is not the app of the key, which is "mine"`,
		is + `"AND":[]}`:                              "filters.AND is empty",
		is + `"OR":{}}`:                               "filters.OR is not a list",
		is + `"OR":[{"agent_id":"x"},1]}`:             "filters.OR[1] is not a JSON object",
		is + `"created_at":{"contains":"2026"}}`:      "filters.created_at.contains is not an operator",
		is + `"created_at":true}`:                     "filters.created_at.eq is not a time",
		is + `"categories":{"gt":"a"}}`:               "filters.categories.gt is not an operator",
		is + `"metadata":{"k":{"nin":[]}}}`:           "filters.metadata.k.nin is not an operator",
		is + `"metadata":"k"}`:                        "filters.metadata is not a JSON object",
		is + `"keywords":7}`:                          "filters.keywords.eq is not an operator",
		is + `"memory_ids":{"gt":"a"}}`:               "filters.memory_ids.gt is not an operator",
		`{"user_id":["` + many + `"]}`:                "user_id is given for 21 users",
	} {
		_, err := (&call{app: "mine"}).scopeOf(fields{"filters": []byte(filters)})
		var known *memory.Error
		switch {
		case !errors.As(err, &known) || len(known.Fields) != 1:
			t.Errorf("%s: %v, want %s", filters, err, want)
		default:
			if got := fmt.Sprint(known.Fields[0].Path, " ", known.Fields[0].Message); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s, want %s", filters, got, want)
			}
		}
	}
}
