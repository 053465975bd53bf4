package filter

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // sets its flags
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 123456000, time.UTC)

func parse(t rapid.TB, raw string) *Filter {
	t.Helper()
	f, fault := Parse([]byte(raw))
	if fault != nil {
		t.Fatalf("%s: %s %s", raw, fault.Path, fault.Message)
	}
	return f
}

func TestMatches_ComparesMetadata(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		condition string   // on the key k
		match     []string // values of k; "" is missing
		differ    []string
	}{
		{`"a"`, []string{`"a"`, `["b","a"]`, `"\u0061"`}, []string{`"A"`, `["b"]`, `[["a"]]`, `{"a":"a"}`, `null`, ``}},
		{`{"eq":""}`, []string{`""`}, []string{`null`, ``, `" "`}},
		{`1`, []string{`1`, `1.0`, `10e-1`, `0.1E1`, `[2,1]`}, []string{`"1"`, `true`, `1.0000000000000000000001`, ``}},
		{`0`, []string{`0`, `-0`, `0e5`, `-0.00`}, []string{`null`, `false`, `""`, ``, `1e-300`}},
		{`9007199254740993`, []string{`9007199254740993`, `9007199254740993.0`}, []string{`9007199254740992`}},
		{`true`, []string{`true`, `[false,true]`}, []string{`"true"`, `1`, `false`, ``}},
		{`null`, []string{`null`, ``, `[null]`}, []string{`[]`, `{}`, `""`, `0`, `false`}},
		{`{"ne":"a"}`, []string{`"b"`, `["b"]`, `null`, ``, `1`, `{}`}, []string{`"a"`, `["b","a"]`}},
		{`{"ne":null}`, []string{`"b"`, `[]`, `{}`, `0`, `false`}, []string{`null`, ``}},
		{`{"in":["a",2,null]}`, []string{`"a"`, `2.0`, `null`, ``, `[3,2]`}, []string{`"b"`, `3`, `[3]`, `false`}},
		{`{"gt":2}`, []string{`2.5`, `1e3`, `[1,3]`}, []string{`2`, `1`, `"3"`, `null`, ``, `true`}},
		{`{"gte":2,"lt":4}`, []string{`2`, `3.99`, `[1,5,2]`}, []string{`1.99`, `4`, `[1]`}},
		{`{"lte":-1e300}`, []string{`-1e300`, `-2e300`}, []string{`0`, `-1e299`}},
		{`{"gt":"2026-01-31"}`, []string{`"2026-02-01"`, `"2026-01-31T01:00:00+00:30"`, `"2026-01-30T23:00:00-02:00"`},
			[]string{`"2026-01-31"`, `"2026-01-31T01:00:00+02:00"`, `"tomorrow"`, `"2026-02-31"`, `20260201`, ``}},
		{`{"lte":"2026-01-31T08:00:00.5Z"}`, []string{`"2026-01-31T08:00:00.5Z"`, `"2026-01-31T10:00:00+02:00"`},
			[]string{`"2026-01-31T08:00:00.500000001Z"`, `"2026-02-01"`}},
		{`{"contains":"Tea"}`, []string{`"Green Tea"`, `["x","Tea"]`}, []string{`"tea"`, `{"Tea":"Tea"}`, `1`, ``}},
		{`{"icontains":"TÉ"}`, []string{`"thé té"`, `["TÉA"]`}, []string{`"tea"`, `null`}},
		{`{"icontains":"100%_"}`, []string{`"is 100%_ sure"`}, []string{`"1000"`}},
	} {
		f := parse(t, `{"metadata":{"k":`+c.condition+`}}`)
		for want, values := range map[bool][]string{true: c.match, false: c.differ} {
			for _, value := range values {
				metadata := json.RawMessage(`{"other":"a","k":` + value + `}`)
				if value == "" {
					metadata = json.RawMessage(`{"other":"a"}`)
				}
				if f.Matches(&memory.Memory{Metadata: metadata}) != want {
					t.Errorf("k %s matches %s: %v, want %v", c.condition, metadata, !want, want)
				}
			}
		}
	}
}

