package milvus

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // sets its flags
	"hippocampus/vectorstore"
)

// literal is the double-quoted StringLiteral of Milvus' expression grammar.
var literal = regexp.MustCompile(`^"([^"\\\r\n]|\\['"?abfnrtv\\])*"$`)

// checkQuote checks that the quoted form of s is one literal whose value is s.
func checkQuote(t interface{ Fatalf(string, ...any) }, s string) {
	q := quote(s)
	if !literal.MatchString(q) {
		t.Fatalf("%q becomes %s, which is not one literal", s, q)
	}
	if back, err := strconv.Unquote(q); err != nil || back != s {
		t.Fatalf("%q becomes %s, which means %q (%v)", s, q, back, err)
	}
}

func TestQuote_RoundTripsHostileText(t *testing.T) {
	t.Parallel()
	hostile := rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune("\"\\'\n\rux0n2 ")), rapid.Rune()))
	rapid.Check(t, func(t *rapid.T) { checkQuote(t, hostile.Draw(t, "text")) })
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", `"`, `\`, `\"`, "a\r\nb", `" or user_id != "`, `\u0022`, "中"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ToValidUTF8(s, "") == s { // the contract's checks refuse other texts
			checkQuote(t, s)
		}
	})
}

func TestFilter_QuotesEveryValue(t *testing.T) {
	t.Parallel()
	got := filter(vectorstore.Query{
		Owner: memory.Owner{AppID: `a"`, UserID: `u\`}, Domains: []memory.Domain{memory.Tasks, memory.Social},
		Types: []memory.Type{"fact"}, AgentID: "amy", Since: time.UnixMilli(-5), Until: time.UnixMilli(7),
	})
	want := `user_id == "u\\" and app_id == "a\"" and domain in ["tasks_and_schedules", "social_and_relationships"]` +
		` and memory_type in ["fact"] and agent_id in ["", "amy"] and created_at >= -5 and created_at < 7`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCollectionName_IsValidAndUnique(t *testing.T) {
	t.Parallel()
	valid := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	alias := strings.Repeat("a", 200)
	seen := make(map[string]vectorstore.Space)
	rapid.Check(t, func(t *rapid.T) {
		space := vectorstore.Space{
			Model: rapid.OneOf(rapid.String(), rapid.StringMatching(`[ab/_-]{1,40}`)).Draw(t, "model"),
			Dim:   rapid.IntRange(1, 32768).Draw(t, "dim"),
		}
		name := collectionName(alias, space)
		if !valid.MatchString(name) || len(name) > 255 {
			t.Fatalf("%v has the name %q of %d bytes", space, name, len(name))
		}
		if other, taken := seen[name]; taken && other != space {
			t.Fatalf("%v and %v share the name %q", space, other, name)
		}
		seen[name] = space
	})
}
