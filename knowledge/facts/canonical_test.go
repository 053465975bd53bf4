package facts

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // sets its flags
)

func TestCanonicalName_JoinsSpellings(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"home_city": "home_city", "Home City": "home_city", " home–city ": "home_city", "HOME__CITY": "home_city",
		"ｈｏｍｅ　ｃｉｔｙ": "home_city",
		"居住城市":      "居住城市", "c++": "c++", "Größe": "größe", "a\tb\nc": "a_b_c", "_": "",
	} {
		if got := CanonicalName(in); got != want {
			t.Errorf("Name(%q) = %q, want %q", in, got, want)
		}
	}
	for in, complaint := range map[string]string{
		"city": "", strings.Repeat("界", 128): "", "": "empty", " ": "blank", "-": "only spaces",
		strings.Repeat("x", 129): "129 characters",
		strings.Repeat("ﷺ", 20):  "360 characters", "a\x00": "NUL", "a\x07": "U+0007", "a\xff": "UTF-8",
	} {
		if got := CheckName(in); (got == "") != (complaint == "") || !strings.Contains(got, complaint) {
			t.Errorf("CheckName(%.20q) = %q, want %q", in, got, complaint)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if name := CanonicalName(rapid.String().Draw(t, "name")); CanonicalName(name) != name {
			t.Errorf("Name(%q) = %q", name, CanonicalName(name))
		}
	})
}

func TestCanonicalValue_JoinsSpellings(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"a"`: `"a"`, `"\u00e9<&>"`: `"é<&>"`, ` null `: `null`, `true`: `true`, `[ ]`: `[]`,
		`{"b":1,"a":{"d":[],"c":null}}`: `{"a":{"c":null,"d":[]},"b":1}`,
		`1`:                             `1`, `1.0`: `1`, `1e3`: `1000`, `-0`: `0`, `-0.0`: `0`, `1.50`: `1.5`,
		`12345678901234567890`: `12345678901234567890`,
		`1e20`:                 `100000000000000000000`,
		`1e21`:                 `1e+21`, `0.1e-6`: `1e-07`, `-2.5E1`: `-25`,
		`"` + strings.Repeat("x", memory.MaxFactValue-2) + `"`: `"` + strings.Repeat("x",
			memory.MaxFactValue-2) + `"`, `"\\u0000"`: `"\\u0000"`,
	} {
		if got, err := CanonicalValue(json.RawMessage(in)); err != nil || string(got) != want {
			t.Errorf("Value(%s) = %s, %v, want %s", in, got, err, want)
		}
	}
	for in, complaint := range map[string]string{
		``: "missing", `{`: "not JSON", `1 2`: "more than one", `1e999`: "range", `[{"a":-1e999}]`: "range",
		`"` + strings.Repeat("x", memory.MaxFactValue-1) + `"`: "4097 bytes",
		`"\u0000"`: "NUL", `{"\u0000":1}`: "NUL", `[{"a":["\u0000"]}]`: "NUL",
	} {
		if got, err := CanonicalValue(json.RawMessage(in)); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("Value(%.30s) = %s, %v, want %q", in, got, err, complaint)
		}
	}
}

func TestContent_ReadsLikeText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, value, want string }{
		{"home_city", `"Lisbon"`, "home city: Lisbon"},
		{"居住城市", `"里斯本"`, "居住城市: 里斯本"},
		{"children", `2`, "children: 2"},
		{"population", `12345678901234567890`, "population: 12345678901234567890"},
		{"vegetarian", `true`, "vegetarian: true"},
		{"car", `null`, "car: none"},
		{"languages", `["Portuguese","English"]`, "languages: Portuguese, English"},
		{"address", `{"at":[1.5,20],"zip_code":"1100"}`, "address: at: 1.5, 20; zip code: 1100"},
	} {
		if got := Content(c.key, json.RawMessage(c.value)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	long := Content("k", json.RawMessage(`[`+strings.Repeat(`1,`, 2000)+`1]`))
	if n := len([]rune(long)); n != memory.MaxContentRunes || !strings.HasSuffix(long, "…") ||
		memory.CheckContent(long, memory.MaxContentRunes) != "" {
		t.Errorf("%d characters: …%q", n, long[len(long)-10:])
	}
}
