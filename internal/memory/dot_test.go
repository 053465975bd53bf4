package memory

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDot_MatchesFloat64Sum(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		a := make([]float32, n)
		b := make([]float32, n)
		want := 0.0
		for i := range a {
			a[i], b[i] = r.Float32()-0.5, r.Float32()-0.5
			want += float64(a[i]) * float64(b[i])
		}
		if got := float64(Dot(a, b)); math.Abs(got-want) > 1e-6 {
			t.Errorf("dimension %d: %g, want %g", n, got, want)
		}
	}
}

func BenchmarkDot(b *testing.B) {
	x, y := make([]float32, 512), make([]float32, 512)
	for b.Loop() {
		Dot(x, y)
	}
}
