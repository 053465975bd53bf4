package calibration

import (
	"context"
	"errors"
	"math"
	"testing"

	"go.uber.org/zap/zaptest"

	"hippocampus/internal/bilingual"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/wordvec"
	"hippocampus/tests/apptest"
)

var errDown = errors.New("down")

func TestService_MeasuresASpaceOnceForAllReplicas(t *testing.T) {
	t.Parallel()
	store := apptest.SQLite(t)
	log := zaptest.NewLogger(t)
	first, other := apptest.HashedEmbedder(64), apptest.HashedEmbedder(64)
	space := llm.SpaceOf(first)
	s := New(store, first, log)
	if c := s.Of(space); c != (memory.Calibration{}) {
		t.Fatalf("an unknown space has the calibration %+v", c)
	}
	first.FailWith(errDown)
	if err := s.Calibrate(t.Context()); !errors.Is(err, errDown) {
		t.Fatalf("without an embedder: %v", err)
	}
	first.FailWith(nil)
	if err := s.Calibrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := s.Of(space)
	for language, r := range map[string]memory.SimilarityRange{"English": c.English, "Chinese": c.Chinese} {
		if r.Unrelated < -1 || r.Floor < -1 || r.Floor > r.Related || r.Related < r.Unrelated+0.05 || r.Related > 1 {
			t.Errorf("%s: %+v", language, r)
		}
	}

	other.FailWith(errDown) // the second replica reads what the first has measured
	replica := New(store, other, log)
	if err := replica.Calibrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := replica.Of(space); got != c {
		t.Errorf("the second replica has %+v, the first %+v", got, c)
	}
}

func TestService_ShipsTheBuiltInCalibrations(t *testing.T) {
	t.Parallel()
	for _, embedder := range []llm.Embedder{bilingual.New(), wordvec.New()} {
		s := New(nil, embedder, zaptest.NewLogger(t)) // without a database
		if err := s.Calibrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		c := s.Of(llm.SpaceOf(embedder))
		measured, err := Measure(t.Context(), embedder)
		if err != nil {
			t.Fatal(err)
		}
		for language, r := range map[string][2]memory.SimilarityRange{
			"English": {c.English, measured.English}, "Chinese": {c.Chinese, measured.Chinese},
		} {
			if math.Abs(r[0].Unrelated-r[1].Unrelated) > 0.01 || math.Abs(r[0].Floor-r[1].Floor) > 0.01 ||
				r[0].Related <= r[0].Unrelated {
				t.Errorf("%s of %s: shipped %+v, measured %+v", language, embedder.Model(), r[0], r[1])
			}
		}
	}
}

// oneVector embeds every text as the same vector.
type oneVector struct{ llm.Embedder }

func (oneVector) Embed(_ context.Context, _ llm.Use, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = []float32{1, 0}
	}
	return vectors, nil
}

func TestMeasure_BoundsTheRangeOfAModelThatSeparatesNothing(t *testing.T) {
	t.Parallel()
	c, err := Measure(t.Context(), oneVector{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (memory.SimilarityRange{Unrelated: 1, Related: 1.05, Floor: 1}); c.English != want || c.Chinese != want {
		t.Errorf("got %+v, want %+v for both languages", c, want)
	}
}
