package consistency

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// at returns an operation of client 1 on memory m between two milliseconds.
func at(start, end int, kind Kind, status Status, content string) Operation {
	return Operation{
		Client: 1, Server: "a", Request: string(kind), Kind: kind, Memory: "m", Status: status, Content: content,
		Start: time.Duration(start) * time.Millisecond, End: time.Duration(end) * time.Millisecond,
	}
}

func (o Operation) by(client int) Operation {
	o.Client = client
	return o
}

// refused returns the operation with a conflict as its answer.
func (o Operation) refused() Operation {
	o.Refused = true
	return o
}

// broken lists the guarantees that a history breaks, each once.
func broken(history []Operation) (guarantees []Guarantee) {
	for _, v := range Check(history) {
		if !slices.Contains(guarantees, v.Guarantee) {
			guarantees = append(guarantees, v.Guarantee)
		}
	}
	return guarantees
}

// Each history of a few operations breaks the guarantees that it names.
func TestCheck_NamesWhatIsBroken(t *testing.T) {
	t.Parallel()
	created, changed := at(0, 1, Create, Active, "v1"), at(2, 3, Update, Active, "v2")
	deleted := at(4, 5, Delete, Forgotten, "v2")
	for name, c := range map[string]struct {
		history []Operation
		want    []Guarantee
	}{
		"an own write is read": {[]Operation{created, changed, at(4, 5, Get, Active, "v2")}, nil},
		"a read is older than an own write": {
			[]Operation{created, changed, at(4, 5, Get, Active, "v1")}, []Guarantee{ReadYourWrites, Linearizable}},
		"a read is older than an own write, by recall": {
			[]Operation{created, changed, at(4, 5, Find, Active, "v1")}, []Guarantee{ReadYourWrites, Linearizable}},
		"a read during a write shows either content": {[]Operation{
			created, at(2, 9, Update, Active, "v2"), at(3, 4, Get, Active, "v1").by(2), at(5, 6, Get, Active, "v2").by(3)}, nil},
		"a read goes back in time": {[]Operation{
			created, changed, at(4, 5, Get, Active, "v2").by(2), at(6, 7, Get, Active, "v1").by(2)},
			[]Guarantee{MonotonicReads, Linearizable}},
		"two clients see two concurrent writes in different orders": {[]Operation{
			created, at(2, 9, Update, Active, "v2").by(3), at(2, 9, Update, Active, "v3").by(4),
			at(10, 11, Get, Active, "v2").by(1), at(12, 13, Get, Active, "v3").by(2)}, []Guarantee{Linearizable}},
		"a read is older than another client's write": {
			[]Operation{created, changed, at(4, 5, Get, Active, "v1").by(2)}, []Guarantee{Linearizable}},
		"a deleted memory is hidden": {[]Operation{
			created, changed, deleted, at(6, 7, Find, Missing, ""), at(8, 9, Get, Forgotten, "v2")}, nil},
		"a deleted memory returns": {[]Operation{created, changed, deleted, at(6, 7, Find, Active, "v2").by(2)},
			[]Guarantee{StaysDeleted, Linearizable}},
		"a deleted memory returns by id": {[]Operation{created, changed, deleted, at(6, 7, Get, Active, "v2").by(2)},
			[]Guarantee{StaysDeleted, Linearizable}},
		"a memory is shown while it is restored": {[]Operation{
			created, changed, deleted, at(6, 9, Restore, Active, "v2"), at(7, 8, Find, Active, "v2").by(2)}, nil},
		"a memory is lost": {[]Operation{created, at(2, 3, Find, Missing, "")}, []Guarantee{StaysWritten, Linearizable}},
		"a restored memory is lost": {[]Operation{
			created, changed, deleted, at(6, 7, Restore, Active, "v2"), at(8, 9, Get, Forgotten, "v2").by(2)},
			[]Guarantee{StaysWritten, Linearizable}},
		"a content was never written": {[]Operation{created, at(2, 3, Get, Active, "v9")}, []Guarantee{Linearizable}},
		"a content is shown before it is written": {[]Operation{
			created, at(2, 3, Get, Active, "v2"), at(4, 5, Update, Active, "v2")}, []Guarantee{Linearizable}},
		"a refused change has changed something": {[]Operation{
			created, at(2, 3, Delete, Forgotten, "v1"), at(4, 5, Update, "", "v2").refused(), at(6, 7, Restore, Active, "v2")},
			[]Guarantee{Linearizable}},
		"a change is refused without a reason": {
			[]Operation{created, at(2, 3, Update, "", "v2").refused()}, []Guarantee{Linearizable}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := broken(c.history); !slices.Equal(got, c.want) {
				t.Errorf("broken %q, want %q", got, c.want)
			}
		})
	}
}

