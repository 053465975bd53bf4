package quality

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMisses_CountWhereEvidenceIsLost(t *testing.T) {
	t.Parallel()
	var list []ranked
	turns := map[string]string{}
	for i := range 30 {
		id := fmt.Sprint(i)
		turns[id] = id
		r := ranked{recalled: recalled{SourceTurnID: id}, Score: float64(30 - i)}
		r.Parts = map[string]float64{"similarity": r.Score - 1, "lexical": 1}
		list = append(list, r)
	}
	list[12].Parts["similarity"] = 40               // by content it would be first
	list[25].Parts["neighbour"] = -20               // without this it would be first
	list[3].Score, list[3].Parts["decay"] = 27, -10 // is found, and stays so
	row := MissesRow{Stages: map[Stage]int{}}
	row.add(list, turns, []string{"0", "3", "9", "11", "12", "25", "29", "none"})
	want := MissesRow{
		Evidence: 8, Content: 1, Neighbour: 1,
		Stages: map[Stage]int{Found: 3, Displaced: 2, Near: 1, Low: 1, Absent: 1},
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}
}
