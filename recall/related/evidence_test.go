package related

import (
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hippocampus/internal/memory"
)

// Strengths 0.9, 0.5/2, 0.6*1/3 and 0.8*0.5; score 1 - 0.1*0.75*0.8*0.6 = 0.964.
func TestReasons_MatchAHandComputedExample(t *testing.T) {
	t.Parallel()
	m := memory.Memory{ID: "m", Tags: []string{"tea", "green"}}
	other := memory.Memory{ID: "o", Tags: []string{"black", "tea"}}
	stated := memory.Relation{From: "o", To: "m", Kind: memory.Supports}
	e := evidence{relations: map[string][]memory.Relation{"o": {stated}}, distances: map[string]int{"o": 2}}
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
		t.Errorf("no reason gives the score %v", s)
	}
	if got := (evidence{}).reasons(m, memory.Memory{ID: "x"}, -0.2); got != nil {
		t.Errorf("an unrelated memory: %+v", got)
	}
}

func TestCommon_ReturnsSharedTags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b, shared []string
		share        float64
	}{
		{nil, nil, nil, 0},
		{[]string{"a"}, nil, nil, 0},
		{[]string{"a"}, []string{"a"}, []string{"a"}, 1},
		{[]string{"b", "a", "a"}, []string{"a", "b", "c", "d"}, []string{"b", "a"}, 0.5},
	} {
		if shared, share := common(c.a, c.b); !reflect.DeepEqual(shared, c.shared) || share != c.share {
			t.Errorf("%q and %q: %q, %v", c.a, c.b, shared, share)
		}
	}
}
