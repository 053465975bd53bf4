package main

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

// history is a ledger with requests of every kind that changes something.
func history() []Entry {
	entries := []Entry{
		{User: "user01", Kind: WriteMemory, Object: "memo1ofuser01", Value: "1", ID: "id1"},
		{User: "user01", Kind: UpdateMemory, Object: "memo1ofuser01", Value: "5", ID: "id1"},
		{User: "user01", Kind: ImportMemory, Object: "memo2ofuser01", Value: "1", ID: "id2"},
		{User: "user01", Kind: ForgetMemory, Object: "memo2ofuser01", ID: "id2"},
		{User: "user02", Kind: WriteMemory, Object: "memo3ofuser02", Value: "1", ID: "id3"},
		{User: "user02", Kind: ForgetMemory, Object: "memo3ofuser02", ID: "id3"},
		{User: "user02", Kind: RestoreMemory, Object: "memo3ofuser02", ID: "id3"},
		{User: "user02", Kind: WriteMemory, Object: "memo4ofuser02", Value: "1", Outcome: Unknown},
		{User: "user02", Kind: WriteMemory, Object: "memo9ofuser02", Value: "1", Outcome: Refused},
		{User: "user01", Kind: PostTurn, Object: "talk1ofuser01", Of: "conv1ofuser01"},
		{User: "user01", Kind: EndConversation, Object: "conv1ofuser01"},
		{User: "user01", Kind: PostTurn, Object: "talk2ofuser01", Of: "conv2ofuser01"},
		{User: "user01", Kind: DeleteConversation, Object: "conv2ofuser01"},
		{User: "user02", Kind: PostTurn, Object: "talk3ofuser02"},
		{User: "user01", Kind: PutFact, Object: "key1ofuser01", Value: "value1ofuser01"},
		{User: "user01", Kind: PutFact, Object: "key1ofuser01", Value: "value2ofuser01"},
		{User: "user01", Kind: PutFact, Object: "key2ofuser01", Value: "value3ofuser01"},
		{User: "user01", Kind: EndFact, Object: "key2ofuser01"},
		{User: "user01", Kind: Publish, Object: "rule1ofuser01", Value: "text1ofuser01"},
		{User: "user01", Kind: Publish, Object: "rule1ofuser01", Value: "text2ofuser01"},
		{User: "user01", Kind: Publish, Object: "rule2ofuser01", Value: "text3ofuser01"},
		{User: "user01", Kind: Retire, Object: "rule2ofuser01"},
		{User: "user01", Kind: CountOutcome, Object: "run1ofuser01", Of: "plan 1 of user01"},
		{User: "user01", Kind: CountOutcome, Object: "run2ofuser01", Of: "plan 1 of user01", Outcome: Unknown},
		{User: "user01", Kind: CreateFile, Object: "note1ofuser01", Value: "1"},
		{User: "user01", Kind: EditFile, Object: "note1ofuser01", Value: "7"},
		{User: "user01", Kind: CreateFile, Object: "note2ofuser01", Value: "1"},
		{User: "user01", Kind: DeleteFile, Object: "note2ofuser01"},
		{User: "user01", Kind: AddBullet, Object: "bullet1ofuser01", Value: "1"},
		{User: "user01", Kind: AddBullet, Object: "bullet2ofuser01", Value: "1"},
		{User: "user01", Kind: ForgetMemory, Object: "bullet2ofuser01"},
		{User: "user01", Kind: Pin, Object: "the pin of memo1ofuser01", Of: "memo1ofuser01", Value: pinned},
		{User: "user01", Kind: Relate, Object: "memo1ofuser01 refines memo2ofuser01", ID: "id1 refines id2"},
		{User: "user01", Kind: Contribute, Object: "the copy of memo1ofuser01", Of: "id1"},
		{User: "user03", Kind: Contribute, Object: "the copy of memo5ofuser03", Of: "id5"},
		{User: "user03", Kind: CreateFile, Object: "note3ofuser03", Value: "1"},
		{User: "user03", Kind: Relate, Object: "memo5ofuser03 refines memo6ofuser03", ID: "id5 refines id99"},
		{User: "user03", Kind: WriteMemory, Object: "memo5ofuser03", Value: "1", ID: "id5"},
		{User: "user03", Kind: PostTurn, Object: "talk4ofuser03", Of: "conv3ofuser03"},
		{User: "user03", Kind: PutFact, Object: "key3ofuser03", Value: "value4ofuser03"},
		{User: "user03", Kind: Erase},
	}
	for i := range entries {
		entries[i].N = i + 1
		if entries[i].Outcome == "" {
			entries[i].Outcome = Acknowledged
		}
	}
	return entries
}

