package vectortest

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // sets its flags
	"hippocampus/vectorstore"
)

// fragments are the parts of hostile ids: syntax, escapes and similar-looking
// characters, but no control characters, since ids may not contain them.
var fragments = []string{
	`"`, `'`, `\`, `\\`, `\"`, "`", ` `, `  `, `%`, `_`, `*`, `$`, `{}`, `[`, `]`, `(`, `)`, `,`, `;`, `--`, `/*`,
	` or `, ` and `, ` not `, ` in `, ` like `, `==`, `!=`, ` != "`, `" or user_id != "`, `" or 1 == 1 or user_id == "`,
	`user_id`, `app_id`, `a`, `A`, `b`, `é`, "e\u0301",
	`\n`, `\r`, `\t`, `\0`, `\x22`, `\042`, `\u0022`, `\u4e2d`,
	`中`, `文`, `ａ`, `א`, `ع`, `и`, `i`, `ı`, `🧠`, "\u200b", "\u200d", "\u202e", "\ufeff", "\u00a0", "\u3000",
	`null`, `true`, `0`,
}

// hostileID draws an id of 1 to 256 bytes.
func hostileID() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		id := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 6).Draw(t, "fragments"), "")
		if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
			id = strings.Repeat(id, memory.MaxIDBytes/len(id))
			id += strings.Repeat("x", memory.MaxIDBytes-len(id))
		}
		return id
	})
}

// hostileOwner draws owners. Some of their ids come from a short list, so that
// owners share apps or users.
func hostileOwner() *rapid.Generator[memory.Owner] {
	id := rapid.OneOf(hostileID(), rapid.SampledFrom(fragments))
	return rapid.Custom(func(t *rapid.T) memory.Owner {
		return memory.Owner{AppID: id.Draw(t, "app"), UserID: id.Draw(t, "user")}
	})
}

// testIsolation checks that a search finds exactly the owner's records. All
// records have the same embedding, so that only their owners differ.
func testIsolation(t *testing.T, s vectorstore.Store) {
	const owners = 500
	held := make(map[memory.Owner][]string)
	var records []vectorstore.Record
	add := func(o memory.Owner) {
		rec := record(o, axis(2, 1))
		records, held[o] = append(records, rec), append(held[o], rec.ID)
	}
	for seed := range owners {
		o := hostileOwner().Example(seed)
		add(o)
		add(memory.Owner{AppID: o.UserID, UserID: o.AppID})
	}
	known := make([]memory.Owner, 0, len(held))
	for _, rec := range records {
		known = append(known, rec.Owner)
	}
	must(t, s.Insert(t.Context(), records))
	eachOf(t, held, func(o memory.Owner, want []string) error {
		return findIDs(t.Context(), s, around(o, axis(2, 1)), want)
	})

	rapid.Check(t, func(rt *rapid.T) {
		o := rapid.OneOf(hostileOwner(), rapid.SampledFrom(known)).Draw(rt, "owner")
		q := around(o, axis(2, 1))
		q.AgentID = rapid.OneOf(rapid.Just(""), hostileID()).Draw(rt, "agent")
		q.Domains = rapid.SampledFrom([][]memory.Domain{
			nil, {memory.Preferences}, {`x"] or user_id != "`, memory.Preferences},
		}).Draw(rt, "domains")
		hits, err := s.Search(t.Context(), q)
		if err != nil {
			rt.Fatalf("searching for %q: %v", o, err)
		}
		got, want := ids(hits), slices.Clone(held[o])
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			rt.Fatalf("%q finds %q, want %q", o, got, want)
		}
	})
}