// live returns a history of several clients and one memory on a perfect server: each operation takes effect at one
// instant between its start and its end.
func live(seed uint64) (history []Operation) {
	dice := rand.New(rand.NewPCG(seed, 1))
	ends := make([]time.Duration, 4) // of the latest operation of each client
	s := state{status: Active, content: "v0"}
	history = append(history, at(0, 0, Create, Active, "v0"))
	effect := time.Duration(0)
	for n := range 60 {
		effect += time.Duration(1+dice.IntN(100)) * time.Microsecond
		client := dice.IntN(len(ends))
		if ends[client] >= effect {
			continue
		}
		o := Operation{Client: client, Memory: "m", Kind: Get, Status: s.status, Content: s.content}
		o.Start = max(ends[client]+1, effect-time.Duration(dice.IntN(300))*time.Microsecond)
		o.End = effect + time.Duration(dice.IntN(300))*time.Microsecond
		ends[client] = o.End
		switch dice.IntN(6) {
		case 0:
			o.Kind, o.Content, o.Refused = Update, fmt.Sprint("v", n+1), s.status != Active
		case 1:
			o.Kind, o.Status = Delete, Forgotten
		case 2:
			o.Kind, o.Status = Restore, Active
		case 3:
			o.Kind = Find
			if s.status != Active {
				o.Status, o.Content = Missing, ""
			}
		}
		o.Request = string(o.Kind)
		ok, after := s.step(o)
		if !ok {
			panic(fmt.Sprintf("the perfect server answers %v in %v", o, s))
		}
		s = after
		history = append(history, o)
	}
	return history
}

// No history of a perfect server breaks a guarantee.
func TestCheck_AcceptsPerfectServers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		if v := Check(live(seed)); len(v) > 0 {
			t.Fatalf("seed %d: %v", seed, v[0])
		}
	}
}

// A wrong answer follows the history of a perfect server, and the checker finds it.
func TestCheck_FindsSeededViolations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		history := live(seed)
		end := history[len(history)-1].End + time.Second
		last := func(kind Kind, status Status, content string) Operation {
			end += 2
			return Operation{Client: 1, Request: string(kind), Kind: kind, Memory: "m", Status: status, Content: content,
				Start: end, End: end + 1}
		}
		var content string // the latest
		for _, o := range history {
			if o.showsContent() {
				content = o.Content
			}
		}
		restored := last(Restore, Active, content)
		written := last(Update, Active, "latest")
		whole := append(slices.Clone(history), restored, written, last(Get, Active, "latest"))
		deletion := last(Delete, Forgotten, "latest")
		for name, c := range map[string]struct {
			history []Operation
			want    Guarantee
		}{
			"a stale read after an own write": {append(slices.Clone(whole), last(Find, Active, content)), ReadYourWrites},
			"a read that goes back in time": {append(slices.Clone(whole),
				last(Get, Active, "latest").by(2), last(Get, Active, content).by(2)), MonotonicReads},
			"a deleted memory that returns": {append(slices.Clone(whole), deletion, last(Find, Active, "latest")), StaysDeleted},
			"a lost memory":                 {append(slices.Clone(whole), last(Find, Missing, "")), StaysWritten},
		} {
			if got := broken(c.history); !slices.Equal(got, []Guarantee{c.want, Linearizable}) {
				t.Errorf("seed %d, %s: broken %q", seed, name, got)
			}
		}
	}
}