// memory returns a memory that was written directly.
func memo(id, user, name, version, status string) Memory {
	return Memory{
		ID: id, User: user, Content: "The lamp keeps " + name + ", version " + version + ".", Type: "fact", Status: status,
		Tags: []string{name},
	}
}

// fromTurn returns a memory that was made from a turn.
func fromTurn(id, user, name, kind string) Memory {
	return Memory{ID: id, User: user, Content: "The user bought " + name, Type: kind, Status: "active", Turn: "t"}
}

// stores returns contents of the stores that fit the history.
func stores() *Found {
	f := &Found{
		Memories: []Memory{
			memo("id1", "user01", "memo1ofuser01", "5", "active"),
			memo("id2", "user01", "memo2ofuser01", "1", "forgotten"),
			memo("id3", "user02", "memo3ofuser02", "1", "active"),
			fromTurn("id6", "user01", "talk1ofuser01", "fact"), fromTurn("id7", "user01", "talk1ofuser01", "message"),
			fromTurn("id8", "user02", "talk3ofuser02", "fact"), fromTurn("id9", "user02", "talk3ofuser02", "message"),
			{ID: "id10", User: "user01", Content: "key1ofuser01: value2ofuser01", Type: "fact", Status: "active"},
			{ID: "id11", User: "user01", Content: "Bought talk1ofuser01 and more", Type: "reflection", Status: "active"},
			paragraph("id14", "note1ofuser01", "7", "active"), paragraph("id15", "note2ofuser01", "1", "forgotten"),
			bullet("id16", "bullet1ofuser01", "active"), bullet("id17", "bullet2ofuser01", "forgotten"),
		},
		Turns: []Turn{
			{User: "user01", Client: "talk1ofuser01", Conversation: "conv1ofuser01", Status: "processed"},
			{User: "user02", Client: "talk3ofuser02", Status: "processed"},
		},
		Facts: []Fact{
			{User: "user01", Key: "key1ofuser01", Value: []byte(`"value1ofuser01"`), State: "accepted", Until: "2020"},
			{User: "user01", Key: "key1ofuser01", Value: []byte(`"value2ofuser01"`), State: "accepted"},
			{User: "user01", Key: "key2ofuser01", Value: []byte(`"value3ofuser01"`), State: "accepted", Until: "2020"},
		},
		Instructions: []Instruction{
			{User: "user01", Name: "rule1ofuser01", Active: 2}, {User: "user01", Name: "rule2ofuser01"},
		},
		Versions: []Version{
			{User: "user01", Name: "rule1ofuser01", Version: 1, Content: "text1ofuser01"},
			{User: "user01", Name: "rule1ofuser01", Version: 2, Content: "text2ofuser01"},
			{User: "user01", Name: "rule2ofuser01", Version: 1, Content: "text3ofuser01"},
		},
		Workflows:     []Workflow{{User: "user01", Workflow: "plan 1 of user01", Successes: 1}},
		Conversations: []Conversation{{User: "user01", ID: "conv1ofuser01", Ended: "2026", Turns: 1}},
		Files:         []File{{User: "user01", Path: pathOf("note1ofuser01"), Content: "note1ofuser01, version 7."}},
		FileVersions:  []File{{User: "user01", Path: pathOf("note2ofuser01"), Content: "note2ofuser01, version 1."}},
		Relations:     []Relation{{From: "id1", Kind: refines, To: "id2"}},
		Copies:        []Memory{memo("id20", memory.PoolUser, "memo1ofuser01", "1", "active")},
		Pooled:        []Pooled{{ID: "id20", User: "user01", MemoryID: "id1"}},
		Drift:         map[string]int{"missing": 0, "orphaned": 0, "different": 0},
	}
	f.Memories[0].Pinned = true
	for _, m := range slices.Concat(f.Memories, f.Copies) {
		if m.Status == "active" {
			f.Vectors = append(f.Vectors, Vector{ID: m.ID, User: m.User})
		}
	}
	return f
}

