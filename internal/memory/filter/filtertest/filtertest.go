// Package filtertest generates random filters and metadata. They share few keys
// and values, so that many filters match some of the metadata.
package filtertest

import (
	"encoding/json"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	_ "hippocampus/internal/rapidtest" // sets its flags
)

var (
	keys    = []string{"a", "b", "", "é", `q"u'o\t?$.*`}
	scalars = []string{
		`"a"`, `"A"`, `"a b%_"`, `""`, `"é"`, `"\u00e9"`, `"q\"u'o\\t"`, `"1"`, `"null"`, `"\ud83c\udf75"`,
		`"2026-01-31"`, `"2026-01-31T00:00:00Z"`, `"2026-01-31T02:00:00+02:00"`, `"2026-01-30T23:59:59.999999999Z"`,
		`0`, `-0.0`, `1`, `1.0`, `10e-1`, `1e2`, `100`, `0.1`, `0.10000000000000000001`, `9007199254740993`,
		`9007199254740992`, `1e300`, `-1e-300`, `true`, `false`, `null`,
	}
)

// scalar returns a generator of its own, since concurrent tests must not share one.
func scalar() *rapid.Generator[string] { return rapid.SampledFrom(scalars) }

// Metadata generates metadata, or nil.
func Metadata() *rapid.Generator[json.RawMessage] {
	value := rapid.OneOf(scalar(), scalar(), rapid.Custom(func(t *rapid.T) string {
		list := rapid.SliceOfN(scalar(), 0, 3).Draw(t, "list")
		form := rapid.SampledFrom([]string{`[%s]`, `[%s]`, `[[%s]]`, `{"a":[%s]}`}).Draw(t, "form")
		return fmt.Sprintf(form, strings.Join(list, ", "))
	}))
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		entries := []string{}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, 3, rapid.ID).Draw(t, "keys") {
			entries = append(entries, quote(key)+": "+value.Draw(t, "value"))
		}
		if len(entries) == 0 && rapid.Bool().Draw(t, "no metadata") {
			return nil
		}
		return json.RawMessage("{" + strings.Join(entries, ",") + "}")
	})
}

// Filter generates the JSON of a filter on metadata and other fields, which is valid.
func Filter() *rapid.Generator[string] { return filter(3) }

func filter(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := func() string {
			list := rapid.SliceOfN(filter(depth-1), 1, 3).Draw(t, "parts")
			return "[" + strings.Join(list, ",") + "]"
		}
		form := "metadata"
		if depth > 0 {
			form = rapid.SampledFrom([]string{"metadata", "metadata", "field", "and", "or", "not"}).Draw(t, "form")
		}
		switch form {
		case "and", "or":
			return fmt.Sprintf(`{%q:%s}`, form, parts())
		case "not":
			return fmt.Sprintf(`{"not":%s}`, filter(depth-1).Draw(t, "part"))
		case "field":
			return rapid.SampledFrom([]string{
				`{"tags":"work"}`, `{"tags":{"in":["x","茶"]}}`, `{"importance":{"gte":0.5}}`, `{"pinned":true}`,
				`{"agent_id":null}`, `{"content":{"icontains":"ODD"}}`, `{"content":{"icontains":"k"}}`,
				`{"content":{"icontains":"I"}}`, `{"content":{"icontains":"É茶"}}`, `{"content":{"icontains":"茶%"}}`,
				`{"content":{"contains":"K"}}`, `{"content":{"contains":"_'\\"}}`, `{"created_at":{"gt":"2026-03-01T09:30:16Z"}}`,
			}).Draw(t, "field")
		}
		key := rapid.SampledFrom(keys).Draw(t, "key")
		return fmt.Sprintf(`{"metadata":{%s:%s}}`, quote(key), condition().Draw(t, "condition"))
	})
}

func condition() *rapid.Generator[string] {
	bound := rapid.SampledFrom([]string{
		`0`, `1`, `0.1`, `9007199254740992`, `1e300`, `"2026-01-31"`, `"2026-01-31T00:00:00.000000001Z"`,
	})
	return rapid.Custom(func(t *rapid.T) string {
		switch operator := rapid.SampledFrom([]string{
			"", "eq", "eq", "ne", "in", "in", "gt", "gte", "lt", "lte", "contains", "icontains",
		}).Draw(t, "operator"); operator {
		case "":
			return scalar().Draw(t, "equal")
		case "eq", "ne":
			return fmt.Sprintf(`{%q:%s}`, operator, scalar().Draw(t, "equal"))
		case "in":
			return fmt.Sprintf(`{"in":[%s]}`, strings.Join(rapid.SliceOfN(scalar(), 1, 3).Draw(t, "values"), ","))
		case "contains", "icontains":
			part := rapid.SampledFrom([]string{"a", "A", "%", "_", "é", "É", `\`, "2026"}).Draw(t, "part")
			return fmt.Sprintf(`{%q:%s}`, operator, quote(part))
		default:
			return fmt.Sprintf(`{%q:%s}`, operator, bound.Draw(t, "bound"))
		}
	})
}

func quote(s string) string {
	text, _ := json.Marshal(s) // a string: cannot fail
	return string(text)
}
