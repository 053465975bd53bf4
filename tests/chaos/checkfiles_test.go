package main

import (
	"slices"
	"testing"
)

// paragraph is the memory of a file's paragraph.
func paragraph(id, name, version, status string) Memory {
	m := memo(id, "user01", name, version, status)
	m.Tags = nil
	m.Metadata.Source, m.Metadata.Path = "memory-tool", pathOf(name)
	return m
}

// bullet returns a memory that was made from a bullet of a file.
func bullet(id, name, status string) Memory {
	m := memo(id, "user01", name, "1", status)
	m.Tags = nil
	m.Metadata.Source = "file"
	return m
}

// The checker finds each violation that is seeded into files, pins and relations.
func TestCheck_FindsSeededViolationsOfFiles(t *testing.T) {
	t.Parallel()
	place := func(f *Found, id string) int {
		return slices.IndexFunc(f.Memories, func(m Memory) bool { return m.ID == id })
	}
	for name, c := range map[string]struct {
		want string
		seed func(f *Found)
	}{
		"lost file":    {"note1ofuser01 of user01: lost", func(f *Found) { f.Files = nil }},
		"doubled file": {"note1ofuser01 of user01: doubled", func(f *Found) { f.Files = append(f.Files, f.Files[0]) }},
		"lost edit": {"note1ofuser01 of user01: another value",
			func(f *Found) { f.Files[0].Content = "note1ofuser01, version 1." }},
		"deleted file lives": {"note2ofuser01 of user01: deleted, and it lives",
			func(f *Found) { f.Files = append(f.Files, f.FileVersions[0]) }},
		"memory of a deleted file lives": {"note2ofuser01 of user01: 1 active memories",
			func(f *Found) { f.Memories[place(f, "id15")].Status = "active" }},
		"memory of a paragraph is lost": {"note1ofuser01 of user01: 0 active memories",
			func(f *Found) { f.Memories = slices.Delete(f.Memories, place(f, "id14"), place(f, "id14")+1) }},
		"memory of a former paragraph lives": {"its memory states another content",
			func(f *Found) { f.Memories[place(f, "id14")] = paragraph("id14", "note1ofuser01", "1", "active") }},
		"version of an erased user lives": {"note3ofuser03 of user03: erased, and it lives", func(f *Found) {
			f.FileVersions = append(f.FileVersions, File{User: "user03", Path: pathOf("note3ofuser03")})
		}},
		"file of another user": {"another user's data: user02 has it", func(f *Found) { f.Files[0].User = "user02" }},
		"lost bullet": {"bullet1ofuser01 of user01: lost",
			func(f *Found) { f.Memories = slices.Delete(f.Memories, place(f, "id16"), place(f, "id16")+1) }},
		"doubled bullet": {"bullet1ofuser01 of user01: doubled",
			func(f *Found) { f.Memories = append(f.Memories, bullet("x", "bullet1ofuser01", "active")) }},
		"removed bullet lives": {"bullet2ofuser01 of user01: forgotten, and it lives",
			func(f *Found) { f.Memories[place(f, "id17")].Status = "active" }},
		"lost pin": {"the pin of memo1ofuser01 of user01: another value", func(f *Found) { f.Memories[0].Pinned = false }},
		"lost relation": {"memo1ofuser01 refines memo2ofuser01 of user01: lost",
			func(f *Found) { f.Relations = nil }},
		"doubled relation": {"memo1ofuser01 refines memo2ofuser01 of user01: doubled",
			func(f *Found) { f.Relations = append(f.Relations, f.Relations[0]) }},
		"erased relation lives": {"memo5ofuser03 refines memo6ofuser03 of user03: erased, and it lives",
			func(f *Found) { f.Relations = append(f.Relations, Relation{From: "id5", Kind: refines, To: "id99"}) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := stores()
			c.seed(f)
			expectBlamed(t, Check(Expect(history()), *f), c.want)
		})
	}
}

func TestCommandOutcome_ReadsRefusals(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]Outcome{
		`{"content":"Done","is_error":false}`:               "",
		`{"content":"File already exists","is_error":true}`: Refused,
		`cut o`: Unknown,
	} {
		if got := commandOutcome(Entry{}, answer{status: 200, body: []byte(body)}).Outcome; got != want {
			t.Errorf("%s: outcome %q, want %q", body, got, want)
		}
	}
}

func TestWithoutBullet_RemovesOne(t *testing.T) {
	t.Parallel()
	const insight = "\n# Reflections\n\n- The lamp keeps bullet1ofuser01, version 1; The desk is old. [3]\n"
	const file = "# Facts\n\n- The lamp keeps bullet1ofuser01, version 1. [1]\n" +
		"- The lamp keeps bullet11ofuser01, version 1. [2]\n" + insight
	rest, ok := withoutBullet(file, "bullet1ofuser01")
	if want := "# Facts\n\n- The lamp keeps bullet11ofuser01, version 1. [2]\n" + insight; !ok || rest != want {
		t.Errorf("%v, %q", ok, rest)
	}
	if _, ok := withoutBullet(file, "bullet2ofuser01"); ok {
		t.Error("a bullet that is not in the file is found")
	}
}