func TestCheck_AcceptsWhatTheLedgerAllows(t *testing.T) {
	t.Parallel()
	cases := map[string]func(f *Found){
		"nothing unknown happened": func(*Found) {},
		"an unknown write happened": func(f *Found) {
			f.Memories = append(f.Memories, memo("id4", "user02", "memo4ofuser02", "1", "active"))
			f.Vectors = append(f.Vectors, Vector{ID: "id4", User: "user02"})
		},
		"an unknown outcome was counted": func(f *Found) { f.Workflows[0].Failures = 1 },
		"a consolidation came before its turn": func(f *Found) {
			i := slices.IndexFunc(f.Memories, func(m Memory) bool { return m.ID == "id6" })
			f.Memories[i].Type, f.Memories[i].Turn = "preference", ""
		},
		"the model replaced the fact of the rules": func(f *Found) {
			byRules := fromTurn("id14", "user02", "talk3ofuser02", "fact")
			byRules.Status = "forgotten"
			f.Memories = append(f.Memories, byRules)
		},
		"a turn was processed before its conversation was deleted": func(f *Found) {
			f.Memories = append(f.Memories, fromTurn("id12", "user01", "talk2ofuser01", "fact"),
				fromTurn("id13", "user01", "talk2ofuser01", "message"))
			f.Vectors = append(f.Vectors, Vector{ID: "id12", User: "user01"}, Vector{ID: "id13", User: "user01"})
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := stores()
			change(f)
			for _, v := range Check(Expect(history()), *f) {
				t.Error(v)
			}
		})
	}
}

