package main

import (
	"testing"

	"hippocampus/internal/memory"
)

func TestCheck_FindsSeededViolationsOfThePool(t *testing.T) {
	t.Parallel()
	share := func(f *Found, owner, id, object string) {
		f.Copies = append(f.Copies, memo("x", memory.PoolUser, object, "1", "active"))
		f.Pooled = append(f.Pooled, Pooled{ID: "x", User: owner, MemoryID: id})
	}
	for name, c := range map[string]struct {
		want string
		seed func(f *Found)
	}{
		"lost copy": {"the copy of memo1ofuser01 of user01: lost",
			func(f *Found) { f.Copies, f.Pooled = nil, nil }},
		"doubled copy": {"the copy of memo1ofuser01 of user01: doubled",
			func(f *Found) { share(f, "user01", "id1", "memo1ofuser01") }},
		"copy without a contributor": {"its copy has no contributor", func(f *Found) { f.Pooled = nil }},
		"contributor without a copy": {"an entry of the pool has no memory",
			func(f *Found) { f.Pooled = append(f.Pooled, Pooled{ID: "x", User: "user01", MemoryID: "id3"}) }},
		"copy of an erased memory lives": {"the copy of memo5ofuser03 of user03: erased, and it lives",
			func(f *Found) { share(f, "user03", "id5", "memo5ofuser03") }},
		"copy of another user": {"another user's data: user02 has it",
			func(f *Found) { f.Pooled[0].User = "user02" }},
		"vector of an erased copy lives": {"a vector lives whose memory is not active",
			func(f *Found) { f.Vectors = append(f.Vectors, Vector{ID: "x", User: memory.PoolUser}) }},
		"vector of a copy is lost": {"its vector is lost",
			func(f *Found) { f.Vectors = f.Vectors[:len(f.Vectors)-1] }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := stores()
			c.seed(f)
			expectBlamed(t, Check(Expect(history()), *f), c.want)
		})
	}
}
