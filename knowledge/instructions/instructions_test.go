package instructions

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

var everybody = memory.Scope{AppID: "app", Kind: memory.AppScope}

func newService(t *testing.T, s db.Store, err error) *Service {
	t.Helper()
	clock := apptest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	return New(apptest.Migrated(t, s, err), clock.Now)
}

func newSQLite(t *testing.T) *Service {
	return newService(t, apptest.SQLite(t), nil)
}

// A script of publications (p), activations (a N), roll backs (r) and retirements (x), and the version that is active
// after each, computed by hand.
func TestService_ActivatesVersions(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"p p p r r r":         "1 2 3 2 1 !",
		"p p r p r r":         "1 2 1 3 1 !",
		"p p a1 r r":          "1 2 1 2 1",
		"p a1 r":              "1 1 !",
		"p x x r r":           "1 0 0 1 !",
		"p p x a1 r r":        "1 2 0 1 2 1",
		"p d d a3 r a4 a0":    "1 1 1 3 1 ! !",
		"d r x a1 r":          "0 ! 0 1 !",
		"p p p a1 a2 r r r r": "1 2 3 1 2 1 3 2 1",
	} {
		s := newSQLite(t)
		var got []string
		for step := range strings.FieldsSeq(script) {
			var is memory.Instruction
			var err error
			switch step[0] {
			case 'p', 'd':
				is, _, err = s.Publish(t.Context(), everybody, Draft{Name: "n", Content: "c", Activate: step == "p"})
			case 'a':
				is, err = s.Activate(t.Context(), everybody, "n", int(step[1]-'0'))
			case 'r':
				is, err = s.RollBack(t.Context(), everybody, "n")
			case 'x':
				is, err = s.Retire(t.Context(), everybody, "n")
			}
			switch {
			case memory.IsKind(err, memory.KindConflict) && step[0] == 'r', memory.IsKind(err, memory.KindNotFound) &&
				step[0] == 'a':
				got = append(got, "!")
			case err != nil:
				t.Fatal(err)
			default:
				got = append(got, fmt.Sprint(is.Active))
			}
		}
		if told := strings.Join(got, " "); told != want {
			t.Errorf("%s: %s, want %s", script, told, want)
		}
	}
}

func TestRollBack_KeepsALimitedNumberOfActivations(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	for range memory.MaxPreviouslyActive + 3 {
		if _, _, err := s.Publish(t.Context(), everybody, Draft{Name: "n", Content: "c", Activate: true}); err != nil {
			t.Fatal(err)
		}
	}
	for range memory.MaxPreviouslyActive {
		if _, err := s.RollBack(t.Context(), everybody, "n"); err != nil {
			t.Fatal(err)
		}
	}
	is, err := s.Activate(t.Context(), everybody, "n", 3)
	if err != nil || is.Active != 3 || len(is.PreviouslyActive) != 0 {
		t.Errorf("%+v, %v", is, err)
	}
	if _, err = s.RollBack(t.Context(), everybody, "n"); !memory.IsKind(err, memory.KindConflict) {
		t.Error(err)
	}
}

func TestPublish_ChecksDrafts(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	for want, d := range map[string]Draft{
		"name":    {Name: Reserved, Content: "c"},
		"content": {Name: "n", Content: strings.Repeat("界", memory.MaxInstruction+1)},
		"note":    {Name: "n", Content: "c", Note: "\x00"},
	} {
		_, _, err := s.Publish(t.Context(), everybody, d)
		if !memory.IsKind(err, memory.KindInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if list, err := s.Merged(t.Context(), "app", "", ""); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// Versions that two processes publish concurrently have consecutive numbers.
func TestPublish_HandlesConcurrentReplicas(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	var services []*Service
	for range 2 {
		s, err := postgres.Open(t.Context(), postgres.Options{URL: url})
		services = append(services, newService(t, s, err))
	}
	const each = 15
	var group sync.WaitGroup
	for r, s := range services {
		group.Go(func() {
			for n := range each {
				if _, _, err := s.Publish(t.Context(), everybody,
					Draft{Name: "n", Content: fmt.Sprint(r, "/", n), Activate: true}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	found, err := services[0].records.InstructionVersions(t.Context(), everybody, "n", 0, memory.MaxPage)
	if err != nil || len(found) != 2*each {
		t.Fatalf("%d versions, %v", len(found), err)
	}
	next := map[string]int{"0": each - 1, "1": each - 1} // each replica's own, newest first
	for i, v := range found {
		replica, n, _ := strings.Cut(v.Content, "/")
		if v.Number != 2*each-i || n != fmt.Sprint(next[replica]) {
			t.Errorf("version %d is %s, place %d", v.Number, v.Content, i)
		}
		next[replica]--
	}
}
