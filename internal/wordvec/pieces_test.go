package wordvec

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"hippocampus/internal/wordpiece"
)

func piecesOf(text string) (numbers []int32) {
	var s wordpiece.Splitter
	for s.Reset(text); s.Scan(); {
		numbers = loadTable().AppendWord(numbers, &s)
	}
	return numbers
}

// The golden pieces come from the tokenizers library (see scripts/distill).
func TestPieces_EqualThoseOfModel(t *testing.T) {
	t.Parallel()
	encoded, err := os.ReadFile("testdata/pieces.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden []struct {
		Text   string
		Pieces []int32
	}
	if err := json.Unmarshal(encoded, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden) < 30 {
		t.Fatalf("%d golden texts, want at least 30", len(golden))
	}
	for _, g := range golden {
		if got := piecesOf(g.Text); !slices.Equal(got, g.Pieces) {
			t.Errorf("pieces of %q = %v, want %v", g.Text, got, g.Pieces)
		}
	}
}

func FuzzPieces(f *testing.F) {
	for _, seed := range []string{"", "Zoë isn't kayaking.", "a\xffb\u0301", "뷁上", "\u1fef"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, number := range piecesOf(text) {
			if number < 0 || int(number) >= len(loadTable().scales) {
				t.Fatalf("%q has piece %d", text, number)
			}
		}
	})
}
