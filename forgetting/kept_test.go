package forgetting

import (
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// What a user is never fades; passing facts, tasks and messages do.
func TestKeeps_WhatAUserIs(t *testing.T) {
	t.Parallel()
	rule := strengthening
	rule.ExcludeTypes, rule.KeepTypes, rule.KeepImportance = "skill,decision", "fact,preference", 0.85
	at := begin.AddDate(10, 0, 0)
	for _, one := range []struct {
		kind       memory.Type
		importance float64
		kept       bool
	}{
		{memory.TypeFact, 0.85, true}, {"preference", 0.9, true}, {memory.TypeFact, 0.84, false}, {"task", 1, false},
		{memory.TypeMessage, 0.9, false}, {"decision", 0, true}, {memory.TypeReflection, 0, true}, {"", 1, false},
	} {
		a := db.Age{CreatedAt: begin, LastAccessedAt: begin, Type: one.kind, Importance: one.importance}
		if rule.Faded(a, at) == one.kept {
			t.Errorf("a %s of importance %v: faded is %t", one.kind, one.importance, !one.kept)
		}
		if _, never := rule.FadesAt(a); never != one.kept {
			t.Errorf("a %s of importance %v: never fades is %t", one.kind, one.importance, never)
		}
		if one.kept && rule.Retention(a, at) > 0.001 {
			t.Errorf("a %s of importance %v has a retention of %v", one.kind, one.importance, rule.Retention(a, at))
		}
	}
}

func TestNames_ListsNames(t *testing.T) {
	t.Parallel()
	for _, list := range [][]memory.Type{{}, {"fact"}, {"fact", "task"}} {
		if got := ListOf[memory.Type](Of(list)); !slices.Equal(got, list) {
			t.Errorf("%v became %v", list, got)
		}
	}
	if got := ListOf[memory.Type]("none"); len(got) > 0 {
		t.Errorf("none became %v", got)
	}
}