// The checker finds each violation that is seeded into the stores.
func TestCheck_FindsSeededViolations(t *testing.T) {
	t.Parallel()
	without := func(f *Found, id string) {
		f.Memories = slices.DeleteFunc(f.Memories, func(m Memory) bool { return m.ID == id })
		f.Vectors = slices.DeleteFunc(f.Vectors, func(v Vector) bool { return v.ID == id })
	}
	with := func(f *Found, m Memory) {
		f.Memories = append(f.Memories, m)
		f.Vectors = append(f.Vectors, Vector{ID: m.ID, User: m.User})
	}
	cases := []struct {
		name, want string
		seed       func(f *Found)
	}{
		{"lost memory", "memo1ofuser01 of user01: lost", func(f *Found) { without(f, "id1") }},
		{"doubled memory", "memo1ofuser01 of user01: doubled",
			func(f *Found) { with(f, memo("x", "user01", "memo1ofuser01", "5", "active")) }},
		{"doubled write of unknown outcome", "memo4ofuser02 of user02: doubled", func(f *Found) {
			with(f, memo("x", "user02", "memo4ofuser02", "1", "active"))
			with(f, memo("y", "user02", "memo4ofuser02", "1", "active"))
		}},
		{"lost update", "memo1ofuser01 of user01: another value",
			func(f *Found) { f.Memories[0] = memo("id1", "user01", "memo1ofuser01", "1", "active") }},
		{"forgotten memory lives", "memo2ofuser01 of user01: forgotten, and it lives", func(f *Found) {
			f.Memories[1].Status = "active"
			f.Vectors = append(f.Vectors, Vector{ID: "id2", User: "user01"})
		}},
		{"restored memory is forgotten", "memo3ofuser02 of user02: another value", func(f *Found) {
			without(f, "id3")
			f.Memories = append(f.Memories, memo("id3", "user02", "memo3ofuser02", "1", "forgotten"))
		}},
		{"invented memory", "invented",
			func(f *Found) { with(f, Memory{ID: "x", User: "user01", Content: "memo77ofuser01", Status: "active"}) }},
		{"another user's data", "another user's data: user02 has it", func(f *Found) {
			with(f, Memory{ID: "x", User: "user02", Content: "Has memo1ofuser01", Type: "reflection", Status: "active"})
		}},
		{"erased memory lives", "memo5ofuser03 of user03: erased, and it lives",
			func(f *Found) { with(f, memo("id5", "user03", "memo5ofuser03", "1", "active")) }},
		{"erased turn lives", "talk4ofuser03 of user03: erased, and it lives",
			func(f *Found) { f.Turns = append(f.Turns, Turn{User: "user03", Client: "talk4ofuser03"}) }},
		{"erased conversation lives", "conv3ofuser03 of user03: erased, and it lives",
			func(f *Found) {
				f.Conversations = append(f.Conversations, Conversation{User: "user03", ID: "conv3ofuser03"})
			}},
		{"erased fact lives", "key3ofuser03 of user03: erased, and it lives", func(f *Found) {
			f.Facts = append(f.Facts, Fact{User: "user03", Key: "key3ofuser03", Value: []byte(`"value4ofuser03"`)})
		}},
		{"insight of an erased user lives", "memo5ofuser03 of user03: erased, and it lives", func(f *Found) {
			with(f, Memory{ID: "x", User: "user03", Content: "memo5ofuser03", Type: "reflection", Status: "active"})
		}},
		{"lost turn", "talk3ofuser02 of user02: lost", func(f *Found) { f.Turns = f.Turns[:1] }},
		{"doubled turn", "talk3ofuser02 of user02: doubled", func(f *Found) { f.Turns = append(f.Turns, f.Turns[1]) }},
		{"turn not processed", "talk3ofuser02 of user02: not processed",
			func(f *Found) { f.Turns[1].Status = "accepted" }},
		{"turn without its fact", "talk3ofuser02 of user02: lost its fact or message", func(f *Found) { without(f, "id8") }},
		{"turn without its message", "talk3ofuser02 of user02: lost its fact or message",
			func(f *Found) { without(f, "id9") }},
		{"turn with two facts", "talk3ofuser02 of user02: doubled",
			func(f *Found) { with(f, fromTurn("x", "user02", "talk3ofuser02", "fact")) }},
		{"another fact that is forgotten", "talk3ofuser02 of user02: doubled", func(f *Found) {
			other := fromTurn("x", "user02", "talk3ofuser02", "fact")
			other.Status, other.Content = "forgotten", other.Content+" twice"
			f.Memories = append(f.Memories, other)
		}},
		{"fact of a turn is not active", "talk3ofuser02 of user02: not active", func(f *Found) {
			i := slices.IndexFunc(f.Memories, func(m Memory) bool { return m.ID == "id8" })
			f.Memories[i].Status = "superseded"
		}},
		{"lost conversation", "conv1ofuser01 of user01: lost", func(f *Found) { f.Conversations = nil }},
		{"conversation not ended", "conv1ofuser01 of user01: not ended", func(f *Found) { f.Conversations[0].Ended = "" }},
		{"conversation lost a turn", "conv1ofuser01 of user01: 0 turns", func(f *Found) { f.Conversations[0].Turns = 0 }},
		{"deleted conversation lives", "conv2ofuser01 of user01: deleted, and it lives",
			func(f *Found) {
				f.Conversations = append(f.Conversations, Conversation{User: "user01", ID: "conv2ofuser01", Turns: 1})
			}},
		{"turn of a deleted conversation lives", "its conversation is deleted, and it lives", func(f *Found) {
			f.Turns = append(f.Turns,
				Turn{User: "user01", Client: "talk2ofuser01", Conversation: "conv2ofuser01", Status: "processed"})
		}},
		{"lost fact", "key1ofuser01 of user01: 0 pieces of evidence for value2ofuser01",
			func(f *Found) { f.Facts = slices.Delete(f.Facts, 1, 2) }},
		{"doubled fact", "2 pieces of evidence", func(f *Found) { f.Facts = append(f.Facts, f.Facts[0]) }},
		{"two values are valid", "key1ofuser01 of user01: another value", func(f *Found) { f.Facts[0].Until = "" }},
		{"ended fact is valid", "key2ofuser01 of user01: another value", func(f *Found) { f.Facts[2].Until = "" }},
		{"memory of a former value lives", "1 active memories state value1ofuser01", func(f *Found) {
			with(f, Memory{ID: "x", User: "user01", Content: "value1ofuser01", Type: "fact", Status: "active"})
		}},
		{"memory of a value is lost", "0 active memories state value2ofuser01", func(f *Found) { without(f, "id10") }},
		{"former version is active", "rule1ofuser01 of user01: another version is active",
			func(f *Found) { f.Instructions[0].Active = 1 }},
		{"retired instruction is active", "rule2ofuser01 of user01: another version is active",
			func(f *Found) { f.Instructions[1].Active = 1 }},
		{"lost version", "0 versions of text1ofuser01", func(f *Found) { f.Versions = f.Versions[1:] }},
		{"doubled version", "2 versions of text1ofuser01",
			func(f *Found) { f.Versions = append(f.Versions, f.Versions[0]) }},
		{"outcome counted twice", "counts 3 outcomes, want 1 to 2", func(f *Found) { f.Workflows[0].Successes = 3 }},
		{"lost outcome", "counts 0 outcomes, want 1 to 2", func(f *Found) { f.Workflows = nil }},
		{"lost vector", "its vector is lost", func(f *Found) { f.Vectors = f.Vectors[1:] }},
		{"doubled vector", "its vector is doubled", func(f *Found) { f.Vectors = append(f.Vectors, f.Vectors[0]) }},
		{"vector of a forgotten memory lives", "memo2ofuser01 of user01: a vector lives whose memory is not active",
			func(f *Found) { f.Vectors = append(f.Vectors, Vector{ID: "id2", User: "user01"}) }},
		{"vector of an erased memory lives", "memo5ofuser03 of user03: a vector lives whose memory is not active",
			func(f *Found) { f.Vectors = append(f.Vectors, Vector{ID: "id5", User: "user03"}) }},
		{"vector of another user", "its vector is another user's", func(f *Found) { f.Vectors[0].User = "user02" }},
		{"drift", "verification reports drift", func(f *Found) { f.Drift["different"] = 1 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := stores()
			c.seed(f)
			expectBlamed(t, Check(Expect(history()), *f), c.want)
		})
	}
}

