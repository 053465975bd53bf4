package related

import (
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hippocampus/internal/memory"
)

// By hand: strengths .9, .5/2, .6*1/3 and .8*.5; 1 - .1*.75*.8*.6 = .964.
func TestReasons_MatchAHandComputedExample(t *testing.T) {
	t.Parallel()
	m := memory.Memory{ID: "m", Tags: []string{"tea", "green"}}
	other := memory.Memory{ID: "o", Tags: []string{"black", "tea"}}
	stated := memory.Relation{From: "o", To: "m", Kind: memory.Supports}
	e := evidence{related: map[string][]memory.Relation{"o": {stated}}, distance: map[string]int{"o": 2}}
	want := []Reason{
		{Why: ByRelation, Strength: 0.9, Relation: stated}, {Why: ByConversation, Strength: 0.25, Distance: 2},
		{Why: ByTags, Strength: 0.2, Tags: []string{"tea"}}, {Why: BySimilarity, Strength: 0.4, Cosine: 0.5},
	}
	got := e.reasons(m, other, 0.5)
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := score(got); math.Abs(s-0.964) > 1e-12 {
		t.Errorf("score %v, want 0.964", s)
	}
	if s := score(nil); s != 0 {
		t.Errorf("no reason gives %v", s)
	}
	if got := (evidence{}).reasons(m, memory.Memory{ID: "x"}, -0.2); got != nil {
		t.Errorf("a stranger: %+v", got)
	}
}

func TestCommon_ReturnsSharedTags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b, shared []string
		part         float64
	}{
		{nil, nil, nil, 0},
		{[]string{"a"}, nil, nil, 0},
		{[]string{"a"}, []string{"a"}, []string{"a"}, 1},
		{[]string{"b", "a", "a"}, []string{"a", "b", "c", "d"}, []string{"b", "a"}, 0.5},
	} {
		if shared, part := common(c.a, c.b); !reflect.DeepEqual(shared, c.shared) || part != c.part {
			t.Errorf("%q and %q: %q, %v", c.a, c.b, shared, part)
		}
	}
}
