package rowcodec

import (
	"math"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "hippocampus/internal/rapidtest" // sets its flags
)

func TestVector_InvertsVectorBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.Float32()).Draw(t, "vector")
		got := Vector(VectorBytes(want))
		if len(got) != len(want) {
			t.Fatalf("got %d numbers, want %d", len(got), len(want))
		}
		for i := range want {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("number %d: got %v, want %v", i, got[i], want[i])
			}
		}
	})
}

func TestVectorBytes_AreLittleEndian(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}, VectorBytes([]float32{1, -2})); diff != "" {
		t.Error(diff)
	}
}

func TestStorable_ReplacesWhatNoColumnHolds(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":               "",
		"茶 🍵 it's":       "茶 🍵 it's",
		"a\x00b":         "a\uFFFDb",
		"cut \xe8\x8c":   "cut \uFFFD",
		"\x00\xff\x00ok": "\uFFFD\uFFFD\uFFFDok",
	} {
		if got := Storable(in); got != want || !utf8.ValidString(got) {
			t.Errorf("Storable(%q) = %q, want %q", in, got, want)
		}
	}
}