func TestMatches_ComparesFields(t *testing.T) {
	t.Parallel()
	m := memory.Memory{
		ID: memory.NewID(), Owner: memory.Owner{AppID: "app", UserID: "u"}, AgentID: "chef", Content: "Likes Green tea",
		Type: "preference", Domain: memory.Lifestyle, Tags: []string{"food", "茶"}, Importance: 0.8, Pinned: true,
		CreatedAt: noon, UpdatedAt: noon.Add(time.Hour), Metadata: json.RawMessage(`{"a":1,"b":"x"}`),
	}
	for filter, want := range map[string]bool{
		`{"id":"` + m.ID + `"}`:                             true,
		`{"id":{"in":["x","` + m.ID + `"]}}`:                true,
		`{"agent_id":"chef"}`:                               true,
		`{"agent_id":null}`:                                 false,
		`{"conversation_id":null}`:                          true,
		`{"conversation_id":""}`:                            false,
		`{"content":{"contains":"Green"}}`:                  true,
		`{"content":{"icontains":"GREEN"}}`:                 true,
		`{"content":"Green"}`:                               false,
		`{"type":{"in":["preference","fact"]}}`:             true,
		`{"domain":{"ne":"lifestyle_and_interests"}}`:       false,
		`{"tags":"茶"}`:                                      true,
		`{"tags":{"in":["x","food"]}}`:                      true,
		`{"tags":{"ne":"food"}}`:                            false,
		`{"tags":{"contains":"oo"}}`:                        true,
		`{"tags":null}`:                                     false,
		`{"importance":0.8}`:                                true,
		`{"importance":{"gte":0.8,"lt":0.81}}`:              true,
		`{"importance":{"gt":0.8}}`:                         false,
		`{"pinned":true}`:                                   true,
		`{"pinned":{"ne":true}}`:                            false,
		`{"created_at":"2026-01-31T13:00:00.123456+01:00"}`: true,
		`{"created_at":{"gt":"2026-01-31"}}`:                true,
		`{"updated_at":{"lte":"2026-01-31T13:00:00Z"}}`:     false,
		`{"metadata":{"a":1,"b":"x"}}`:                      true,
		`{"metadata":{"a":1,"b":"y"}}`:                      false,
		`{"metadata":{"a":1},"agent_id":"vet"}`:             false,
		`{"or":[{"agent_id":"vet"},{"tags":"food"}]}`:       true,
		`{"or":[{"agent_id":"vet"},{"tags":"drink"}]}`:      false,
		`{"and":[{"agent_id":"chef"},{"tags":"food"}]}`:     true,
		`{"and":[{"agent_id":"chef"},{"tags":"drink"}]}`:    false,
		`{"not":{"metadata":{"a":1,"b":"x"}}}`:              false,
		`{"not":{"or":[{"tags":"a"},{"tags":"b"}]}}`:        true,
	} {
		if got := parse(t, filter).Matches(&m); got != want {
			t.Errorf("%s: %v, want %v", filter, got, want)
		}
	}
	if !(*Filter)(nil).Matches(&m) {
		t.Error("no filter excludes a memory")
	}
	if !parse(t, `{"metadata":{"a":null}}`).Matches(&memory.Memory{}) {
		t.Error("without metadata, every key is missing")
	}
}

