package bert

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// golden is a text with its pieces and its embedding by onnxruntime: see scripts/transformer.
type golden struct {
	Text   string
	Pieces []string
	Vector []float32 // unit length, before the projection
}

func goldens(t *testing.T) (list []golden) {
	t.Helper()
	encoded, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(encoded, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 20 {
		t.Fatalf("%d golden texts, want at least 20", len(list))
	}
	return list
}

func cosine(a, b []float32) float64 {
	var product, squareA, squareB float64
	for i := range a {
		product += float64(a[i]) * float64(b[i])
		squareA += float64(a[i]) * float64(a[i])
		squareB += float64(b[i]) * float64(b[i])
	}
	return product / math.Sqrt(squareA*squareB)
}

func TestModel_EqualsOnnxruntime(t *testing.T) {
	t.Parallel()
	m := Load()
	names := strings.Split(vocabularyText, "\n")
	for _, g := range goldens(t) {
		var s scratch
		s.read(m.vocabulary, g.Text)
		var pieces []string
		for _, piece := range s.pieces {
			pieces = append(pieces, names[piece])
		}
		if !slices.Equal(pieces, g.Pieces) {
			t.Errorf("pieces of %.30q = %q, want %q", g.Text, pieces, g.Pieces)
			continue
		}
		first, err := m.run(t.Context(), &s)
		if err != nil {
			t.Fatal(err)
		}
		if c := cosine(first, g.Vector); c < 0.99 {
			t.Errorf("%.30q has the cosine %.4f with onnxruntime's vector, want at least 0.99", g.Text, c)
		} else {
			t.Logf("%.4f %.30q", c, g.Text)
		}
	}
}

func TestModel_ReturnsTheSameBitsWithoutAssembly(t *testing.T) {
	t.Parallel()
	fast, plain := Load(), newModel(portable())
	for _, text := range []string{"", "我", "我在成都一家游戏公司写引擎。", strings.Repeat("长", 30)} {
		a, b := make([]float32, Dim), make([]float32, Dim)
		if err := errors.Join(fast.Embed(t.Context(), text, a), plain.Embed(t.Context(), text, b)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a, b) {
			t.Errorf("%q has two vectors", text)
		}
	}
}

func TestModel_EmbedsAfterALongerText(t *testing.T) {
	t.Parallel()
	m := Load()
	s := &scratch{}
	var vectors [3][]float32
	for i, text := range []string{"茶", strings.Repeat("一段很长的话，", 100), "茶"} {
		s.read(m.vocabulary, text)
		if len(s.pieces) > MaxPieces {
			t.Errorf("%d pieces, want at most %d", len(s.pieces), MaxPieces)
		}
		first, err := m.run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		vectors[i] = slices.Clone(first)
	}
	if !slices.Equal(vectors[0], vectors[2]) {
		t.Error("a text has another vector after a longer one")
	}
}

func TestModel_StopsBetweenLayers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Load().Embed(ctx, "茶", make([]float32, Dim)); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is done: %v", err)
	}
}

func TestWeights_FillTheFile(t *testing.T) {
	t.Parallel()
	pieces := strings.Count(vocabularyText, "\n")
	perLayer := 4*hidden*hidden + 2*hidden*inner + 3*4*(5*hidden+inner) + 4*4*hidden
	want := pieces*hidden + MaxPieces*hidden + 4*(2+3*hidden) + layers*perLayer + 4*(hidden+Dim*hidden)
	if len(weightsBytes) != want {
		t.Errorf("weights.bin has %d bytes, the model needs %d: run scripts/transformer", len(weightsBytes), want)
	}
}

func benchmark(b *testing.B, m *Model, text string) {
	b.Helper()
	b.ReportAllocs()
	vector := make([]float32, Dim)
	for b.Loop() {
		if err := m.Embed(b.Context(), text, vector); err != nil {
			b.Fatal(err)
		}
	}
}

const (
	statement = "我在成都一家游戏公司写引擎，主要用脚本。" // 20 characters
	question  = "上班时敲的是哪类代码？"
)

func BenchmarkEmbed_Statement(b *testing.B) { benchmark(b, Load(), statement) }
func BenchmarkEmbed_Question(b *testing.B)  { benchmark(b, Load(), question) }
func BenchmarkEmbed_Longest(b *testing.B)   { benchmark(b, Load(), strings.Repeat("长", MaxPieces)) }
func BenchmarkEmbed_Portable(b *testing.B)  { benchmark(b, newModel(portable()), statement) }