// The checker finds lost requests that are seeded into the ledger.
func TestCheck_FindsSeededLedgerEntries(t *testing.T) {
	t.Parallel()
	for _, e := range []Entry{
		{User: "user01", Kind: WriteMemory, Object: "memo8ofuser01", Value: "1"},
		{User: "user01", Kind: PostTurn, Object: "talk8ofuser01"},
		{User: "user01", Kind: PutFact, Object: "key8ofuser01", Value: "value8ofuser01"},
		{User: "user01", Kind: Publish, Object: "rule8ofuser01", Value: "text8ofuser01"},
		{User: "user01", Kind: ForgetMemory, Object: "memo1ofuser01"},
		{User: "user01", Kind: Erase},
	} {
		t.Run(string(e.Kind), func(t *testing.T) {
			t.Parallel()
			e.N, e.Outcome = 99, Acknowledged
			violations := Check(Expect(append(history(), e)), *stores())
			expectBlamed(t, violations, "")
			if len(violations) > 0 && violations[len(violations)-1].Entry.N != 99 {
				t.Errorf("the violation names another request: %s", violations[len(violations)-1])
			}
		})
	}
}

func TestCheckSeen_FindsSeededViolations(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]Memory{
		"recalls a memory of user02":  {User: "user02"},
		"user01 has it":               {User: "user01", Content: "memo3ofuser02"},
		"forgotten, and it is recall": memo("id2", "user01", "memo2ofuser01", "1", "active"),
	} {
		expectBlamed(t, CheckSeen(Expect(history()), Entry{N: 50, User: "user01", Kind: Recall}, []Memory{m}), want)
	}
	right := memo("id1", "user01", "memo1ofuser01", "5", "active")
	if found := CheckSeen(Expect(history()), Entry{User: "user01"}, []Memory{right}); len(found) > 0 {
		t.Errorf("a memory that is right is blamed: %v", found)
	}
}

func TestCheckRead_FindsAnotherValue(t *testing.T) {
	t.Parallel()
	read := Entry{User: "user01", Kind: Read, Object: "memo1ofuser01"}
	expectBlamed(t, CheckRead(Expect(history()), read, memo("id1", "user01", "memo1ofuser01", "1", "active")),
		"a read shows another value")
}

func TestLedger_KeepsEachEntryAsLine(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	l := &Ledger{out: &out}
	for _, e := range history() {
		l.Record(e)
	}
	lines := json.NewDecoder(strings.NewReader(out.String()))
	for i := 0; ; i++ {
		var e Entry
		if err := lines.Decode(&e); err == io.EOF && i == len(history()) {
			return
		} else if err != nil || e.N != i+1 {
			t.Fatalf("line %d: %v %v", i+1, e, err)
		}
	}
}

func expectBlamed(t *testing.T, violations []Violation, want string) {
	t.Helper()
	if !slices.ContainsFunc(violations, func(v Violation) bool { return strings.Contains(v.What, want) }) {
		t.Errorf("not found: %q in %v", want, violations)
	}
}