func TestParse_NamesThePlaceOfAFault(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"not":`, MaxDepth) + `{"tags":"a"}` + strings.Repeat(`}`, MaxDepth)
	long := strings.Repeat("k", 300)
	for _, c := range [][2]string{
		{``, " is not JSON"},
		{`[]`, " is not an object with at least one entry"},
		{`{}`, " is not an object with at least one entry"},
		{`null`, " is not an object with at least one entry"},
		{`{"tags":"a"} {}`, " holds more than one JSON value"},
		{`{"tags":"a"}}`, " holds more than one JSON value"},
		{`{"AND":[]}`, "AND is unknown: use metadata, and, or, not, or one of agent_id, content,"},
		{`{"user_id":"u"}`, "user_id is unknown"},
		{`{"` + long + `":1}`, strings.Repeat("k", maxName) + "... is unknown"},
		{`{"and":[]}`, "and is not a list of at least one filter"},
		{`{"or":{"tags":"a"}}`, "or is not a list of at least one filter"},
		{`{"or":[{"tags":"a"},1]}`, "or[1] is not an object with at least one entry"},
		{`{"and":[{"not":{"pinned":1}}]}`, "and[0].not.pinned is not a boolean or null"},
		{`{"not":[{"tags":"a"}]}`, "not is not an object"},
		{`{"metadata":"a"}`, "metadata is not an object"},
		{`{"metadata":{}}`, "metadata is not an object with at least one entry"},
		{`{"metadata":{"k":{}}}`, "metadata.k is not an object with at least one entry"},
		{`{"metadata":{"k":["a"]}}`, "metadata.k is a list: give it to the operator in"},
		{`{"metadata":{"k":{"nin":[1]}}}`, "metadata.k.nin is not an operator: the operators are eq, ne, in,"},
		{`{"metadata":{"k":{"eq":[1]}}}`, "metadata.k.eq is not a string, a number, true, false or null"},
		{`{"metadata":{"k":{"eq":{}}}}`, "metadata.k.eq is not a string, a number"},
		{`{"metadata":{"k":{"in":[]}}}`, "metadata.k.in is not a list of 1 to 100 values"},
		{`{"metadata":{"k":{"in":"a"}}}`, "metadata.k.in is not a list of 1 to 100 values"},
		{`{"metadata":{"k":{"in":[0` + strings.Repeat(",0", MaxValues) + `]}}}`, "metadata.k.in is not a list of 1 to 100"},
		{`{"metadata":{"k":{"gt":"soon"}}}`, "metadata.k.gt is neither a number nor a time"},
		{`{"metadata":{"k":{"gt":null}}}`, "metadata.k.gt is neither a number nor a time"},
		{`{"metadata":{"k":{"gt":1e400}}}`, "metadata.k.gt is a number outside the range of a float64"},
		{`{"metadata":{"k":1e-999999999}}`, "metadata.k is a number outside the range of a float64"},
		{`{"metadata":{"k":{"contains":1}}}`, "metadata.k.contains is not a string of at least one character"},
		{`{"metadata":{"k":{"contains":""}}}`, "metadata.k.contains is not a string of at least one character"},
		{`{"metadata":{"k":"a\u0000"}}`, "metadata.k holds a NUL character"},
		{`{"metadata":{"\u0000":"a"}}`, "metadata holds a NUL character"},
		{`{"agent_id":5}`, "agent_id is not a text or null"},
		{`{"agent_id":{"gt":"a"}}`, "agent_id.gt does not apply: this field has no order"},
		{`{"importance":"high"}`, "importance is not a number or null"},
		{`{"importance":{"gt":"2026-01-31"}}`, "importance.gt is neither a number nor a time"},
		{`{"importance":{"contains":"1"}}`, "importance.contains does not apply: this field is no text"},
		{`{"created_at":"noon"}`, "created_at is not a time or null"},
		{`{"created_at":{"lt":5}}`, "created_at.lt is neither a number nor a time"},
		{deep, strings.Repeat("not.", MaxDepth-1) + "not is nested deeper than 8 levels"},
		{`{"or":[{"tags":"a"}` + strings.Repeat(`,{"tags":"a"}`, MaxConditions) + `]}`, "or[32].tags is one condition too"},
		{`{"tags":"` + strings.Repeat("a", MaxBytes) + `"}`, " has 8203 bytes: at most 8192 are allowed"},
		{strings.Repeat("[", MaxBytes), " is not JSON"},
	} {
		raw, want := c[0], c[1]
		f, fault := Parse([]byte(raw))
		if f != nil || fault == nil || !strings.HasPrefix(fault.Path+" "+fault.Message, want) {
			t.Errorf("%.80s: %+v, want %s", raw, fault, want)
		}
	}
}

// A number with a huge exponent takes no time, wherever it occurs.
func TestMatches_IgnoresNumbersOutsideTheRange(t *testing.T) {
	t.Parallel()
	for _, n := range []string{`1e999999999`, `1e-999999999`, `-1e400`} {
		m := memory.Memory{Metadata: json.RawMessage(fmt.Sprintf(`{"k":%s}`, n))}
		for _, c := range []string{`0`, `{"lt":1}`, `{"gt":-1}`, `null`} {
			if parse(t, `{"metadata":{"k":`+c+`}}`).Matches(&m) {
				t.Errorf("%s matches %s", n, c)
			}
		}
	}
}

func TestRequirement_OfExamples(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]string{
		`{"metadata":{"k":"a"}}`: `{true [[{"k":"a"} {"k":["a"]}]]}`,
		`{"metadata":{"k":1.50,"l":{"in":["a",true]}}}`: `{true [[{"k":1.50} {"k":[1.50]}] ` +
			`[{"l":"a"} {"l":["a"]} {"l":true} {"l":[true]}]]}`,
		`{"metadata":{"k":{"gt":1}}}`:                               `{true []}`,
		`{"metadata":{"k":null}}`:                                   `{false []}`,
		`{"metadata":{"k":{"in":["a",null]}}}`:                      `{false []}`,
		`{"metadata":{"k":{"ne":"a"}}}`:                             `{false []}`,
		`{"not":{"metadata":{"k":"a"}}}`:                            `{false []}`,
		`{"tags":"a"}`:                                              `{false []}`,
		`{"tags":"a","metadata":{"k":2}}`:                           `{true [[{"k":2} {"k":[2]}]]}`,
		`{"or":[{"metadata":{"k":1}},{"metadata":{"l":2,"m":3}}]}`:  `{true [[{"k":1} {"k":[1]} {"l":2} {"l":[2]}]]}`,
		`{"or":[{"metadata":{"k":1}},{"metadata":{"l":{"gt":2}}}]}`: `{true []}`,
		`{"or":[{"metadata":{"k":1}},{"tags":"a"}]}`:                `{false []}`,
	} {
		r := parse(t, filter).Requirement()
		if got := fmt.Sprintf("{%v %v}", r.Metadata, r.Contains); got != want || r.Parts != nil {
			t.Errorf("%s: %s %v, want %s", filter, got, r.Parts, want)
		}
	}
}

func TestRequirement_OfContents(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]string{
		`{"content":{"contains":"É"}}`:                                        `[{É false}]`,
		`{"content":{"icontains":"Tea 茶","contains":"T"}}`:                    `[{T false} {tea 茶 true}]`,
		`{"content":{"icontains":"É"}}`:                                       `[]`,
		`{"content":"T"}`:                                                     `[]`,
		`{"id":{"contains":"T"}}`:                                             `[]`,
		`{"not":{"content":{"contains":"T"}}}`:                                `[]`,
		`{"or":[{"content":{"contains":"T"}},{"tags":"a"}]}`:                  `[]`,
		`{"and":[{"content":{"contains":"T"}},{"metadata":{"content":"x"}}]}`: `[{T false}]`,
		`{"metadata":{"content":{"contains":"T"}}}`:                           `[]`,
	} {
		if got := fmt.Sprint(parse(t, filter).Requirement().Parts); got != want {
			t.Errorf("%s: %s, want %s", filter, got, want)
		}
	}
}

// Foreign lists every character that Go puts into lower case as an ASCII letter, unlike databases.
func TestRequirement_KnowsForeignCharacters(t *testing.T) {
	t.Parallel()
	var found []string
	for r := rune(unicode.MaxASCII + 1); r <= unicode.MaxRune; r++ {
		if unicode.ToLower(r) <= unicode.MaxASCII {
			found = append(found, string(r))
		}
	}
	if !slices.Equal(found, Foreign) {
		t.Errorf("these characters have a lower case in ASCII: %q, want %q", found, Foreign)
	}
}
